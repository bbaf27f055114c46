//! `tilewright train`: a network with weights of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tilewright_app::{Blame, Cancel, Diagnostic};
use tilewright_formats::input::write_npy;
use tilewright_model::float::Interpreter;
use tilewright_model::{Data, Model, int8};
use tilewright_report::{Kind, sentence};
use tilewright_runner::Native;
use tilewright_search::{Epoch, Samples, Training, TrainingError, TrainingSettings};

use super::json;
use crate::all_cores::{on_all_cores, side_by_side};
use crate::args::{ModelFile, Quantised, Train};
use crate::experiment::End;
use crate::outputs::{self, Readers};
use crate::progress::Teller;
use crate::text::{BOLD, Facts, Side, Table, number};
use crate::{Said, files, interrupt, labelled, load};

/// A step of the largest networks takes some seconds, and its end is waited for.
const GRACE: Duration = Duration::from_secs(60);

/// What was learnt is kept in its file whenever so many steps are done.
const KEPT_EVERY: usize = 100;

/// Largest file of what was learnt that is read.
const STATE_LIMIT: u64 = 1 << 30;

/// Images to quantise on.
const CALIBRATION: usize = 100;

#[derive(Debug, Serialize)]
struct Trained {
    model: String,
    images: usize,
    steps: usize,
    of: usize,
    epochs: Vec<Epoch>,
    /// Nothing if there are no images for it.
    accuracy: Option<Accuracy>,
    /// What was written.
    files: Vec<PathBuf>,
    /// Why it ended before its time.
    diverged: Option<String>,
}

/// Of images that were not learnt from.
#[derive(Debug, Serialize)]
struct Accuracy {
    images: usize,
    float_percent: f64,
    int8_percent: f64,
}

/// Trains a network, writes it, and says how many images it classifies rightly, as floats and as int8.
pub fn train(options: &Train) -> Result<Said, Diagnostic> {
    let calibration = options.output.with_extension("calibration.npy");
    apart(options, &calibration)?;
    let cancel = interrupt::cancelled_by_ctrl_c_within(GRACE)?;
    let model = load::model(&options.file, &Native::new(&mut |_| {}, &cancel))?;
    let name = model.name.clone();
    let [side, colours] = image(&model, &options.file)?;
    let samples = Arc::new(labelled::samples(&options.data, side, options.images)?);
    let unseen = unseen(&options.data, side)?;
    let mut training = begun(options, model, &samples)?;
    let diverged = taught(options, &mut training, &cancel)?;
    let trained = training.model(&side_by_side);
    outputs::write_model(&options.output, &trained)?;
    let count = CALIBRATION.min(samples.images());
    let images: Vec<f32> = (0..count).flat_map(|index| samples.image(index, colours)).collect();
    let array = write_npy(&[count, side, side, colours], &images);
    outputs::write(&calibration, Readers::All, &array)?;
    let accuracy = match unseen {
        Some(unseen) => accuracy(&options.output, &unseen, colours, &cancel)?,
        None => None,
    };
    let trained = Trained {
        model: name,
        images: samples.images(),
        steps: training.done(),
        of: training.steps(),
        epochs: training.log().to_vec(),
        accuracy,
        files: vec![options.output.clone(), calibration],
        diverged: diverged.as_ref().map(ToString::to_string),
    };
    if let Some(diverged) = diverged {
        crate::complain(&Diagnostic::new(
            Blame::BadInput,
            sentence(&diverged.to_string()),
            options.file.model.display().to_string(),
            "Give a lower --rate. What was learnt before is written.",
        ));
    }
    let code = match (cancel.is_cancelled(), &trained.diverged) {
        (true, _) => Blame::Cancelled.exit_code(),
        (false, Some(_)) => Blame::BadInput.exit_code(),
        (false, None) => 0,
    };
    let text = if options.json.json { json(&trained)? } else { words(options, &trained) };
    Ok(Said { text, code })
}

