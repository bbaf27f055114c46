//! Model file → model → int8 model with an input to run it on.

use tilewright_formats::ModelFile;
use tilewright_formats::input::{Pixels, UnknownPixels};
use tilewright_model::quantise::{
    Calibration, LayerSensitivity, QuantiseError, QuantiseOptions, QuantiseReport, sensitivity,
};
use tilewright_model::{DType, Data, Model, RunError, Tensor};
use tilewright_report::sentence;

use crate::bounds::{Bounds, Until};
use crate::files;
use crate::host::Host;
use crate::progress::{Progress, Stage};
use crate::zoo;
use tilewright_report::{Blame, Diagnostic};

/// Samples made when no real ones are wanted.
const RANDOM_SAMPLES: usize = 4;
/// Their seed.
const SEED: u64 = 1;

/// A file of samples.
#[derive(Clone, Copy, Debug)]
pub struct SampleFile<'s> {
    /// Its name.
    pub name: &'s str,
    /// Its bytes.
    pub bytes: &'s [u8],
}

/// What a float model is quantised on; an int8 model only takes its first input from it.
#[derive(Clone, Debug)]
pub enum Samples<'s> {
    /// Files: .npy arrays with many samples each, or PNG pictures with one each.
    Files(Vec<SampleFile<'s>>),
    /// Uniform in 0..1 from a fixed seed: right for shapes and costs, meaningless for accuracy.
    Random,
}

/// An int8 model with what was learned on the way.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The int8 model; a float one if operators that nothing computes keep it from being quantised.
    pub model: Model,
    /// What quantisation did; nothing if nothing was quantised.
    pub quantisation: Option<QuantiseReport>,
    /// How it became int8, for people: "quantised on …", or as the file has it.
    pub samples: String,
    /// The first sample, quantised: the input when none is given; empty if the model cannot run.
    pub first: Vec<Data>,
}

/// Reads a model file, with values for dimensions that it leaves open. A text of cells is the network stacked from them.
///
/// # Errors
/// [`Blame::BadInput`] with the node or the place in the file.
pub fn import(
    file: &ModelFile<'_>,
    dims: &[(String, usize)],
    host: &dyn Host,
) -> Result<Model, Diagnostic> {
    host.begin(Stage::Importing)?;
    if let Some(network) = zoo::of_file(file)? {
        return Ok(network.float().clone());
    }
    files::open(file, dims)
}

/// Makes a range such as `-1..1` the one in which a model takes pixels, whatever its file says.
///
/// # Errors
/// [`Blame::BadInput`] if the text is no range.
pub fn take_pixels(model: &mut Model, range: &str) -> Result<(), Diagnostic> {
    let pixels = range.parse::<Pixels>().map_err(|error: UnknownPixels| {
        let what_to_do =
            "Say what the model was trained on; its author or its training script tells.";
        Diagnostic::new(Blame::BadInput, sentence(&error.to_string()), "pixels", what_to_do)
    })?;
    pixels.set(model);
    Ok(())
}

/// Quantises a float model by `options`, and finds the input to run on. A float model with operators
/// that nothing computes stays as it is, for its memory to be planned.
///
/// # Errors
/// [`Blame::BadInput`] if the samples do not suit the model, or the model has no int8 form;
/// [`Blame::TooLarge`] beyond `bounds`; [`Blame::Cancelled`] soon after somebody wants an end.
pub fn prepare(
    model: Model,
    samples: Samples<'_>,
    options: &QuantiseOptions,
    bounds: &Bounds,
    host: &dyn Host,
) -> Result<Prepared, Diagnostic> {
    host.cancel().check()?;
    if model.is_int8() {
        return as_it_is(model, samples);
    }
    if let Some(operators) = model.opaque_in_words() {
        // What cannot be computed cannot be calibrated: its memory is planned as the file has it.
        let samples = format!("as the file has it: nothing here computes {operators}");
        return Ok(Prepared { model, quantisation: None, samples, first: Vec::new() });
    }
    let float = model;
    host.begin(Stage::Quantising)?;
    let (sets, samples) = sets(&float, samples, options)?;
    bounds.admit(&float, sets.len())?;
    let until = Until::new(host, bounds.wall);
    let (model, quantisation) = calibrate(&float, &sets, options, host, &until)
        .map_err(|error| problem(&error, &float, &until))?;
    let first = sets.into_iter().next().unwrap_or_default();
    let first = quantised(&model, first)?;
    Ok(Prepared { model, quantisation: Some(quantisation), samples, first })
}

/// What quantising does to a float model.
#[derive(Clone, Debug)]
pub struct Examined {
    /// Tensor by tensor.
    pub report: QuantiseReport,
    /// Layer by layer, each alone.
    pub layers: Vec<LayerSensitivity>,
    /// Samples that the layers were examined on.
    pub examined: usize,
    /// How it became int8, for people.
    pub samples: String,
}

/// Multiply-accumulates that examining layers takes at most, unless one sample takes more.
const MOST_MACS: u64 = 4_000_000_000;

