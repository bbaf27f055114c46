//! The zoo, as the page lists it.

use tilewright_app::zoo::network;
use tilewright_zoo::{Entry, Network, Publication, Span};

use super::graph::shape;
use super::plan::ours;
use crate::message::{ZooEntry, ZooPublication, ZooSize, ZooSpan};
use tilewright_report::Diagnostic;

/// What is known of a network's origin.
#[must_use]
pub fn note(network: &Network) -> String {
    let sources: Vec<&str> = network.entry.publications.iter().map(|p| p.source).collect();
    let published = match sources.first() {
        Some(source) => format!("after {source}"),
        None => "no publication states its figures".to_owned(),
    };
    format!("{}; {published}. Weights come from a seed: answers mean nothing.", network.entry.about)
}

/// All networks in their usual sizes.
///
/// # Errors
/// If one cannot be built, which is a fault of ours.
pub fn entries() -> Result<Vec<ZooEntry>, Diagnostic> {
    tilewright_zoo::entries().iter().map(entry).collect()
}

fn entry(entry: &Entry) -> Result<ZooEntry, Diagnostic> {
    let network = tilewright_zoo::network(entry.name).map_err(|error| ours("zoo", &error))?;
    let pixels = |span: Span<usize>| ZooSpan {
        least: span.least as f64,
        most: span.most as f64,
        step: span.step as f64,
        default: span.default as f64,
    };
    let width = |span: Span<f64>| ZooSpan {
        least: span.least,
        most: span.most,
        step: span.step,
        default: span.default,
    };
    Ok(ZooEntry {
        name: entry.name.to_owned(),
        family: entry.family.to_owned(),
        about: entry.about.to_owned(),
        parameters: network.parameters_of_model(),
        macs: network.macs(),
        width: entry.width.map(width),
        resolution: entry.resolution.map(pixels),
        is_published: !entry.publications.is_empty(),
    })
}

/// What a network needs in one size, and what publications say of its sizes.
///
/// # Errors
/// If there is no such network, or not in this size.
pub fn size(name: &str) -> Result<ZooSize, Diagnostic> {
    let network = network(name)?;
    let model = network.float();
    let input = model.inputs.first().map(|id| shape(&model.tensor(*id).shape));
    let largest = model.nodes.iter().flat_map(|node| &node.outputs);
    let largest = largest.filter_map(|id| model.tensor(*id).shape.elements()).max();
    let publications = network.entry.publications.iter().map(published);
    Ok(ZooSize {
        name: network.name.clone(),
        input: input.unwrap_or_default(),
        operators: u32::try_from(model.nodes.len()).unwrap_or(u32::MAX),
        parameters: network.parameters_of_model(),
        macs: network.macs(),
        weight_bytes: model.summary().int8_weight_bytes,
        largest_bytes: largest.unwrap_or(0) as u64,
        publications: publications.collect::<Result<_, _>>()?,
    })
}

fn published(publication: &Publication) -> Result<ZooPublication, Diagnostic> {
    let network = tilewright_zoo::network(publication.name).map_err(|error| ours("zoo", &error))?;
    let own_parameters = network.parameters_as(publication);
    Ok(ZooPublication {
        name: publication.name.to_owned(),
        parameters: publication.parameters.map(|stated| [stated, own_parameters]),
        macs: publication.macs.map(|stated| [stated, network.macs()]),
        source: publication.source.to_owned(),
        difference: publication.difference.unwrap_or_default().to_owned(),
    })
}
