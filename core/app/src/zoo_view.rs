//! The zoo as `zoo` and `/api/zoo` list it.

use serde::Serialize;
use tilewright_zoo::{Entry, Publication, Span, ZooError};

/// A network, for people and scripts.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ZooView {
    /// What stands behind `zoo:`.
    pub name: String,
    /// Networks of one family stand together.
    pub family: String,
    /// What it is, in a few words.
    pub about: String,
    /// Parameters, batch normalisation folded.
    pub parameters: u64,
    /// Multiply-accumulates.
    pub macs: u64,
    /// Operators.
    pub operators: usize,
    /// Shape of the input: NHWC, or a vector behind a batch of 1.
    pub input: Vec<usize>,
    /// Widths that can be chosen, as `-w0.35` behind the name.
    pub width: Option<Slider>,
    /// Heights and widths of the input in pixels that can be chosen, as `-r96` behind the name.
    pub resolution: Option<Slider>,
    /// What publications say, with ours beside it.
    pub publications: Vec<PublicationView>,
}

/// Sizes that can be chosen; between steps too.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Slider {
    /// The smallest.
    pub least: f64,
    /// The largest.
    pub most: f64,
    /// A sensible step.
    pub step: f64,
    /// Where the name has none.
    pub default: f64,
}

/// What a publication says of a size of a network.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PublicationView {
    /// The size.
    pub name: String,
    /// Published parameters.
    pub parameters: Option<u64>,
    /// Ours, counted in the same way: with what folding batch normalisation has taken away.
    pub our_parameters: u64,
    /// Published multiply-accumulates.
    pub macs: Option<u64>,
    /// Ours.
    pub our_macs: u64,
    /// Where it stands.
    pub source: String,
    /// Why ours is more than 0.5 % away, if it is.
    pub difference: Option<String>,
}

impl ZooView {
    /// All networks, by family.
    ///
    /// # Errors
    /// If one cannot be built, which is a fault of ours.
    pub fn all() -> Result<Vec<Self>, ZooError> {
        tilewright_zoo::entries().iter().map(Self::of).collect()
    }

    fn of(entry: &Entry) -> Result<Self, ZooError> {
        let network = tilewright_zoo::network(entry.name)?;
        let model = network.float();
        let input = model.inputs.first().map(|id| model.tensor(*id).shape.dims().to_vec());
        let pixels = |span: Span<usize>| Slider {
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
        Ok(Self {
            name: entry.name.to_owned(),
            family: entry.family.to_owned(),
            about: entry.about.to_owned(),
            parameters: model.parameters(),
            macs: network.macs(),
            operators: model.nodes.len(),
            input: input.unwrap_or_default(),
            width: entry.width.map(width),
            resolution: entry.resolution.map(pixels),
            publications: entry.publications.iter().map(published).collect::<Result<_, _>>()?,
        })
    }
}
