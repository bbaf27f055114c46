//! What a run does with an upload.

use tilewright_board::Board;

use super::Shared;
use super::upload::Upload;
use crate::pipeline::{Machine, PlanFile, run_image};
use crate::problem::{Blame, Problem};
use crate::runs::Work;

/// The work of a run of `upload` on `board`. What can be said of the upload without much work is
/// said here, before it waits for others.
///
/// # Errors
/// What is wrong with the upload.
pub fn of(shared: &Shared, board: Board, upload: Upload) -> Result<Work, Problem> {
    if let Some(image) = upload.image {
        return of_image(shared, board, &image, upload.input, upload.layers);
    }
    Err(Problem::ours("models are not taken yet", "upload"))
}

fn of_image(
    shared: &Shared,
    board: Board,
    image: &[u8],
    input: Option<Vec<u8>>,
    layers: bool,
) -> Result<Work, Problem> {
    let file = PlanFile::read(image, &board)?;
    let needed = file.input_bytes(&board)?;
    let payload = input.ok_or_else(|| {
        Problem::new(
            Blame::BadInput,
            "A plan image alone holds no input.",
            "input",
            format!("Add the part `input`: the {needed} int8 bytes of all inputs."),
        )
    })?;
    if payload.len() as u64 != needed {
        return Err(Problem::new(
            Blame::BadInput,
            format!("The input has {} bytes, the program reads {needed}.", payload.len()),
            "input",
            "Send the int8 bytes of all inputs, one behind the other.",
        ));
    }
    let shared = shared.clone();
    Ok(Box::new(move |progress, cancel| {
        let machine = machine(&shared);
        run_image(&machine, &board, &file, &payload, layers, progress, cancel)
    }))
}

fn machine(shared: &Shared) -> Machine<'_> {
    let config = shared.config();
    Machine {
        executor: shared.executor().as_ref(),
        dist: shared.dist(),
        worker: config.worker,
        instructions: config.instructions,
        console_bytes: config.console_bytes,
    }
}
