//! Importing, quantising, preparing inputs, packaging, judging runs: what the importer worker does.

use std::sync::Arc;

use tilewright_formats::{FormatError, Limits, ModelFile, input, open_file};
use tilewright_image::FirmwareImage;
use tilewright_model::quantise::{QuantiseError, QuantiseOptions, quantise};
use tilewright_model::{Data, Model, Store, Tensor, int8};

use super::judge::judge;
use super::plan::{load, no_model, ours};
use super::reorder::reorder;
use super::{Outcome, sha256};
use crate::message::{
    Calibration, FileFacts, ImportReply, ImportRequest, ModelFacts, Package, Port, ReferenceFacts,
    Trouble,
};

/// What to do about operators that nothing here computes.
const UNSUPPORTED: &str = "Export the model without these operators, or replace them with others \
                           that compute the same.";

/// Samples of noise, where nothing better was given.
const NOISE_SAMPLES: usize = 4;

/// The importer between requests.
#[derive(Default)]
pub struct Importer {
    /// The int8 model.
    model: Option<Model>,
}

impl Importer {
    /// Answers a request; `say` takes what is done in between.
    ///
    /// # Errors
    /// What went wrong, where, and what to do.
    pub fn answer(
        &mut self,
        request: ImportRequest,
        buffers: Vec<Vec<u8>>,
        say: &dyn Fn(&str),
    ) -> Outcome<ImportReply> {
        let buffer = |index: usize| buffers.get(index).map_or(&[][..], Vec::as_slice);
        match request {
            ImportRequest::Open { name, data, dims } => {
                let mut files = buffers.into_iter();
                let bytes = files.next().unwrap_or_default();
                let data = data.into_iter().zip(&mut files).collect();
                let files = Files { name, bytes, data, samples: files.next() };
                let (model, facts) = import(files, &dims, say)?;
                let bytes = postcard::to_stdvec(&model).map_err(|error| ours("model", &error))?;
                self.model = Some(model);
                Ok((ImportReply::Opened(facts), vec![bytes]))
            }
            ImportRequest::Load => {
                self.model = Some(load(&buffers)?);
                Ok((ImportReply::Loaded, Vec::new()))
            }
            ImportRequest::Input { name } => reference(self.model()?, name, buffer(0)),
            ImportRequest::Judge(settings) => {
                let model = self.model()?;
                let (result, comparison) =
                    judge(model, &settings, buffer(0), buffer(1), buffer(2))?;
                Ok((ImportReply::Judged(Box::new(result), comparison), Vec::new()))
            }
            ImportRequest::Package { board, model } => {
                package(&board, &model, buffer(0), buffer(1))
            }
            ImportRequest::Reorder { name } => reorder(&name, buffer(0)),
        }
    }

    fn model(&self) -> Result<&Model, Trouble> {
        self.model.as_ref().ok_or_else(no_model)
    }
}

/// What a model is opened from.
struct Files {
    name: String,
    bytes: Vec<u8>,
    /// Files that the model keeps weights in, with their names.
    data: Vec<(String, Vec<u8>)>,
    samples: Option<Vec<u8>>,
}

fn import(
    files: Files,
    dims: &[(String, u64)],
    say: &dyn Fn(&str),
) -> Result<(Model, ModelFacts), Trouble> {
    let Files { name, bytes, data, samples } = files;
    let (name, samples) = (name.as_str(), samples.as_deref());
    say(&format!("Reading {name}"));
    let dims: Vec<_> = dims
        .iter()
        .map(|(dim, size)| (dim.clone(), usize::try_from(*size).unwrap_or(usize::MAX)))
        .collect();
    let bytes = Arc::new(bytes);
    let data: Vec<(String, Arc<dyn Store>)> =
        data.into_iter().map(|(name, bytes)| (name, Arc::new(bytes) as Arc<dyn Store>)).collect();
    // Dropped files have no folders.
    let beside = |path: &str| {
        let found = data.iter().find(|(name, _)| last(name) == last(path));
        Ok(found.map(|(_, bytes)| Arc::clone(bytes)))
    };
    let file = ModelFile { name, bytes: Arc::<Vec<u8>>::clone(&bytes), beside: &beside };
    let model =
        open_file(&file, &Limits::default(), &dims).map_err(|error| cannot_open(name, &error))?;
    let bytes = bytes.as_slice();
    if model.is_int8() {
        let facts = facts(&model, name, bytes, Calibration::NotNeeded);
        return Ok((model, facts));
    }
    if model.opaque_in_words().is_some() {
        // What cannot be computed cannot be calibrated: its memory is planned as the file has it.
        let facts = facts(&model, name, bytes, Calibration::Impossible);
        return Ok((model, facts));
    }
    say(&format!("Quantising {name}"));
    let (samples, calibration) = match samples {
        Some(bytes) => {
            let samples = read_samples(&model, bytes)?;
            let count = u32::try_from(samples.len()).unwrap_or(u32::MAX);
            (samples, Calibration::Samples(count))
        }
        None => (noise(&model), Calibration::Noise),
    };
    // How far int8 is from float is not shown here, so that nothing is run for it.
    let options = QuantiseOptions { report_samples: 0, ..QuantiseOptions::default() };
    let (model, _) =
        quantise(&model, &samples, &options).map_err(|error| cannot_quantise(name, &error))?;
    let facts = facts(&model, name, bytes, calibration);
    Ok((model, facts))
}

