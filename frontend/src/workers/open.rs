//! From a file or the zoo to an int8 model: the page's words for what the application does.

use std::sync::Arc;

use tilewright_app::{
    Bounds, Diagnostic, Examined, Host, SampleFile, Samples, examine as examine_model, import,
    prepare, take_pixels, zoo as networks,
};
use tilewright_formats::input::Pixels;
use tilewright_formats::{ModelFile, take_class_file};
use tilewright_model::quantise::{QuantiseOptions, UnknownRule};
use tilewright_model::tiling::{self, Grid, Tiling, TilingError};
use tilewright_model::{DType, Model, Store, Tensor, TensorId};
use tilewright_report::sentence;
use tilewright_zoo::Network;

use super::import::file_stem;
use super::{sha256, sparsity};
use crate::message::{
    Calibrating, Calibration, FileFacts, KindFacts, ModelFacts, ModelSource, Port,
    QuantisationFacts, SparsityFacts, SummaryFacts, TensorFacts, trouble,
};
use crate::state::FileKind;

/// Multiply-accumulates that calibrating may take: some minutes of a browser.
const MOST_MACS: u64 = 60_000_000_000;
/// Samples that float and int8 are compared on at most.
const COMPARED: usize = 8;

/// A model as it comes, before it is quantised.
#[cfg_attr(
    not(feature = "float"),
    expect(dead_code, reason = "the float comparison alone reads the file once more")
)]
struct Source<'b> {
    /// Name for people.
    name: &'b str,
    /// Whether it comes from a file, which may be a text of cells.
    is_file: bool,
    model: Model,
    /// The network, if it is built by code.
    network: Option<Network>,
    /// Files of samples.
    samples: Vec<Vec<u8>>,
    /// Of the file, if it is one; large weights of the model stay in it.
    file: Arc<Vec<u8>>,
    /// Files that it keeps weights in, by name.
    data: Vec<(String, Arc<dyn Store>)>,
    /// Sizes of dimensions that it leaves open.
    dims: Vec<(String, usize)>,
}

impl Source<'_> {
    /// What it is quantised on; nothing for a network of the zoo, whose scales are analytic.
    fn samples(&self, calibrating: &Calibrating) -> Option<Samples<'_>> {
        let file = |bytes| SampleFile { name: "the samples", bytes };
        match (calibrating.is_random || self.samples.is_empty(), &self.network) {
            (false, _) => Some(Samples::Files(self.samples.iter().map(|b| file(b)).collect())),
            (true, Some(_)) if !calibrating.is_random => None,
            (true, _) => Some(Samples::Random),
        }
    }
}

fn bounds() -> Bounds {
    Bounds { macs: Some(MOST_MACS), ..Bounds::default() }
}

fn options(calibrating: &Calibrating, report: usize) -> Result<QuantiseOptions, Diagnostic> {
    let mut options = QuantiseOptions { report_samples: report, ..QuantiseOptions::default() };
    if !calibrating.rule.is_empty() {
        options.rule = calibrating.rule.parse().map_err(|error: UnknownRule| {
            let detail = sentence(&error.to_string());
            trouble("There is no such calibration", detail, "Choose another.")
        })?;
    }
    Ok(options)
}

/// The model that a source names, which takes pixels as was chosen.
fn read<'b>(
    source: &'b ModelSource,
    calibrating: &Calibrating,
    buffers: Vec<Vec<u8>>,
    host: &dyn Host,
) -> Result<Source<'b>, Diagnostic> {
    let mut read = read_source(source, buffers, host)?;
    if !calibrating.pixels.is_empty() {
        take_pixels(&mut read.model, &calibrating.pixels)?;
    }
    Ok(read)
}

fn read_source<'b>(
    source: &'b ModelSource,
    buffers: Vec<Vec<u8>>,
    host: &dyn Host,
) -> Result<Source<'b>, Diagnostic> {
    match source {
        ModelSource::File { name, data, dims } => {
            let dims: Vec<_> = dims
                .iter()
                .map(|(dim, size)| (dim.clone(), usize::try_from(*size).unwrap_or(usize::MAX)))
                .collect();
            let mut buffers = buffers.into_iter();
            let file = Arc::new(buffers.next().unwrap_or_default());
            let (classes, data): (Vec<_>, Vec<_>) = data
                .iter()
                .map(|name| last(name).to_owned())
                .zip(&mut buffers)
                .partition(|(name, _)| FileKind::of(name) == FileKind::ClassNames);
            let stored = |(name, bytes)| (name, Arc::new(bytes) as Arc<dyn Store>);
            let data: Vec<(String, Arc<dyn Store>)> = data.into_iter().map(stored).collect();
            let beside = |path: &str| Ok(beside(&data, path));
            let given = ModelFile { name, bytes: Arc::<Vec<u8>>::clone(&file), beside: &beside };
            let network = networks::of_file(&given)?;
            let mut model = match &network {
                Some(network) => network.float().clone(),
                None => import(&given, &dims, host)?,
            };
            let samples = buffers.collect();
            for (name, bytes) in classes {
                take_class_file(&mut model, &name, &bytes);
            }
            Ok(Source { name, is_file: true, model, network, samples, file, data, dims })
        }
        ModelSource::Zoo(name) => {
            let network = networks::network(name)?;
            let model = network.float().clone();
            let file = Arc::default();
            let (network, samples) = (Some(network), buffers);
            let (is_file, data, dims) = (false, Vec::new(), Vec::new());
            Ok(Source { name, is_file, model, network, samples, file, data, dims })
        }
    }
}

