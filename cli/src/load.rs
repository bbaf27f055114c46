//! From the command line's words to values.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tilewright_app::zoo::{self, Network};
use tilewright_app::{
    Blame, Bounds, CompareFloat, Diagnostic, Examined, FloatSubject, Host, Prepared, SampleFile,
    Samples,
};
use tilewright_board::Board;
use tilewright_model::quantise::QuantiseOptions;
use tilewright_model::{Data, Model, Store};
use tilewright_planner::{Integrity, Options, Recipe};
use tilewright_report::{FloatComparison, PlanSettings};

use crate::args::{FromRecipe, ModelFile, OnBoard, Quantised};
use crate::files::{self, INPUT_LIMIT, LABELS_LIMIT, MODEL_LIMIT, SAMPLES_LIMIT};

/// The word that stands for made-up samples.
const RANDOM: &str = "random";

/// The board with the firmware that is asked for, and the planner's choices.
///
/// # Errors
/// [`Blame::BadInput`] at the option that is wrong.
pub fn asked(on: &OnBoard, integrity: Integrity) -> Result<(Board, Options), Diagnostic> {
    match tilewright_app::resolve(&on.settings(integrity)) {
        Ok(resolved) => Ok((resolved.board, resolved.options)),
        Err(problem) => {
            Err(Diagnostic { place: format!("--{}", problem.place.replace('_', "-")), ..problem })
        }
    }
}

/// The board of this name.
///
/// # Errors
/// If there is none.
pub fn board_of(name: &str) -> Result<Board, Diagnostic> {
    let settings = PlanSettings { board: name.to_owned(), ..PlanSettings::default() };
    tilewright_app::board_of(&settings)
        .map_err(|problem| Diagnostic { place: "--board".to_owned(), ..problem })
}

/// The file's name without its folder.
fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The model of a file, float or int8.
///
/// # Errors
/// If the file cannot be read or imported.
pub fn model(file: &ModelFile, host: &dyn Host) -> Result<Model, Diagnostic> {
    if let Some(network) = of_zoo_whole(file)? {
        return Ok(network.float().clone());
    }
    with_file(&file.model, |opened| tilewright_app::import(opened, &file.dims, host))
}