/// What is shown of an int8 model and its file.
fn facts(model: &Model, name: &str, bytes: &[u8], calibration: Calibration) -> ModelFacts {
    let ports = |ids: &[tilewright_model::TensorId]| {
        let port =
            |tensor: &Tensor| Port { name: tensor.name.clone(), shape: tensor.shape.to_string() };
        ids.iter().map(|id| port(model.tensor(*id))).collect()
    };
    ModelFacts {
        name: model.name.clone(),
        file: name.to_owned(),
        file_bytes: bytes.len() as u64,
        sha256: sha256(bytes),
        inputs: ports(&model.inputs),
        outputs: ports(&model.outputs),
        operators: u32::try_from(model.nodes.len()).unwrap_or(u32::MAX),
        macs: model.nodes.iter().map(|node| model.macs(node)).sum(),
        parameters: model.parameters(),
        labels: model.labels(),
        calibration,
    }
}

fn cannot_open(name: &str, error: &FormatError) -> Trouble {
    let what = format!("{name} cannot be opened");
    let detail = format!("{}.", capitalised(&error.to_string()));
    let remedy = match error {
        FormatError::NotAModel { .. } => "Choose an ONNX or TensorFlow Lite file.",
        FormatError::Damaged { .. } => "Export or download the file again.",
        FormatError::UnsupportedOperators { .. } => UNSUPPORTED,
        FormatError::DynamicDimension { dim, .. } => {
            let mut trouble = Trouble::new(what, detail, "Say which size to use.");
            trouble.dimensions.push(dim.clone());
            return trouble;
        }
        FormatError::MissingData { file, .. } => {
            let remedy = format!("Drop {} too.", last(file));
            let mut trouble = Trouble::new(what, detail, remedy);
            trouble.missing = Some(file.clone());
            return trouble;
        }
        FormatError::Data { .. } => "Drop the file that was exported with this model.",
        FormatError::TooLarge { .. } => "Choose a smaller model.",
        _ => "Change the model where it says, and export it again.",
    };
    Trouble::new(what, detail, remedy)
}

/// A path's last name.
fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn cannot_quantise(name: &str, error: &QuantiseError) -> Trouble {
    Trouble::new(
        format!("{name} cannot be quantised"),
        format!("{}.", capitalised(&error.to_string())),
        "Give other samples, or change the model where it says.",
    )
}

pub(super) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Sets of inputs from a `.npy` file, which can hold those of one input only.
fn read_samples(model: &Model, bytes: &[u8]) -> Result<Vec<Vec<Data>>, Trouble> {
    let cannot = |detail: String| {
        Trouble::new(
            "The samples cannot be used",
            detail,
            "Give a .npy array whose first dimension counts the samples and whose other dimensions \
             are the input's.",
        )
    };
    let [id] = model.inputs.as_slice() else {
        let count = model.inputs.len();
        return Err(cannot(format!("The model has {count} inputs, one file has those of one.")));
    };
    let samples = input::samples(model.tensor(*id), bytes)
        .map_err(|error| cannot(format!("{}.", capitalised(&error.to_string()))))?;
    Ok(samples.into_iter().map(|sample| vec![sample]).collect())
}

/// Values between 0 and 1 from a linear congruential generator: the same each time.
fn noise(model: &Model) -> Vec<Vec<Data>> {
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1u32 << 24) as f32
    };
    (0..NOISE_SAMPLES)
        .map(|_| {
            let elements =
                |id: &tilewright_model::TensorId| model.tensor(*id).shape.elements().unwrap_or(0);
            let sizes: Vec<usize> = model.inputs.iter().map(elements).collect();
            sizes.into_iter().map(|size| Data::F32((0..size).map(|_| next()).collect())).collect()
        })
        .collect()
}

/// Decodes an input and runs the reference on it.
fn reference(model: &Model, name: String, bytes: &[u8]) -> Outcome<ImportReply> {
    let cannot = |detail: String| {
        Trouble::new(
            format!("{name} is no input for this model"),
            detail,
            "Choose a PNG picture, a .npy array or raw int8 bytes of the input's size.",
        )
    };
    let [id] = model.inputs.as_slice() else {
        let count = model.inputs.len();
        return Err(cannot(format!("The model has {count} inputs, one file has one.")));
    };
    let data = input::read(model.tensor(*id), bytes)
        .map_err(|error| cannot(format!("{}.", capitalised(&error.to_string()))))?;
    let payload = data.as_i8().unwrap_or_default().iter().map(|v| v.cast_unsigned()).collect();
    let outputs = int8::run(model, &[data], &mut |_, _| {})
        .map_err(|error| cannot(format!("{}.", capitalised(&error.to_string()))))?;
    let outputs = outputs.iter().map(|data| data.as_i8().unwrap_or_default().to_vec()).collect();
    Ok((ImportReply::Input(ReferenceFacts { name, outputs }), vec![payload]))
}

fn package(board: &str, model: &str, image: &[u8], firmware: &[u8]) -> Outcome<ImportReply> {
    let board = tilewright_board::find(board).map_err(|error| ours("board", &error))?;
    let cannot = |error: tilewright_image::FirmwareError| {
        Trouble::new(
            "Firmware and plan could not be put together",
            format!("{error}."),
            "Build the firmware again with `cargo xtask build`; the plan image alone is good.",
        )
    };
    let whole = FirmwareImage::new(firmware, image, &board).map_err(cannot)?;
    let hex = whole.hex().map_err(cannot)?.into_bytes();
    let stem = format!("{}-{}", file_stem(model), board.id);
    let named = [("elf", whole.elf), ("bin", whole.bin), ("hex", hex)];
    let files = named
        .iter()
        .map(|(ending, bytes)| FileFacts {
            name: format!("{stem}.{ending}"),
            bytes: bytes.len() as u64,
            sha256: sha256(bytes),
        })
        .collect();
    let buffers = named.into_iter().map(|(_, bytes)| bytes).collect();
    Ok((ImportReply::Packaged(Package { files }), buffers))
}

/// A model's name as part of a file's.
pub(super) fn file_stem(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    name.chars().map(plain).collect()
}
