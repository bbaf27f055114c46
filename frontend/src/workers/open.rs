//! From a file or the zoo to an int8 model.

use std::sync::Arc;
use tilewright_report::sentence;

use tilewright_formats::{FormatError, Limits, ModelFile, input, open_file};
use tilewright_model::quantise::{
    self, LayerSensitivity, QuantiseError, QuantiseOptions, QuantiseReport, RangeRule,
};
use tilewright_model::tiling::{self, Grid, Tiling, TilingError};
use tilewright_model::{Data, Model, Store, Tensor, TensorId};
use tilewright_zoo::Network;

use super::import::file_stem;
use super::zoo::network;
use super::{sha256, sparsity};
use crate::message::{
    Calibrating, Calibration, FileFacts, KindFacts, ModelFacts, ModelSource, Port,
    QuantisationFacts, SparsityFacts, SummaryFacts, TensorFacts, Trouble,
};

/// What to do about operators that nothing here computes.
const UNSUPPORTED: &str = "Export the model without these operators, or replace them with others \
                           that compute the same.";
/// Samples of noise, where nothing better was given.
const NOISE_SAMPLES: usize = 4;
/// Multiply-accumulates that calibrating may take: some minutes of a browser.
const MOST_MACS: u64 = 60_000_000_000;
/// Samples that float and int8 are compared on at most.
const COMPARED: usize = 8;
/// Multiply-accumulates that examining single layers takes at most, unless one sample takes more.
const MOST_EXAMINED: u64 = 4_000_000_000;

/// A model as it comes, before it is quantised.
struct Source<'b> {
    /// Name for people.
    name: &'b str,
    model: Model,
    network: Option<Network>,
    /// Files of samples.
    samples: Vec<Vec<u8>>,
    /// Of the file, if it is one; large weights of the model stay in it.
    file: Arc<Vec<u8>>,
}

/// Takes what says what it does.
type Say<'s> = &'s dyn Fn(&str);

fn read<'b>(
    source: &'b ModelSource,
    buffers: Vec<Vec<u8>>,
    say: Say<'_>,
) -> Result<Source<'b>, Trouble> {
    match source {
        ModelSource::File { name, data, dims } => {
            say(&format!("Reading {name}"));
            let dims: Vec<_> = dims
                .iter()
                .map(|(dim, size)| (dim.clone(), usize::try_from(*size).unwrap_or(usize::MAX)))
                .collect();
            let mut buffers = buffers.into_iter();
            let file = Arc::new(buffers.next().unwrap_or_default());
            let data: Vec<(&str, Arc<dyn Store>)> = data
                .iter()
                .zip(&mut buffers)
                .map(|(name, bytes)| (last(name), Arc::new(bytes) as Arc<dyn Store>))
                .collect();
            // Dropped files have no folders.
            let beside = |path: &str| {
                let found = data.iter().find(|(name, _)| *name == last(path));
                Ok(found.map(|(_, bytes)| Arc::clone(bytes)))
            };
            let given = ModelFile { name, bytes: Arc::<Vec<u8>>::clone(&file), beside: &beside };
            let model = open_file(&given, &Limits::default(), &dims)
                .map_err(|error| cannot_open(name, &error))?;
            Ok(Source { name, model, network: None, samples: buffers.collect(), file })
        }
        ModelSource::Zoo(name) => {
            say(&format!("Building {name}"));
            let network = network(name)?;
            let model = network.float().clone();
            let file = Arc::default();
            Ok(Source { name, model, network: Some(network), samples: buffers, file })
        }
    }
}

/// The model of a file or the zoo as int8, and what is shown of it. One with operators that nothing
/// here computes stays as it is.
///
/// # Errors
/// What is wrong with the file or the samples, and what to do.
pub fn open(
    source: &ModelSource,
    calibrating: &Calibrating,
    buffers: Vec<Vec<u8>>,
    say: Say<'_>,
) -> Result<(Model, ModelFacts), Trouble> {
    let mut read = read(source, buffers, say)?;
    let sparsity = sparsity::prune(read.name, &mut read.model, calibrating.sparsity, say)?;
    let (model, mut facts) = int8(read, calibrating, say)?;
    facts.sparsity = sparsity::of_nodes(sparsity, &model);
    Ok((model, facts))
}

