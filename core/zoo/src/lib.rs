//! The field's networks, built by code.
//!
//! A network is a description of some dozen lines; its graph is float, NHWC, batch 1, with batch
//! normalisation folded and activations fused, as an import would leave it. Weights come from seeds
//! ([`tilewright_model::Seeded`]), so that nothing large is held until somebody asks for values:
//! planning never does. They are not trained: outputs mean nothing, but they vary like a trained
//! network's. The int8 form has analytic scales, from each layer's statistics instead of samples.
//!
//! Names carry width and resolution where the family has them: `mobilenet-v2-w0.35-r96`. The same
//! name gives the same bytes everywhere.

mod catalogue;
pub mod cells;
mod name;
mod net;
mod networks;
mod statistics;

use thiserror::Error;
use tilewright_model::Model;
use tilewright_model::prune::{PruneError, Pruning, prune};
use tilewright_model::quantise::{self, QuantiseError};

use cells::Genotype;

pub use catalogue::{Entry, Publication, Span, StackSpans};
pub use name::Parameters;
pub use networks::cells::{Applied, Stack};

/// Why there is no such network.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ZooError {
    /// Nothing has this name.
    #[error("there is no network '{name}'{}", suggestions(nearest))]
    Unknown {
        /// The name.
        name: String,
        /// Names that are like it, the most alike first.
        nearest: Vec<&'static str>,
    },
    /// The network does not come in several sizes of this kind.
    #[error("'{network}' has no {parameter} to choose")]
    NoParameter {
        /// The network.
        network: &'static str,
        /// Width or resolution.
        parameter: &'static str,
    },
    /// A width or resolution is too small or too large.
    #[error("a {parameter} of {given} is impossible: '{network}' takes {range}")]
    OutOfRange {
        /// The network.
        network: &'static str,
        /// Width or resolution.
        parameter: &'static str,
        /// What was given.
        given: String,
        /// What is possible.
        range: String,
    },
    /// The network cannot be built in this size.
    #[error("'{name}' cannot be built: {reason}")]
    Impossible {
        /// The name.
        name: String,
        /// What does not fit.
        reason: String,
    },
    /// The network has no int8 form.
    #[error("'{name}' has no int8 form: {error}")]
    Quantise {
        /// The name.
        name: String,
        /// Why.
        #[source]
        error: QuantiseError,
    },
}

fn suggestions(nearest: &[&str]) -> String {
    match nearest {
        [] => String::new(),
        [one] => format!("; the nearest is {one}"),
        several => format!("; the nearest are {}", several.join(", ")),
    }
}

/// All networks, by family, then by size.
#[must_use]
pub fn entries() -> &'static [Entry] {
    catalogue::ENTRIES
}

/// A network of the zoo in one size.
#[derive(Clone, Debug)]
pub struct Network {
    /// The entry.
    pub entry: &'static Entry,
    /// Width and resolution, or the size of its stack of cells.
    pub parameters: Parameters,
    /// The name, without parameters that are as usual.
    pub name: String,
    built: net::Built,
}

/// The one spelling of a network's name: without parameters that are as usual. Nothing is built.
///
/// # Errors
/// If there is no such network, or not in this size.
pub fn canonical(name: &str) -> Result<String, ZooError> {
    let (entry, parameters) = name::parse(name)?;
    Ok(name::canonical(entry, &parameters))
}

/// Builds the network of this name; weights are not made.
///
/// # Errors
/// If there is no such network, or not in this size.
pub fn network(name: &str) -> Result<Network, ZooError> {
    let (entry, parameters) = name::parse(name)?;
    let name = name::canonical(entry, &parameters);
    finished(entry, parameters, name, (entry.build)(&parameters))
}

/// A network that was built, verified.
fn finished(
    entry: &'static Entry,
    parameters: Parameters,
    name: String,
    built: Result<net::Built, String>,
) -> Result<Network, ZooError> {
    let impossible = |reason: String| ZooError::Impossible { name: name.clone(), reason };
    let mut built = built.map_err(impossible)?;
    built.model.name.clone_from(&name);
    built.model.verify().map_err(|error| impossible(error.to_string()))?;
    Ok(Network { entry, parameters, name, built })
}