/// Quantises a float model, and each of its layers alone.
///
/// # Errors
/// As [`prepare`]; [`Blame::BadInput`] if the model is int8 already.
pub fn examine(
    float: &Model,
    samples: Samples<'_>,
    options: &QuantiseOptions,
    bounds: &Bounds,
    host: &dyn Host,
) -> Result<Examined, Diagnostic> {
    host.cancel().check()?;
    if let Some(operators) = float.opaque_in_words() {
        return Err(Diagnostic::new(
            Blame::BadInput,
            format!("Nothing here computes {operators}."),
            float.name.clone(),
            "Replace these operators by supported ones before exporting.",
        ));
    }
    if float.is_int8() {
        return Err(Diagnostic::new(
            Blame::BadInput,
            "The model is int8 already: there is nothing to compare it with.",
            float.name.clone(),
            "Give the float model that it was made from.",
        ));
    }
    host.begin(Stage::Quantising)?;
    let (sets, samples) = sets(float, samples, options)?;
    bounds.admit(float, sets.len())?;
    let until = Until::new(host, bounds.wall);
    let failed = |error: QuantiseError| problem(&error, float, &until);
    let (model, report) = calibrate(float, &sets, options, host, &until).map_err(failed)?;
    host.begin(Stage::Comparing)?;
    let once = float.nodes.iter().map(|node| float.macs(node)).fold(1, u64::saturating_add);
    let runs = MOST_MACS / once.saturating_mul(float.nodes.len().max(1) as u64);
    let most = usize::try_from(runs).unwrap_or(usize::MAX).max(1);
    let compared = &sets[..report.compared.max(1).min(most).min(sets.len())];
    let stop = || until.is_over();
    let mut seen = |seen, of| host.tell(Progress::Layer { seen, of });
    let layers = sensitivity(float, &model, compared, &mut seen, &stop).map_err(failed)?;
    Ok(Examined { report, layers, examined: compared.len(), samples })
}

/// Sets of inputs to quantise on, and how the model becomes int8, for people.
fn sets(
    float: &Model,
    samples: Samples<'_>,
    options: &QuantiseOptions,
) -> Result<(Vec<Vec<Data>>, String), Diagnostic> {
    let (sets, what) = match samples {
        Samples::Files(given) => {
            let sets = read(&given, float)?;
            let others = match given.len() {
                0 | 1 => String::new(),
                files => format!(" and {} other files", files - 1),
            };
            let name = given.first().map_or("nothing", |file| file.name);
            let what = format!("{} samples of {name}{others}", sets.len());
            (sets, what)
        }
        Samples::Random => {
            let range = Pixels::of(float).map_or_else(|| "0..1".to_owned(), |p| p.to_string());
            let what = format!("random samples (uniform in {range}): its answers mean nothing");
            (random(float, RANDOM_SAMPLES)?, format!("{RANDOM_SAMPLES} {what}"))
        }
    };
    Ok((sets, format!("quantised on {what}; calibration {}", options.rule)))
}

