//! The files with which a plan runs inside firmware that somebody writes: a C library for the board's core, the plan
//! image as C source, and a target for CMake.

mod model;
mod text;

use tilewright_board::{Board, CoreKind};
use tilewright_report::{Blame, Diagnostic};

use crate::package::PackagedFile;
use crate::plan_file::PlanFile;

/// The C interface, as `firmware/library` has it.
const HEADER: &str = include_str!("../../../firmware/library/include/tilewright.h");

/// Name of the static library.
pub const ARCHIVE: &str = "libtilewright.a";

/// Name under `dist/library` of the static library for a core.
#[must_use]
pub fn archive_name(core: CoreKind) -> String {
    format!("libtilewright-{}.a", core.id())
}

/// The files of a plan for firmware of one's own: `archive` is the static library for the board's core. Names are the
/// same for each model, so that a project need not change with it.
///
/// # Errors
/// [`Blame::BadInput`] if the plan demands what only the board's own firmware does.
pub fn library(
    stem: &str,
    board: &Board,
    archive: &[u8],
    plan: &PlanFile,
) -> Result<Vec<PackagedFile>, Diagnostic> {
    if let Some(demand) = plan.image().demand() {
        return Err(Diagnostic::new(
            Blame::BadInput,
            format!("The library cannot run this plan: {demand}."),
            "--library",
            format!(
                "Leave out --library for an image with the board's firmware; or {}.",
                demand.advice()
            ),
        ));
    }
    let file = |name: &str, what, bytes: &[u8]| PackagedFile {
        name: name.to_owned(),
        what,
        bytes: bytes.to_vec(),
    };
    let mut files = vec![
        file(ARCHIVE, "runtime and kernels for the board's core", archive),
        file("tilewright.h", "the interface in C", HEADER.as_bytes()),
        file("model.h", "sizes, scales and zero points", model::header(stem, plan).as_bytes()),
        file("model.c", "the plan image", model::source(plan).as_bytes()),
        file("CMakeLists.txt", "the target tilewright::model", text::CMAKE.as_bytes()),
    ];
    let stores = [
        ("model.flash", "what external flash holds", plan.external_flash()),
        ("model.card", "what the card holds, from its first block on", plan.card()),
    ];
    for (name, what, bytes) in stores.into_iter().filter(|(_, _, bytes)| !bytes.is_empty()) {
        files.push(file(name, what, bytes));
    }
    let readme = text::readme(stem, board, plan, &files);
    files.push(file("README.txt", "how to use them", readme.as_bytes()));
    Ok(files)
}

#[cfg(test)]
mod tests;