/// What was read as int8; without what pruning did.
fn int8(
    read: Source<'_>,
    calibrating: &Calibrating,
    say: Say<'_>,
) -> Result<(Model, ModelFacts), Trouble> {
    if read.model.is_int8() {
        let facts = facts(&read, &read.model, Calibration::NotNeeded);
        return Ok((read.model, facts));
    }
    if read.model.opaque_in_words().is_some() {
        // What cannot be computed cannot be calibrated: its memory is planned as the file has it.
        let facts = facts(&read, &read.model, Calibration::Impossible);
        return Ok((read.model, facts));
    }
    if let Some(network) = &read.network
        && !calibrating.is_random
        && read.samples.is_empty()
    {
        let model = network.int8_of(&read.model).map_err(|error| {
            let remedy = "Choose samples to quantise it on.";
            Trouble::new(format!("{} cannot be quantised", read.name), format!("{error}."), remedy)
        })?;
        let facts = facts(&read, &model, Calibration::Analytic);
        return Ok((model, facts));
    }
    let (sets, calibration) = sets(&read, calibrating)?;
    // How far int8 is from float is not shown here, so that nothing is run for it.
    let (model, _) = quantised(&read, &sets, calibrating, 0, say)?;
    let facts = facts(&read, &model, calibration);
    Ok((model, facts))
}

/// What quantising does to the model of a file or the zoo: tensor by tensor, and each layer alone.
///
/// # Errors
/// As [`open`]; if the model is int8 as it comes, or cannot be computed.
pub fn examine(
    source: &ModelSource,
    calibrating: &Calibrating,
    buffers: Vec<Vec<u8>>,
    say: Say<'_>,
) -> Result<QuantisationFacts, Trouble> {
    let mut read = read(source, buffers, say)?;
    if read.model.is_int8() {
        return Err(Trouble::new(
            format!("{} is int8 already", read.name),
            "There are no float values to compare it with.",
            "Open the float model that it was made from.",
        ));
    }
    if let Some(words) = read.model.opaque_in_words() {
        let what = format!("{} cannot be quantised", read.name);
        return Err(Trouble::new(what, format!("Nothing here computes {words}."), UNSUPPORTED));
    }
    if read.network.is_some() && read.samples.is_empty() && !calibrating.is_random {
        return Err(Trouble::new(
            format!("{} was not quantised on samples", read.name),
            "Its scales follow from the statistics of its weights.",
            "Choose samples first.",
        ));
    }
    sparsity::prune(read.name, &mut read.model, calibrating.sparsity, say)?;
    let (sets, calibration) = sets(&read, calibrating)?;
    let (model, report) = quantised(&read, &sets, calibrating, COMPARED, say)?;
    let once = macs(&read.model).max(1);
    let runs = MOST_EXAMINED / once.saturating_mul(read.model.nodes.len().max(1) as u64);
    let most = usize::try_from(runs).unwrap_or(usize::MAX).clamp(1, COMPARED).min(sets.len());
    let mut told = 0;
    let mut seen = |run: usize, of: usize| {
        let percent = run * 100 / of.max(1);
        if percent > told {
            told = percent;
            say(&format!("Quantising layers of {} alone: {percent} %", read.name));
        }
    };
    let layers = quantise::sensitivity(&read.model, &model, &sets[..most], &mut seen, &|| false)
        .map_err(|error| cannot_quantise(read.name, &error))?;
    Ok(examined(&report, &layers, most, calibration == Calibration::Noise))
}