/// What `work` makes of a model's file with those beside it.
fn with_file<T>(
    path: &Path,
    work: impl FnOnce(&tilewright_formats::ModelFile<'_>) -> Result<T, Diagnostic>,
) -> Result<T, Diagnostic> {
    let bytes = Arc::new(files::open(path, "model", MODEL_LIMIT)?);
    let beside = |beside: &str| {
        let found = files::beside(path, beside)?;
        Ok(found.map(|file| Arc::new(file) as Arc<dyn Store>))
    };
    work(&tilewright_formats::ModelFile { name: &name(path), bytes, beside: &beside })
}

/// The network, if the path is the name of one of the zoo's.
///
/// # Errors
/// If the zoo has no such network.
pub fn of_zoo(path: &Path) -> Result<Option<Network>, Diagnostic> {
    let name = path.to_str().filter(|name| name.starts_with(zoo::PREFIX));
    name.map(zoo::network).transpose()
}

/// The network, if the model is one of the zoo's or a text of cells, with no dimension to say.
fn of_zoo_whole(file: &ModelFile) -> Result<Option<Network>, Diagnostic> {
    let mut network = of_zoo(&file.model)?;
    if network.is_none() && zoo::is_cells(&name(&file.model)) {
        network = with_file(&file.model, zoo::of_file)?;
    }
    if let (Some(_), Some((dim, _))) = (&network, file.dims.first()) {
        let name = file.model.display();
        return Err(Diagnostic::new(
            Blame::BadInput,
            format!("'{name}' leaves no dimension '{dim}' open."),
            "--dim",
            "Give the resolution in the name, as in zoo:mobilenet-v2-r96.",
        ));
    }
    Ok(network)
}

/// The model's name without folder and ending, as a part of files' names.
///
/// # Errors
/// If the zoo has no such network.
pub fn stem(file: &ModelFile) -> Result<String, Diagnostic> {
    Ok(of_zoo(&file.model)?.map_or_else(|| files::stem(&file.model), |network| network.name))
}

/// The network, if the model is one of the zoo's with analytic scales.
///
/// # Errors
/// If the zoo has no such network.
pub fn network(options: &Quantised) -> Result<Option<Network>, Diagnostic> {
    if options.samples.is_some() { Ok(None) } else { of_zoo_whole(&options.file) }
}

/// The int8 model of a file.
///
/// # Errors
/// If the file cannot be read or imported, there are no samples, or it has no int8 form.
pub fn prepared(options: &Quantised, host: &dyn Host) -> Result<Prepared, Diagnostic> {
    if let (None, Some(network)) = (&options.samples, of_zoo_whole(&options.file)?) {
        for (is_given, option) in [
            (options.calibration.is_some(), "--calibration"),
            (options.pixels.is_some(), "--pixels"),
        ] {
            if is_given {
                return Err(unused("A network of the zoo has analytic scales.", option));
            }
        }
        let mut prepared = zoo::analytic(&network, &Bounds::default(), host)?;
        name_classes(options, &mut prepared.model)?;
        return Ok(prepared);
    }
    let model = described(options, host)?;
    if model.is_int8() && options.calibration.is_some() {
        return Err(unused("The model is int8 already.", "--calibration"));
    }
    let is_quantised = !model.is_int8() && model.opaque_in_words().is_none();
    let given =
        if !is_quantised && options.samples.is_none() { Given::Random } else { given(options)? };
    // Whoever waits here can see how far it is, and end it.
    let bounds = Bounds::default();
    tilewright_app::prepare(model, given.samples(), &quantising(options), &bounds, host)
}

/// What quantising does to the float model of a file, shown on up to so many samples.
///
/// # Errors
/// As [`prepared`], or if the model is int8.
pub fn examined(
    options: &Quantised,
    report_samples: usize,
    host: &dyn Host,
) -> Result<(Model, Examined), Diagnostic> {
    if options.samples.is_none() && of_zoo_whole(&options.file)?.is_some() {
        return Err(Diagnostic::new(
            Blame::BadInput,
            "A network of the zoo has seeded weights and no samples of its own.",
            "--quantisation",
            "Give --samples FILE.npy or --samples random.",
        ));
    }
    let model = described(options, host)?;
    let given = if model.is_int8() { Given::Random } else { given(options)? };
    let quantising = QuantiseOptions { report_samples, ..quantising(options) };
    let examined =
        tilewright_app::examine(&model, given.samples(), &quantising, &Bounds::default(), host)?;
    Ok((model, examined))
}

/// The int8 model beside its float form, as `compare` finds it, and how it became int8.
///
/// # Errors
/// As [`prepared`], or if there is no float form, or tract does not run the file.
pub fn compared(
    options: &Quantised,
    compare: CompareFloat,
    host: &dyn Host,
) -> Result<(FloatComparison, String), Diagnostic> {
    let network = of_zoo_whole(&options.file)?;
    let model = described(options, host)?;
    let has_own = network.is_some() || model.is_int8();
    let given = if has_own && options.samples.is_none() { Given::Random } else { given(options)? };
    let prepared = match (&network, &options.samples) {
        (Some(network), None) => zoo::analytic(network, &Bounds::default(), host)?,
        _ => {
            let (quantising, bounds) = (quantising(options), Bounds::default());
            tilewright_app::prepare(model.clone(), given.samples(), &quantising, &bounds, host)?
        }
    };
    let (model, int8, dims) = (&model, &prepared.model, &options.file.dims[..]);
    let samples = given.samples();
    let found = match network {
        Some(_) => compare(&FloatSubject { file: None, dims, model, int8, samples }, host),
        None => with_file(&options.file.model, |file| {
            compare(&FloatSubject { file: Some(file), dims, model, int8, samples }, host)
        }),
    };
    Ok((found?, prepared.samples))
}

/// The model of a file, with the range of pixels and the class names that were given.
fn described(options: &Quantised, host: &dyn Host) -> Result<Model, Diagnostic> {
    let mut model = model(&options.file, host)?;
    if let Some(pixels) = &options.pixels {
        pixels.set(&mut model);
    }
    name_classes(options, &mut model)?;
    Ok(model)
}

/// Gives a model the class names that were given.
///
/// # Errors
/// If their file cannot be read.
pub fn name_classes(options: &Quantised, model: &mut Model) -> Result<(), Diagnostic> {
    let Some(path) = &options.labels else { return Ok(()) };
    let names = files::read(path, "labels", LABELS_LIMIT)?;
    tilewright_formats::take_class_file(model, &name(path), &names);
    Ok(())
}

fn unused(why: &str, option: &str) -> Diagnostic {
    let what_to_do = format!("Leave {option} out, or give a float model with --samples.");
    Diagnostic::new(Blame::BadInput, format!("{why} Nothing is calibrated."), option, what_to_do)
}

fn quantising(options: &Quantised) -> QuantiseOptions {
    let mut quantising = QuantiseOptions::default();
    quantising.rule = options.calibration.unwrap_or(quantising.rule);
    quantising
}

/// Samples as they were asked for.
enum Given {
    Random,
    File(String, Vec<u8>),
}

impl Given {
    fn samples(&self) -> Samples<'_> {
        match self {
            Self::Random => Samples::Random,
            Self::File(name, bytes) => Samples::Files(vec![SampleFile { name, bytes }]),
        }
    }
}