/// Builds a network stacked from a genotype's cells; weights are not made. Its name tells its size, not its cells.
///
/// # Errors
/// If the stack's size is impossible, or a step of the genotype connects nothing.
pub fn of_genotype(genotype: &Genotype, stack: &Stack) -> Result<Network, ZooError> {
    let Stack { cells, channels, resolution, .. } = *stack;
    let name = format!("cells-r{resolution}-c{channels}-n{cells}");
    let built = networks::cells::of_genotype(genotype, stack);
    let parameters = Parameters { width: 1.0, resolution, channels, cells };
    finished(catalogue::OF_GENOTYPE, parameters, name, built)
}

/// Builds a network of one operation of a cell, whose input is a picture of as many channels; nothing for an operation
/// that computes nothing. Its name tells the operation and its size.
///
/// # Errors
/// If the size is impossible: the number of channels must be even.
pub fn of_operation(applied: Applied) -> Result<Option<Network>, ZooError> {
    let Applied { operation, side, channels, halves } = applied;
    let stride = if halves { "-s2" } else { "" };
    let name = format!("{}-r{side}-c{channels}{stride}", operation.name());
    let parameters = Parameters { width: 1.0, resolution: side, channels, cells: 1 };
    let built = networks::cells::of_operation(applied).transpose();
    built.map(|built| finished(catalogue::OF_GENOTYPE, parameters, name, built)).transpose()
}

impl Network {
    /// The name of this network with another width and resolution; those that it does not have stay out.
    #[must_use]
    pub fn name_in(&self, width: f64, resolution: usize) -> String {
        name::canonical(self.entry, &Parameters { width, resolution, ..self.parameters })
    }

    /// The float model.
    #[must_use]
    pub const fn float(&self) -> &Model {
        &self.built.model
    }

    /// The int8 model with analytic scales. Each activation's range covers its layer's statistics
    /// under random weights (see the module `statistics`); the constraints between ranges are the
    /// quantiser's.
    ///
    /// # Errors
    /// If an operator has no int8 form.
    pub fn int8(&self) -> Result<Model, ZooError> {
        self.int8_of(&self.built.model)
    }

    /// The same of the network's float model with other weights.
    ///
    /// # Errors
    /// As [`Self::int8`].
    pub fn int8_of(&self, float: &Model) -> Result<Model, ZooError> {
        quantise::quantise_with(float, &self.built.ranges)
            .map_err(|error| ZooError::Quantise { name: self.name.clone(), error })
    }

    /// The same of the network with its smallest weights at zero.
    ///
    /// # Errors
    /// As [`Self::int8`]; or if it has no weights to prune.
    pub fn pruned(&self, pruning: &Pruning) -> Result<Model, ZooError> {
        let impossible = |error: PruneError| ZooError::Impossible {
            name: self.name.clone(),
            reason: error.to_string(),
        };
        let (model, _) = prune(&self.built.model, pruning).map_err(impossible)?;
        self.int8_of(&model)
    }

    /// Multiply-accumulates as publications count them: those of convolutions and fully connected
    /// layers, padding included.
    #[must_use]
    pub fn macs(&self) -> u64 {
        let model = &self.built.model;
        let all: u64 = model.nodes.iter().map(|node| model.macs(node)).sum();
        all - self.built.scaling_macs
    }

    /// Parameters of the folded network.
    #[must_use]
    pub fn parameters_of_model(&self) -> u64 {
        self.built.model.parameters()
    }

    /// Parameters as a publication counts them, which may count more for each batch normalisation
    /// than the one bias that folding leaves.
    #[must_use]
    pub fn parameters_as(&self, publication: &Publication) -> u64 {
        self.parameters_of_model() + publication.normalisation * self.built.normalised
    }
}

#[cfg(test)]
mod tests;