/// The float model of a file or the zoo in tiles, as an ONNX file.
///
/// # Errors
/// As [`open`]; if it cannot be in these tiles, or written.
pub fn tiled(
    source: &ModelSource,
    calibrating: &Calibrating,
    grid: &str,
    buffers: Vec<Vec<u8>>,
    say: Say<'_>,
) -> Result<(FileFacts, Vec<u8>), Trouble> {
    let mut read = read(source, buffers, say)?;
    sparsity::prune(read.name, &mut read.model, calibrating.sparsity, say)?;
    let cannot = |error: String| {
        let what = format!("{} cannot be written in tiles", read.name);
        Trouble::new(what, sentence(&error), "Open the float model that it was made from.")
    };
    let grid: Grid = grid.parse().map_err(|error: TilingError| cannot(error.to_string()))?;
    let tiling = Tiling { grid, ..Tiling::PUBLISHED };
    let tiled = tiling::tile(&read.model, &tiling).map_err(|error| cannot(error.to_string()))?;
    let mut bytes = Vec::new();
    let mut write = |piece: &[u8]| {
        bytes.extend_from_slice(piece);
        Ok::<(), std::convert::Infallible>(())
    };
    tilewright_formats::export(&tiled.model, &mut write)
        .map_err(|error| cannot(error.to_string()))?;
    let name = format!("{}-tiles-{grid}.onnx", file_stem(&read.model.name));
    Ok((FileFacts { name, bytes: bytes.len() as u64, sha256: sha256(&bytes) }, bytes))
}

fn examined(
    report: &QuantiseReport,
    layers: &[LayerSensitivity],
    examined: usize,
    is_random: bool,
) -> QuantisationFacts {
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    // Both lists are in order of execution; the layers are some of the tensors'.
    let mut layers = layers.iter().peekable();
    let tensors = report.tensors.iter().map(|tensor| TensorFacts {
        layer: tensor.layer.clone(),
        range: [tensor.range.low, tensor.range.high],
        scale: tensor.scale,
        zero: tensor.zero,
        saturated: tensor.saturation(),
        sqnr_db: tensor.sqnr_db,
        alone_db: layers.next_if(|layer| layer.layer == tensor.layer).map(|layer| layer.sqnr_db),
    });
    QuantisationFacts {
        rule: report.rule.to_string(),
        samples: count(report.samples),
        compared: count(report.compared),
        examined: count(examined),
        is_random,
        tensors: tensors.collect(),
    }
}

fn quantised(
    read: &Source<'_>,
    sets: &[Vec<Data>],
    calibrating: &Calibrating,
    report_samples: usize,
    say: Say<'_>,
) -> Result<(Model, QuantiseReport), Trouble> {
    let rule = match calibrating.rule.as_str() {
        "" => RangeRule::default(),
        rule => rule.parse().map_err(|error: quantise::UnknownRule| {
            let detail = sentence(&error.to_string());
            Trouble::new("There is no such calibration", detail, "Choose another.")
        })?,
    };
    let work = macs(&read.model).saturating_mul(sets.len() as u64);
    if work > MOST_MACS {
        return Err(Trouble::new(
            format!("{} is too large to calibrate in a browser", read.name),
            format!(
                "{} samples of {} million multiply-accumulates each would take many minutes.",
                sets.len(),
                macs(&read.model) / 1_000_000
            ),
            "Give fewer samples, or quantise it with the command line.",
        ));
    }
    let options = QuantiseOptions { rule, report_samples };
    let failed = |error: QuantiseError| cannot_quantise(read.name, &error);
    let mut calibration = quantise::Calibration::new(&read.model, &options).map_err(failed)?;
    for (index, set) in sets.iter().enumerate() {
        say(&format!("Quantising {}: sample {} of {}", read.name, index + 1, sets.len()));
        calibration.observe(set).map_err(failed)?;
    }
    if report_samples > 0 {
        say(&format!("Comparing int8 with float on {} samples", report_samples.min(sets.len())));
    }
    calibration.finish().map_err(failed)
}

fn macs(model: &Model) -> u64 {
    model.nodes.iter().map(|node| model.macs(node)).fold(0, u64::saturating_add)
}