/// The file of weights that a model names by this path. Dropped files have no folders.
fn beside(data: &[(String, Arc<dyn Store>)], path: &str) -> Option<Arc<dyn Store>> {
    let found = data.iter().find(|(name, _)| name == last(path));
    found.map(|(_, bytes)| Arc::clone(bytes))
}

/// What `compare` makes of the model that a request names, as it was before quantising and pruning,
/// and of its int8 form.
///
/// # Errors
/// As [`open`], and those of `compare`.
#[cfg(feature = "float")]
pub fn with_subject<T>(
    request: &crate::message::FloatRequest,
    int8: &Model,
    buffers: Vec<Vec<u8>>,
    host: &dyn Host,
    compare: impl FnOnce(&tilewright_app::FloatSubject<'_>) -> Result<T, Diagnostic>,
) -> Result<T, Diagnostic> {
    let read = read(&request.source, &request.calibrating, buffers, host)?;
    let samples = read.samples(&request.calibrating).unwrap_or(Samples::Random);
    let beside = |path: &str| Ok(beside(&read.data, path));
    let bytes = Arc::<Vec<u8>>::clone(&read.file);
    let file = ModelFile { name: read.name, bytes, beside: &beside };
    let file = read.network.is_none().then_some(&file);
    let (model, dims) = (&read.model, &read.dims[..]);
    compare(&tilewright_app::FloatSubject { file, dims, model, int8, samples })
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
    host: &dyn Host,
) -> Result<(Model, ModelFacts), Diagnostic> {
    let mut read = read(source, calibrating, buffers, host)?;
    let sparsity = sparsity::prune(read.name, &mut read.model, calibrating.sparsity)?;
    let calibration = calibration(&read, calibrating);
    let (model, samples) = match (calibration, &read.network) {
        (Calibration::Analytic, Some(network)) => {
            (networks::int8_of(network, &read.model, &bounds(), host)?, 0)
        }
        _ => {
            let samples = read.samples(calibrating).unwrap_or(Samples::Random);
            // How far int8 is from float is not shown here, so that nothing is run for it.
            let options = options(calibrating, 0)?;
            let prepared = prepare(read.model.clone(), samples, &options, &bounds(), host)?;
            (prepared.model, prepared.quantisation.map_or(0, |report| report.samples))
        }
    };
    let calibration = match calibration {
        Calibration::Samples(_) => Calibration::Samples(count(samples)),
        other => other,
    };
    let mut facts = facts(&read, &model, calibration);
    facts.sparsity = sparsity::of_nodes(sparsity, &model);
    Ok((model, facts))
}

/// How a model becomes int8; samples are not counted yet.
fn calibration(read: &Source<'_>, calibrating: &Calibrating) -> Calibration {
    if read.model.is_int8() {
        Calibration::NotNeeded
    } else if read.model.opaque_in_words().is_some() {
        Calibration::Impossible
    } else {
        match read.samples(calibrating) {
            None => Calibration::Analytic,
            Some(Samples::Random) => Calibration::Noise,
            Some(Samples::Files(_)) => Calibration::Samples(0),
        }
    }
}

/// What quantising does to the model of a file or the zoo: tensor by tensor, and each layer alone.
///
/// # Errors
/// As [`open`]; if the model is int8 as it comes, or cannot be computed.
pub fn examine(
    source: &ModelSource,
    calibrating: &Calibrating,
    buffers: Vec<Vec<u8>>,
    host: &dyn Host,
) -> Result<QuantisationFacts, Diagnostic> {
    let mut read = read(source, calibrating, buffers, host)?;
    sparsity::prune(read.name, &mut read.model, calibrating.sparsity)?;
    let Some(samples) = read.samples(calibrating) else {
        return Err(trouble(
            format!("{} was not quantised on samples", read.name),
            "Its scales follow from the statistics of its weights.",
            "Choose samples first.",
        ));
    };
    let is_random = matches!(samples, Samples::Random);
    let options = options(calibrating, COMPARED)?;
    let examined = examine_model(&read.model, samples, &options, &bounds(), host)?;
    Ok(quantisation_facts(&examined, is_random))
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
    host: &dyn Host,
) -> Result<(FileFacts, Vec<u8>), Diagnostic> {
    let mut read = read(source, calibrating, buffers, host)?;
    sparsity::prune(read.name, &mut read.model, calibrating.sparsity)?;
    let cannot = |error: String| {
        let what = format!("{} cannot be written in tiles", read.name);
        trouble(what, sentence(&error), "Open the float model that it was made from.")
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

fn quantisation_facts(
    Examined { report, layers, examined, .. }: &Examined,
    is_random: bool,
) -> QuantisationFacts {
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
        examined: count(*examined),
        is_random,
        tensors: tensors.collect(),
    }
}

fn count(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
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
            Some(network) if !read.is_file => format!("zoo:{}", network.name),
            _ => read.name.to_owned(),
        },
        file_bytes: read.file.len() as u64,
        sha256: if read.is_file { sha256(&read.file) } else { String::new() },
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
        pixels: pixels(&read.model),
        calibration,
        sparsity: SparsityFacts::default(),
    }
}

/// The range in which a float model takes the pixels of its one picture.
fn pixels(model: &Model) -> Option<String> {
    let [input] = *model.inputs.as_slice() else { return None };
    let input = model.tensor(input);
    let is_picture = match *input.shape.dims() {
        [1, height, width, 1 | 3 | 4] => height.min(width) > 1,
        _ => false,
    };
    let said = || Pixels::of(model).map_or_else(|| "0..1".to_owned(), |pixels| pixels.to_string());
    (is_picture && input.dtype == DType::F32).then(said)
}

/// A path's last name.
fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
