//! Networks of the zoo instead of files.

use tilewright_formats::ModelFile;
use tilewright_model::Model;
use tilewright_report::sentence;
use tilewright_zoo::cells::{self, Stacked, StackedError};
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

/// Whether a model's file is a text of cells by its name's ending: `.txt`.
#[must_use]
pub fn is_cells(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, ending)| ending.eq_ignore_ascii_case("txt"))
}

/// Cells in DARTS' notation and how they are stacked, of the text of a file that stands at `place`.
///
/// # Errors
/// [`Blame::BadInput`] if the text holds no cells.
pub fn cells(text: &[u8], place: &str) -> Result<Stacked, Diagnostic> {
    let wrong = |what: String| {
        let what_to_do = "Give Genotype(normal=[('sep_conv_3x3', 0), …], reduce=[…]), with lines as \
                          'cells 8', 'channels 16' and 'resolution 32' if you like.";
        Diagnostic::new(Blame::BadInput, sentence(&what), place.to_owned(), what_to_do)
    };
    let text =
        str::from_utf8(text).map_err(|_| wrong("the genotype is no UTF-8 text".to_owned()))?;
    text.parse().map_err(|error: StackedError| wrong(error.to_string()))
}

/// The network stacked from these cells, which stand at `place`.
///
/// # Errors
/// [`Blame::BadInput`] if the stack's size is impossible, or a step connects nothing.
pub fn stacked(stacked: &Stacked, place: &str) -> Result<Network, Diagnostic> {
    tilewright_zoo::of_genotype(&stacked.genotype, &stacked.stack).map_err(|error| {
        let what = sentence(&error.to_string());
        let what_to_do = "Give another size or genotype.";
        Diagnostic::new(Blame::BadInput, what, place.to_owned(), what_to_do)
    })
}

/// The network of a model's file that is a text of cells; nothing if it is another file.
///
/// # Errors
/// As [`cells`] and [`stacked`].
pub fn of_file(file: &ModelFile<'_>) -> Result<Option<Network>, Diagnostic> {
    if !is_cells(file.name) {
        return Ok(None);
    }
    // One byte more than is read as a genotype, so that a longer text is told from it.
    let most = file.bytes.size().min(cells::MOST_BYTES as u64 + 1);
    let text =
        file.bytes.read(0, usize::try_from(most).unwrap_or(usize::MAX)).ok_or_else(|| {
            let what = "The file cannot be read any more.";
            Diagnostic::new(Blame::BadInput, what, file.name.to_owned(), "Give it again.")
        })?;
    stacked(&self::cells(&text, file.name)?, file.name).map(Some)
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
    network(name).map(|network| size_of(&network))
}

/// The same of a network that is there.
#[must_use]
pub fn size_of(network: &Network) -> ZooSize {
    let model = network.float();
    let input = model.inputs.first().map(|id| model.tensor(*id).shape.dims().to_vec());
    let made = model.nodes.iter().flat_map(|node| &node.outputs);
    let largest = made.filter_map(|id| model.tensor(*id).shape.elements()).max();
    ZooSize {
        input: input.unwrap_or_default(),
        operators: model.nodes.len(),
        parameters: network.parameters_of_model(),
        macs: network.macs(),
        weight_bytes: model.summary().int8_weight_bytes,
        largest_bytes: largest.unwrap_or(0) as u64,
        name: network.name.clone(),
    }
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::host::Silent;
    use tilewright_zoo::cells::published::Published;

    fn opened(name: &str, text: &str) -> Result<Option<Network>, Diagnostic> {
        of_file(&ModelFile::alone(name, Arc::new(text.as_bytes().to_vec())))
    }

    #[test]
    fn a_text_of_cells_is_a_model_file() {
        let text = format!("cells 3\nchannels 4\n{}", Published::Darts.text());
        let network = opened("My.TXT", &text).unwrap().unwrap();
        assert_eq!(network.name, "cells-r32-c4-n3");
        assert!(
            analytic(&network, &Bounds::default(), &Silent::default()).unwrap().model.is_int8()
        );
        let file = ModelFile::alone("my.txt", Arc::new(text.into_bytes()));
        let model = crate::import(&file, &[], &Silent::default()).unwrap();
        assert_eq!(&model, network.float());
        assert!(opened("net.onnx", "").unwrap().is_none());
    }

    #[test]
    fn another_text_is_refused_in_clear_words() {
        let said = opened("notes.txt", "Dear diary").unwrap_err();
        assert!(said.place == "notes.txt" && said.what.contains("Line 1"), "{said:?}");
        assert!(said.what_to_do.contains("Genotype("), "{said:?}");
        let said = opened("long.txt", &" ".repeat(1 << 20)).unwrap_err();
        assert!(said.what.contains("at most"), "{said:?}");
        let said = opened("cells.txt", &format!("cells 0\n{}", Published::Darts.text()));
        assert!(said.unwrap_err().what.contains("0 cells"));
    }
}