fn apart(options: &Train, calibration: &Path) -> Result<(), Diagnostic> {
    if outputs::is_tflite(&options.output) {
        return Err(Diagnostic::new(
            Blame::BadInput,
            "A trained network is float, and written as ONNX.",
            options.output.display().to_string(),
            "Give a name that ends in .onnx; `tilewright export` makes TensorFlow Lite of it.",
        ));
    }
    let state = options.state.as_deref();
    let written: Vec<&Path> = [&*options.output, calibration].into_iter().chain(state).collect();
    outputs::apart(&written, &[options.file.model.clone(), options.data.clone()])
}

fn wrong(error: &TrainingError, place: &Path) -> Diagnostic {
    let what_to_do = match error {
        TrainingError::InputsAndOutputs | TrainingError::Samples { .. } => {
            "Give a network with one square image for input and a value for each class for output, such as a text \
             of cells."
        }
        TrainingError::Operator { .. } => {
            "Give a network of convolutions, pools, sums and rectifiers, such as one of cells."
        }
        TrainingError::State(_) => "Give the options that it began with, or another --state.",
        _ => "Give other options; `tilewright train --help` lists them.",
    };
    Diagnostic::new(
        Blame::BadInput,
        sentence(&error.to_string()),
        place.display().to_string(),
        what_to_do,
    )
}

/// Height, which is its width, and channels of the model's image.
fn image(model: &Model, file: &ModelFile) -> Result<[usize; 2], Diagnostic> {
    let other = || wrong(&TrainingError::InputsAndOutputs, &file.model);
    let [input] = model.inputs.as_slice() else { return Err(other()) };
    match *model.tensor(*input).shape.dims() {
        [1, height, width, colours] if height == width => Ok([height, colours]),
        _ => Err(other()),
    }
}

/// Images that are not learnt from, if the folder has some.
fn unseen(data: &Path, side: usize) -> Result<Option<Samples>, Diagnostic> {
    let has_some = ["train", "t10k"].iter().all(|part| labelled::files_of(data, part).is_some());
    has_some.then(|| labelled::resized(data, &["t10k"], side, usize::MAX)).transpose()
}

/// A training that has done nothing yet, or what its file holds.
fn begun(options: &Train, model: Model, samples: &Arc<Samples>) -> Result<Training, Diagnostic> {
    let Train { seed, epochs, batch, rate, .. } = *options;
    let settings = TrainingSettings { seed, epochs, batch, rate };
    let mut training = Training::new(settings, model, samples.clone())
        .map_err(|error| wrong(&error, &options.file.model))?;
    if let Some(path) = options.state.as_ref().filter(|path| path.exists()) {
        let bytes = files::read(path, "state of the training", STATE_LIMIT)?;
        training.resume(&bytes).map_err(|error| wrong(&error, path))?;
    }
    Ok(training)
}

/// Takes all steps, or those until somebody cancels or the loss diverges: then that is given.
fn taught(
    options: &Train,
    training: &mut Training,
    cancel: &Cancel,
) -> Result<Option<TrainingError>, Diagnostic> {
    let mut teller = Teller::new();
    let keep = |training: &Training| match &options.state {
        Some(path) => {
            let bytes = training.state().map_err(|error| wrong(&error, path))?;
            outputs::write(path, Readers::All, &bytes)
        }
        None => Ok(()),
    };
    let mut diverged = None;
    while !cancel.is_cancelled() {
        match training.advance(&side_by_side) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error @ TrainingError::Diverged(_)) => {
                diverged = Some(error);
                break;
            }
            Err(error) => return Err(wrong(&error, &options.file.model)),
        }
        let last = match training.log().last() {
            Some(Epoch { epoch, loss, accuracy }) => {
                format!("epoch {epoch}: loss {loss:.3}, {:.1} % right", 100.0 * accuracy)
            }
            None => "epoch 1".to_owned(),
        };
        teller.tell_step(training.done(), training.steps(), &last);
        if training.done().is_multiple_of(KEPT_EVERY) {
            keep(training)?;
        }
    }
    keep(training)?;
    Ok(diverged)
}

