//! Networks of the zoo instead of files.

use tilewright_model::Model;
use tilewright_report::sentence;
use tilewright_zoo::cells::{Genotype, GenotypeError};
use tilewright_zoo::{Entry, Publication, Span, ZooError};

pub use tilewright_zoo::{Network, Stack};

use crate::bounds::Bounds;
use crate::host::Host;
use crate::progress::Stage;
use crate::quantise::{Prepared, Samples, as_it_is};
use tilewright_report::{Blame, Diagnostic, PublicationView, Slider, ZooSize, ZooView};

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

/// The network stacked from the cells of a genotype in DARTS' notation, which stands at `place`.
///
/// # Errors
/// [`Blame::BadInput`] if the text is no genotype, or the stack's size is impossible.
pub fn stacked(genotype: &str, stack: &Stack, place: &str) -> Result<Network, Diagnostic> {
    let wrong = |what: String, what_to_do: &str| {
        Diagnostic::new(Blame::BadInput, sentence(&what), place.to_owned(), what_to_do)
    };
    let genotype: Genotype = genotype.parse().map_err(|error: GenotypeError| {
        wrong(error.to_string(), "Give Genotype(normal=[('sep_conv_3x3', 0), …], reduce=[…]).")
    })?;
    tilewright_zoo::of_genotype(&genotype, stack)
        .map_err(|error| wrong(error.to_string(), "Give another size or genotype."))
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

/// All networks in their usual sizes, by family.
///
/// # Errors
/// If one cannot be built, which is a fault of ours.
pub fn list() -> Result<Vec<ZooView>, Diagnostic> {
    let views = tilewright_zoo::entries().iter().map(view).collect::<Result<_, _>>();
    views.map_err(|error| Diagnostic::ours(sentence(&error.to_string()), "zoo"))
}

fn view(entry: &Entry) -> Result<ZooView, ZooError> {
    let network = tilewright_zoo::network(entry.name)?;
    let model = network.float();
    let input = model.inputs.first().map(|id| model.tensor(*id).shape.dims().to_vec());
    let whole = |span: Span<usize>| Slider {
        least: span.least as f64,
        most: span.most as f64,
        step: span.step as f64,
        default: span.default as f64,
    };
    let width = |span: Span<f64>| Slider {
        least: span.least,
        most: span.most,
        step: span.step,
        default: span.default,
    };
    let published = |publication: &Publication| -> Result<PublicationView, ZooError> {
        let network = tilewright_zoo::network(publication.name)?;
        Ok(PublicationView {
            name: publication.name.to_owned(),
            parameters: publication.parameters,
            our_parameters: network.parameters_as(publication),
            macs: publication.macs,
            our_macs: network.macs(),
            source: publication.source.to_owned(),
            difference: publication.difference.map(str::to_owned),
        })
    };
    Ok(ZooView {
        name: entry.name.to_owned(),
        family: entry.family.to_owned(),
        about: entry.about.to_owned(),
        parameters: model.parameters(),
        macs: network.macs(),
        operators: model.nodes.len(),
        input: input.unwrap_or_default(),
        width: entry.width.map(width),
        resolution: entry.resolution.map(whole),
        channels: entry.stack.map(|stack| whole(stack.channels)),
        cells: entry.stack.map(|stack| whole(stack.cells)),
        publications: entry.publications.iter().map(published).collect::<Result<_, _>>()?,
    })
}

/// What a network needs in one size.
///
/// # Errors
/// As [`network`].
pub fn size(name: &str) -> Result<ZooSize, Diagnostic> {
    let network = network(name)?;
    let model = network.float();
    let input = model.inputs.first().map(|id| model.tensor(*id).shape.dims().to_vec());
    let made = model.nodes.iter().flat_map(|node| &node.outputs);
    let largest = made.filter_map(|id| model.tensor(*id).shape.elements()).max();
    Ok(ZooSize {
        input: input.unwrap_or_default(),
        operators: model.nodes.len(),
        parameters: network.parameters_of_model(),
        macs: network.macs(),
        weight_bytes: model.summary().int8_weight_bytes,
        largest_bytes: largest.unwrap_or(0) as u64,
        name: network.name,
    })
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