/// The samples of files, in their order.
fn read(given: &[SampleFile<'_>], model: &Model) -> Result<Vec<Vec<Data>>, Diagnostic> {
    let mut sets = Vec::new();
    for file in given {
        sets.extend(files::samples(file.name, file.bytes, model)?);
    }
    Ok(sets)
}

fn problem(error: &QuantiseError, float: &Model, until: &Until<'_>) -> Diagnostic {
    if matches!(error, QuantiseError::Run(RunError::Stopped)) {
        return until.problem("Quantising", "Give fewer samples, or a smaller model.");
    }
    let remedy = match error {
        QuantiseError::NoSamples | QuantiseError::NotFinite { .. } => {
            "Give samples like those that the model was trained on."
        }
        _ => "Replace this operator in the model by others that compute the same.",
    };
    Diagnostic::new(Blame::BadInput, sentence(&error.to_string()), float.name.clone(), remedy)
}

/// An int8 model, which needs no quantising.
pub(super) fn as_it_is(model: Model, samples: Samples<'_>) -> Result<Prepared, Diagnostic> {
    let sets = match samples {
        Samples::Files(given) => read(&given, &model)?,
        Samples::Random => random(&model, 1)?,
    };
    let first = sets.into_iter().next().unwrap_or_default();
    let samples = "int8 as the file has it".to_owned();
    Ok(Prepared { model, quantisation: None, samples, first })
}

/// Quantises `float`, and says how far it is.
fn calibrate(
    float: &Model,
    samples: &[Vec<Data>],
    options: &QuantiseOptions,
    host: &dyn Host,
    until: &Until<'_>,
) -> Result<(Model, QuantiseReport), QuantiseError> {
    let stop = || until.is_over();
    let mut calibration = Calibration::new(float, options)?;
    for (seen, sample) in samples.iter().enumerate() {
        host.tell(Progress::Sample { seen, of: samples.len() });
        calibration.observe_until(sample, &stop)?;
    }
    calibration.finish_until(&stop)
}

impl Prepared {
    /// An input file as the int8 model takes it: for a model with one input a PNG picture, a .npy
    /// array or raw int8 bytes; for several their raw bytes, one behind the other. States may be
    /// left out: they have what the model's file says, or are zero.
    ///
    /// # Errors
    /// [`Blame::BadInput`] if the file is none of these or has another size than the inputs.
    pub fn input(&self, name: &str, bytes: &[u8]) -> Result<Vec<Data>, Diagnostic> {
        read_inputs(&self.model, name, bytes)
    }
}

/// An input file as `model`, an int8 model, takes it: as [`Prepared::input`].
///
/// # Errors
/// As [`Prepared::input`].
pub fn read_inputs(model: &Model, name: &str, bytes: &[u8]) -> Result<Vec<Data>, Diagnostic> {
    let tensors: Vec<Tensor> = inputs(model).cloned().collect();
    let states: Vec<Option<Data>> =
        (0..tensors.len()).map(|position| model.first_state(position)).collect();
    let given = tensors.iter().zip(&states).filter(|(_, state)| state.is_none());
    let given: Vec<Tensor> = given.map(|(tensor, _)| tensor.clone()).collect();
    let all: usize = tensors.iter().filter_map(|tensor| tensor.shape.elements()).sum();
    let pixels = Pixels::of(model);
    if given.len() == tensors.len() || bytes.len() == all {
        return files::inputs(name, bytes, &tensors, pixels.as_ref());
    }
    let mut given = files::inputs(name, bytes, &given, pixels.as_ref())?.into_iter();
    Ok(states.into_iter().filter_map(|state| state.or_else(|| given.next())).collect())
}

/// The first `most` sets of inputs as the model takes them.
///
/// # Errors
/// [`Blame::BadInput`] if the samples do not suit the model.
pub fn real_inputs(
    model: &Model,
    samples: &Samples<'_>,
    most: usize,
) -> Result<Vec<Vec<Data>>, Diagnostic> {
    let mut sets = match samples {
        Samples::Files(given) => read(given, model)?,
        Samples::Random => random(model, most)?,
    };
    sets.truncate(most);
    Ok(sets)
}

/// Made-up inputs of a model: the same each time.
///
/// # Errors
/// [`Blame::TooLarge`] beyond a bound on their values.
pub fn random_inputs(model: &Model) -> Result<Vec<Data>, Diagnostic> {
    Ok(random(model, 1)?.pop().unwrap_or_default())
}

fn inputs(model: &Model) -> impl Iterator<Item = &Tensor> {
    model.inputs.iter().map(|id| model.tensor(*id))
}

/// Real inputs as the int8 model takes them.
fn quantised(model: &Model, real: Vec<Data>) -> Result<Vec<Data>, Diagnostic> {
    inputs(model)
        .zip(real)
        .map(|(tensor, data)| match (&data, &tensor.quantisation) {
            (Data::F32(values), Some(quantisation)) if tensor.dtype == DType::I8 => {
                Ok(Data::I8(quantisation.quantise(values)))
            }
            _ => Err(Diagnostic::ours(
                format!("The input '{}' is not int8 after quantising.", tensor.name),
                model.name.clone(),
            )),
        })
        .collect()
}

/// Values that made-up samples may have together.
const MOST_RANDOM: usize = 1 << 26;

/// Sets of inputs, uniform in 0..1 or the range of the model's pixels, or over all values of int8: xorshift64*, so that every machine
/// draws the same.
///
/// # Errors
/// [`Blame::TooLarge`] beyond [`MOST_RANDOM`] values.
fn random(model: &Model, count: usize) -> Result<Vec<Vec<Data>>, Diagnostic> {
    let sizes = inputs(model).map(|tensor| tensor.shape.elements().unwrap_or(usize::MAX));
    let values = sizes.fold(0, usize::saturating_add).saturating_mul(count);
    if values > MOST_RANDOM {
        return Err(Diagnostic::new(
            Blame::TooLarge,
            format!(
                "{count} random samples have {values} values, more than the {MOST_RANDOM} that \
                 are made up."
            ),
            model.name.clone(),
            "Give a .npy file with real samples, or export the model with a smaller input.",
        ));
    }
    let pixels = Pixels::of(model);
    let mut state = SEED;
    let mut next = || {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 40
    };
    let mut input = |tensor: &Tensor| {
        let size = tensor.shape.elements().unwrap_or(0);
        let channels = tensor.shape.dims().last().copied().unwrap_or(1).max(1);
        let real = |index: usize, share: f32| {
            pixels.as_ref().map_or(share, |pixels| pixels.real(share, index % channels))
        };
        match tensor.dtype {
            DType::I8 => Data::I8((0..size).map(|_| (next() >> 16) as i8).collect()),
            _ => Data::F32(
                (0..size).map(|at| real(at, next() as f32 / (1u32 << 24) as f32)).collect(),
            ),
        }
    };
    let mut set = || {
        let drawn = inputs(model).map(&mut input);
        let states = (0..).map(|position| model.first_state(position));
        drawn.zip(states).map(|(drawn, state)| state.unwrap_or(drawn)).collect()
    };
    Ok((0..count).map(|_| set()).collect())
}
