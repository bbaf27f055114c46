//! What is done about wrong bytes from a card: images with checksums, or sealed.

use tilewright_board::Board;
use tilewright_image::{Checks, checked_plan_image, plan_image, sealed_plan_image};
use tilewright_model::Model;
use tilewright_plan::image::ALIGNMENT;
use tilewright_planner::simulate::checking;
use tilewright_planner::{self as planner, Planned};
use tilewright_seal::{KEY_BYTES, Key};

use super::plan::ours;
use crate::message::{CheckFacts, Integrity, Trouble};
use crate::view_model::figures;

/// As the planner says it.
pub const fn for_planner(integrity: Integrity) -> planner::Integrity {
    match integrity {
        Integrity::Trusted => planner::Integrity::Trusted,
        Integrity::Checked => planner::Integrity::Checked,
        Integrity::Sealed => planner::Integrity::Sealed,
    }
}

/// What checking takes; nothing if nothing is to be checked.
pub fn of(planned: &Planned, integrity: Integrity) -> Option<Checks> {
    if integrity == Integrity::Trusted {
        return None;
    }
    let checks = Checks::of(&planned.plan);
    (checks.copy_checksums > 0 || planned.plan.sector_checksums.is_some()).then_some(checks)
}

/// The same for people.
pub fn facts(checks: &Checks, board: &Board) -> CheckFacts {
    let cycles = checking(board, checks.checked_bytes.0, checks.tags);
    CheckFacts {
        stored: checks.copy_checksums,
        kept: checks.sector_checksums,
        bytes: checks.checked_bytes.0,
        core_us: cycles.at(board.core.clock.hertz).0,
    }
}

/// Why the plan image has no room for checksums or tags, if it has none.
pub fn too_large(checks: &Checks, planned: &Planned, board: &Board) -> Option<String> {
    // The section itself begins at a multiple of the alignment.
    let more = checks.image_bytes().align_up(ALIGNMENT as u64);
    let (needed, had) = (planned.plan.image_bytes() + more, board.plan_bytes());
    let sums = if checks.tags.is_some() { "tags" } else { "checksums" };
    (needed > had).then(|| {
        let [needed, had] = [needed, had].map(|bytes| figures::bytes(bytes.0));
        format!("the plan with its {sums} takes {needed} of flash, {had} are there.")
    })
}

/// The plan image. One that is sealed has another key each time.
///
/// # Errors
/// If there is none, or the browser has no random numbers.
pub fn image(planned: &Planned, model: &Model, integrity: Integrity) -> Result<Vec<u8>, Trouble> {
    let plan = &planned.plan;
    match of(planned, integrity).map(|checks| checks.tags) {
        None => plan_image(plan, model),
        Some(None) => checked_plan_image(plan, model),
        Some(Some(_)) => {
            let mut bytes = [0; KEY_BYTES];
            getrandom::fill(&mut bytes).map_err(|error| ours("key", &error))?;
            sealed_plan_image(plan, model, Key::new(bytes))
        }
    }
    .map_err(|error| ours("plan image", &error))
}
