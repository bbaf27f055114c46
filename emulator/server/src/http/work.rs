//! What a run does with an upload.

use std::sync::Arc;

use tilewright_board::Board;
use tilewright_formats::ModelFile;
use tilewright_model::Store;
use tilewright_model::quantise::QuantiseOptions;
use tilewright_planner::{Integrity, Options, Strategy};
use tilewright_protocol::Mode;

use super::Shared;
use super::upload::Upload;
use crate::pipeline::{self, Machine, PlanFile, Samples};
use crate::problem::{Blame, Problem};
use crate::runs::Work;

/// The work of a run of `upload` on `board`. What can be said of the upload without much work is
/// said here, before it waits for others.
///
/// # Errors
/// What is wrong with the upload.
pub fn of(shared: &Shared, board: Board, mut upload: Upload) -> Result<Work, Problem> {
    // Without firmware there is nothing to run; its bytes are read when the run's turn has come.
    if !shared.dist().has_firmware(&board.id) {
        shared.dist().firmware(&board.id)?;
    }
    match upload.image.take() {
        Some(image) => of_image(shared, board, &image, upload),
        None => of_model(shared, board, upload),
    }
}

fn of_image(
    shared: &Shared,
    board: Board,
    image: &[u8],
    mut upload: Upload,
) -> Result<Work, Problem> {
    let (external_flash, card) = (upload.external_flash.take(), upload.card.take());
    let file = PlanFile::read(image, &board)?;
    let file = file.with_brought_stores(&board, external_flash, card)?;
    let input = upload.input.as_deref().ok_or_else(|| {
        Problem::new(
            Blame::BadInput,
            "A plan image alone holds no input.",
            "input",
            "Add the part `input`: the int8 bytes of all inputs, or a PNG picture.",
        )
    })?;
    let payload = file.payload(&board, "input", input)?;
    let (shared, layers, mode) = (shared.clone(), upload.layers, upload.mode);
    Ok(Box::new(move |progress, cancel| {
        let machine = machine(&shared, mode);
        pipeline::run_image(&machine, &board, &file, &payload, layers, progress, cancel)
    }))
}

fn of_model(shared: &Shared, board: Board, mut upload: Upload) -> Result<Work, Problem> {
    let network = upload.zoo.as_deref().map(pipeline::zoo::network).transpose()?;
    let shared = shared.clone();
    Ok(Box::new(move |progress, cancel| {
        let bounds = &shared.config().quantising;
        let mut options = QuantiseOptions::default();
        options.rule = upload.calibration.unwrap_or(options.rule);
        let options = &options;
        let prepared = match (network, &upload.samples) {
            (Some(network), None) => pipeline::zoo::analytic(&network, bounds, progress, cancel)?,
            (Some(network), Some(samples)) => {
                let given = Samples::File("samples", samples);
                pipeline::prepare(
                    network.float().clone(),
                    given,
                    options,
                    bounds,
                    progress,
                    cancel,
                )?
            }
            (None, samples) => {
                let name = upload.model_name.as_deref().unwrap_or("model.onnx");
                let model = Arc::new(upload.model.take().unwrap_or_default());
                let data: Vec<(String, Arc<dyn Store>)> = std::mem::take(&mut upload.data)
                    .into_iter()
                    .map(|(name, bytes)| (name, Arc::new(bytes) as Arc<dyn Store>))
                    .collect();
                let imported = {
                    let beside = |path: &str| Ok(named(&data, path));
                    let file = ModelFile { name, bytes: model, beside: &beside };
                    pipeline::import(&file, &upload.dims, progress, cancel)?
                };
                drop(data);
                if imported.is_int8() && upload.calibration.is_some() {
                    return Err(int8_already(&imported.name));
                }
                let given = match samples {
                    Some(samples) => Samples::File("samples", samples),
                    None if imported.is_int8() || imported.opaque_in_words().is_some() => {
                        Samples::Random
                    }
                    None => return Err(no_samples()),
                };
                pipeline::prepare(imported, given, options, bounds, progress, cancel)?
            }
        };
        let inputs = match &upload.input {
            Some(input) => prepared.input("input", input)?,
            None => prepared.first.clone(),
        };
        let (strategy, options) = (Strategy::Resident, Options::default());
        let planned =
            pipeline::checked_plan(&prepared.model, &board, strategy, &options, progress, cancel)?;
        let machine = machine(&shared, upload.mode);
        let mut done = pipeline::run_plan(
            &machine,
            &board,
            &prepared.model,
            &planned,
            &inputs,
            progress,
            cancel,
        )?;
        if !upload.layers {
            done.layers = None;
        }
        Ok(done)
    }))
}

/// The file of this path from the model's folder; an upload's parts have no folders.
fn named(data: &[(String, Arc<dyn Store>)], path: &str) -> Option<Arc<dyn Store>> {
    let last = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let file = data.iter().find(|(name, _)| last(name) == last(path));
    file.map(|(_, bytes)| Arc::clone(bytes))
}

fn int8_already(name: &str) -> Problem {
    Problem::new(
        Blame::BadInput,
        "The model is int8 already: nothing is calibrated.",
        name,
        "Leave the part `calibration` out, or upload the float model with `samples`.",
    )
}

fn no_samples() -> Problem {
    Problem::new(
        Blame::BadInput,
        "A float model is quantised on samples of its input, but none came.",
        "samples",
        "Add the part `samples`: a .npy file of some dozen inputs. Or plan the model in the page, \
         and upload the plan image.",
    )
}

fn machine(shared: &Shared, mode: Mode) -> Machine<'_> {
    let config = shared.config();
    Machine {
        card: None,
        integrity: Integrity::Trusted,
        card_faults: &[],
        executor: shared.executor().as_ref(),
        dist: shared.dist(),
        worker: config.worker,
        instructions: config.instructions,
        console_bytes: config.console_bytes,
        mode,
    }
}