/// What is shown of a model and where it comes from.
fn facts(read: &Source<'_>, model: &Model, calibration: Calibration) -> ModelFacts {
    let ports = |ids: &[TensorId]| {
        let port =
            |tensor: &Tensor| Port { name: tensor.name.clone(), shape: tensor.shape.to_string() };
        ids.iter().map(|id| port(model.tensor(*id))).collect()
    };
    // Before quantising: nodes that only requantise are no operators of the network.
    let summary = read.model.summary();
    let kinds = summary.kinds.into_iter().map(|kind| KindFacts {
        op: kind.op,
        count: u32::try_from(kind.count).unwrap_or(u32::MAX),
        macs: kind.macs,
        macs_percent: kind.macs_percent,
        parameters: kind.parameters,
        activation_bytes: kind.activation_bytes,
        is_opaque: kind.is_opaque,
    });
    ModelFacts {
        name: model.name.clone(),
        file: match &read.network {
            Some(network) => format!("zoo:{}", network.name),
            None => read.name.to_owned(),
        },
        file_bytes: read.file.len() as u64,
        sha256: if read.network.is_some() { String::new() } else { sha256(&read.file) },
        inputs: ports(&model.inputs),
        outputs: ports(&model.outputs),
        operators: u32::try_from(model.nodes.len()).unwrap_or(u32::MAX),
        macs: macs(model),
        parameters: model.parameters(),
        summary: SummaryFacts {
            weight_bytes: [summary.weight_bytes, summary.int8_weight_bytes],
            activation_bytes: [summary.activation_bytes, summary.int8_activation_bytes],
            kinds: kinds.collect(),
        },
        unknown: model.opaque_in_words().unwrap_or_default(),
        note: read.network.as_ref().map_or_else(|| model.notes.join(" "), super::zoo::note),
        labels: model.labels(),
        calibration,
        sparsity: SparsityFacts::default(),
    }
}

fn cannot_open(name: &str, error: &FormatError) -> Trouble {
    let what = format!("{name} cannot be opened");
    let detail = sentence(&error.to_string());
    let remedy = match error {
        FormatError::NotAModel { .. } => "Choose an ONNX or TensorFlow Lite file.",
        FormatError::Damaged { .. } => "Export or download the file again.",
        FormatError::UnsupportedOperators { .. } | FormatError::Unsupported { .. } => UNSUPPORTED,
        FormatError::DynamicDimensions { dims, .. } => {
            let mut trouble = Trouble::new(what, detail, "Say which size to use.");
            trouble.dimensions.clone_from(dims);
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
        sentence(&error.to_string()),
        "Give other samples, or change the model where it says.",
    )
}

/// Sets of inputs to quantise on: those given, else made up.
fn sets(
    read: &Source<'_>,
    calibrating: &Calibrating,
) -> Result<(Vec<Vec<Data>>, Calibration), Trouble> {
    if calibrating.is_random || read.samples.is_empty() {
        return Ok((noise(&read.model, NOISE_SAMPLES), Calibration::Noise));
    }
    let mut sets = Vec::new();
    for bytes in &read.samples {
        sets.extend(read_samples(&read.model, bytes)?);
    }
    let count = u32::try_from(sets.len()).unwrap_or(u32::MAX);
    Ok((sets, Calibration::Samples(count)))
}

/// Sets of inputs from a `.npy` file or a picture, which can hold those of one input only.
fn read_samples(model: &Model, bytes: &[u8]) -> Result<Vec<Vec<Data>>, Trouble> {
    let cannot = |detail: String| {
        Trouble::new(
            "The samples cannot be used",
            detail,
            "Give .npy arrays whose first dimension counts the samples and whose other dimensions \
             are the input's, or PNG pictures.",
        )
    };
    let [id] = model.inputs.as_slice() else {
        let count = model.inputs.len();
        return Err(cannot(format!("The model has {count} inputs, one file has those of one.")));
    };
    let tensor = model.tensor(*id);
    let samples = if bytes.starts_with(b"\x89PNG") {
        input::read(tensor, bytes).map(|sample| vec![sample])
    } else {
        input::samples(tensor, bytes)
    };
    let samples = samples.map_err(|error| cannot(sentence(&error.to_string())))?;
    Ok(samples.into_iter().map(|sample| vec![sample]).collect())
}

/// Values between 0 and 1, or of all int8 values, from a linear congruential generator: the same
/// each time.
pub(super) fn noise(model: &Model, count: usize) -> Vec<Vec<Data>> {
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 8
    };
    let mut input = |id: &TensorId| {
        let tensor = model.tensor(*id);
        let size = tensor.shape.elements().unwrap_or(0);
        match tensor.dtype {
            tilewright_model::DType::I8 => {
                Data::I8((0..size).map(|_| (next() >> 16) as i8).collect())
            }
            _ => Data::F32((0..size).map(|_| next() as f32 / (1u32 << 24) as f32).collect()),
        }
    };
    (0..count).map(|_| model.inputs.iter().map(&mut input).collect()).collect()
}
