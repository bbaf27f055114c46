//! Networks of the zoo instead of files.

use tilewright_model::Model;
use tilewright_report::sentence;
use tilewright_zoo::ZooError;

pub use tilewright_zoo::Network;

use crate::bounds::Bounds;
use crate::host::Host;
use crate::progress::Stage;
use crate::quantise::{Prepared, Samples, as_it_is};
use tilewright_report::{Blame, Diagnostic};

/// What a name of the zoo begins with where a file's could stand.
pub const PREFIX: &str = "zoo:";

/// The network of this name, given with or without [`PREFIX`]. Its weights are not made.
///
/// # Errors
/// [`Blame::BadInput`] with the nearest names, or the sizes that are possible.
pub fn network(name: &str) -> Result<Network, Diagnostic> {
    let name = name.strip_prefix(PREFIX).unwrap_or(name);
    tilewright_zoo::network(name).map_err(|error| problem(name, &error))
}

/// The int8 form with analytic scales, and a made-up input.
///
/// # Errors
/// [`Blame::BadInput`] if an operator has no int8 form; [`Blame::TooLarge`] beyond `bounds`.
pub fn analytic(
    network: &Network,
    bounds: &Bounds,
    host: &dyn Host,
) -> Result<Prepared, Diagnostic> {
    let model = int8_of(network, network.float(), bounds, host)?;
    let samples = "analytic scales, weights from a seed: its answers mean nothing".to_owned();
    Ok(Prepared { samples, ..as_it_is(model, Samples::Random)? })
}

/// The int8 form with analytic scales of `float`: the network's float model, or one pruned from it.
///
/// # Errors
/// As [`analytic`].
pub fn int8_of(
    network: &Network,
    float: &Model,
    bounds: &Bounds,
    host: &dyn Host,
) -> Result<Model, Diagnostic> {
    host.begin(Stage::Quantising)?;
    bounds.admit(float, 1)?;
    network.int8_of(float).map_err(|error| problem(&network.name, &error))
}

fn problem(name: &str, error: &ZooError) -> Diagnostic {
    let what_to_do = match error {
        ZooError::Unknown { .. } => {
            "Choose one of the zoo: `tilewright zoo` and the page list them."
        }
        ZooError::NoParameter { .. } => "Leave it out.",
        ZooError::OutOfRange { .. } | ZooError::Impossible { .. } => "Give another size.",
        ZooError::Quantise { .. } => "Give --samples to quantise it on.",
    };
    let text = sentence(&error.to_string());
    Diagnostic::new(Blame::BadInput, text, format!("{PREFIX}{name}"), what_to_do)
}