fn given(options: &Quantised) -> Result<Given, Diagnostic> {
    let path = match &options.samples {
        Some(word) if word.as_os_str() == RANDOM => return Ok(Given::Random),
        Some(path) => path.clone(),
        None => beside(&options.file.model)?,
    };
    let bytes = files::read(&path, "samples file", SAMPLES_LIMIT)?;
    Ok(Given::File(name(&path), bytes))
}

/// The files that are read of a model and its samples, as far as the command line names them.
pub fn files(options: &Quantised) -> Vec<PathBuf> {
    let samples = match &options.samples {
        Some(path) => path.clone(),
        None => beside(&options.file.model).unwrap_or_default(),
    };
    vec![options.file.model.clone(), samples]
}

/// The samples file that belongs to a model.
fn beside(model: &Path) -> Result<PathBuf, Diagnostic> {
    let path = model.with_file_name(format!("{}.calibration.npy", files::stem(model)));
    if path.is_file() {
        return Ok(path);
    }
    Err(Diagnostic::new(
        Blame::BadInput,
        format!(
            "A float model is quantised on samples of its input, but there is no {}.",
            path.display()
        ),
        "--samples",
        "Give --samples FILE.npy with some dozen real inputs (the first dimension counts them), \
         or --samples random if only memory and time matter.",
    ))
}

/// The input to run on: a file's, or the first sample.
///
/// # Errors
/// If the file cannot be read or does not suit the model.
pub fn input(prepared: &Prepared, file: Option<&Path>) -> Result<Vec<Data>, Diagnostic> {
    let Some(path) = file else { return Ok(prepared.first.clone()) };
    let bytes = files::read(path, "input", INPUT_LIMIT)?;
    prepared.input(&name(path), &bytes)
}

/// Most bytes of a recipe: a large network's has a megabyte.
const RECIPE_LIMIT: u64 = 64 << 20;

/// The recipe that was given instead of a strategy.
///
/// # Errors
/// If the file cannot be read, or is no recipe of the model.
pub fn recipe(from: &FromRecipe, model: &Model) -> Result<Option<Recipe>, Diagnostic> {
    let Some(path) = &from.recipe else { return Ok(None) };
    let bytes = files::read(path, "recipe", RECIPE_LIMIT)?;
    let recipe = Recipe::read(&String::from_utf8_lossy(&bytes), model);
    recipe.map(Some).map_err(tilewright_app::no_recipe)
}