/// Of the file that was written, as floats and as int8; nothing if somebody cancels.
fn accuracy(
    output: &Path,
    unseen: &Samples,
    colours: usize,
    cancel: &Cancel,
) -> Result<Option<Accuracy>, Diagnostic> {
    let file = ModelFile { model: output.to_owned(), dims: Vec::new() };
    let quantised = Quantised {
        file: file.clone(),
        samples: None,
        calibration: None,
        pixels: None,
        labels: None,
    };
    let host = &mut |_| {};
    let host = Native::new(host, cancel);
    let float = load::model(&file, &host)?;
    let int8 = load::prepared(&quantised, &host)?.model;
    let ours = |error: String| Diagnostic::ours(sentence(&error), "accuracy");
    let interpreter = Interpreter::new(&float).map_err(|error| ours(error.to_string()))?;
    let quantisation = int8.inputs.first().and_then(|id| int8.tensor(*id).quantisation.as_ref());
    let quantisation = quantisation.ok_or_else(|| ours("the input has no scale".to_owned()))?;
    let answers = |_: &mut (), index: usize| {
        let image: Vec<f32> = unseen.image(index, colours).collect();
        let label = usize::from(unseen.labels()[index]);
        let observe = &mut |_: _, _: &_| {};
        let of_float = interpreter.run(&[Data::F32(image.clone())], observe);
        let of_float = of_float.map_err(|error| ours(error.to_string()))?;
        let input = [Data::I8(quantisation.quantise(&image))];
        let of_int8 = int8::run(&int8, &input, &mut |_, _| {});
        let of_int8 = of_int8.map_err(|error| ours(error.to_string()))?;
        let is_right = |outputs: &[Data]| match outputs.first() {
            Some(Data::F32(values)) => largest(values) == Some(label),
            Some(Data::I8(values)) => largest(values) == Some(label),
            _ => false,
        };
        Ok(Some([is_right(&of_float), is_right(&of_int8)]))
    };
    let mut right = [0usize; 2];
    let take = |_, is_right: [bool; 2]| {
        right.iter_mut().zip(is_right).for_each(|(sum, is_right)| *sum += usize::from(is_right));
        Ok(())
    };
    let end = on_all_cores(unseen.images(), cancel, "images", answers, take)?;
    let percent = right.map(|right| 100.0 * right as f64 / unseen.images() as f64);
    let [float_percent, int8_percent] = percent;
    let images = unseen.images();
    Ok((end == End::Whole).then_some(Accuracy { images, float_percent, int8_percent }))
}

/// The first of the largest values.
fn largest<T: PartialOrd + Copy>(values: &[T]) -> Option<usize> {
    let mut best: Option<(usize, T)> = None;
    for (index, value) in values.iter().enumerate() {
        if best.is_none_or(|(_, most)| *value > most) {
            best = Some((index, *value));
        }
    }
    best.map(|(index, _)| index)
}

fn words(options: &Train, trained: &Trained) -> String {
    let mut table = Table::new(&[
        ("epoch", Side::Right),
        ("loss (measured)", Side::Right),
        ("right (measured)", Side::Right),
    ]);
    for Epoch { epoch, loss, accuracy } in &trained.epochs {
        table.row([epoch.to_string(), format!("{loss:.3}"), format!("{:.2} %", 100.0 * accuracy)]);
    }
    let mut facts = Facts::default();
    let Trained { model, images, steps, of, .. } = trained;
    facts.add("learnt from", format!("{} images", number(*images as u64)), None);
    facts.add("steps", format!("{} of {}", number(*steps as u64), number(*of as u64)), None);
    if let Some(Accuracy { images, float_percent, int8_percent }) = &trained.accuracy {
        let of = format!("of {} other images", number(*images as u64));
        facts.add("float", format!("{float_percent:.2} % {of}"), Some(Kind::Counted));
        facts.add("int8", format!("{int8_percent:.2} % {of}"), Some(Kind::Counted));
    }
    let files: Vec<String> = trained.files.iter().map(|file| file.display().to_string()).collect();
    facts.add("written", files.join(", "), None);
    let mut text = format!("{BOLD}{model}, trained{BOLD:#}\n{}\n{}", facts.print(), table.print());
    if steps < of && trained.diverged.is_none() {
        text += match options.state {
            Some(_) => "\nStopped before its end. The same command goes on with it.\n",
            None => {
                "\nStopped before its end. With --state the same command could go on with it.\n"
            }
        };
    }
    text + &format!("\nNext: tilewright run {} --board stm32f746g-disco\n", files[0])
}
