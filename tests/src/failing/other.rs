//! Images that were made for something else: another network, another board.

use fastrand::Rng;
use object::{Object, ObjectSection};
use tilewright_board::Board;
use tilewright_image::FirmwareImage;
use tilewright_plan::{Plan, Space};
use tilewright_protocol::CardJob;
use tilewright_report::FaultKind;

use super::draw::{Case, Drawn};
use crate::emulated;

/// How a board says that an image is not for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Kind of the fault; nothing of a firmware that knows nothing of this board, and can say nothing.
    pub kind: Option<FaultKind>,
    /// What the fault must say.
    pub says: &'static str,
}

const OF_CARD: Refusal =
    Refusal { kind: Some(FaultKind::Card), says: "store image belongs to another plan image" };
const OF_PLAN: Refusal =
    Refusal { kind: Some(FaultKind::Firmware), says: "plan image is for board" };
const OF_FIRMWARE: Refusal = Refusal { kind: None, says: "" };

/// Gives a case an image that was made for another network on its board (`drawn` anew by the caller), or for
/// the same network on another of `boards`.
///
/// # Errors
/// If there is none, for instance since the other board cannot run the network.
pub fn mistake(
    case: &mut Case,
    drawn: &Drawn,
    board: &Board,
    boards: &[Board],
    network: Option<&Case>,
    rng: &mut Rng,
) -> Result<(), String> {
    if let Some(other) = network {
        exchange_card(case, other, "other-network")?;
        case.what = format!("{}, the card's image that of {}", case.what, other.what);
        return Ok(());
    }
    let strangers: Vec<&Board> =
        boards.iter().filter(|other| other.core.kind != board.core.kind).collect();
    let other = strangers.get(rng.usize(..strangers.len().max(1))).ok_or("there is one board")?;
    let made = drawn.case_on(other)?;
    match rng.u8(0..4) {
        0 | 1 => exchange_card(case, &made, "other-board's-card")?,
        2 => {
            let image = plan_image(&made.job.elf)?;
            let firmware = emulated::firmware(board)?;
            let joined =
                FirmwareImage::new(&firmware, &image, board).map_err(|error| error.to_string())?;
            case.job.elf = joined.elf;
            case.job.card.clone_from(&made.job.card);
            (case.kind, case.refusal) = ("other-board's-plan", Some(OF_PLAN));
        }
        _ => {
            case.job.elf = made.job.elf;
            case.job.card.clone_from(&made.job.card);
            (case.kind, case.refusal) = ("other-board's-firmware", Some(OF_FIRMWARE));
        }
    }
    case.what = format!("{}, {} of {}", case.what, case.kind, other.id);
    Ok(())
}

/// The card holds what was made with another plan image, as many bytes as the plan uses at least: fewer are
/// refused as such.
fn exchange_card(case: &mut Case, other: &Case, kind: &'static str) -> Result<(), String> {
    let used = |plan: &Plan| plan.space(Space::Card);
    if used(&other.plan) < used(&case.plan) {
        return Err("the other image is shorter".to_owned());
    }
    let image = |card: &CardJob| card.image.clone();
    let theirs = other.job.card.as_ref().map(image).ok_or("the other uses no card")?;
    let ours = case.job.card.as_mut().ok_or("it uses no card")?;
    if ours.image == theirs {
        return Err("both images are the same".to_owned());
    }
    ours.image = theirs;
    (case.kind, case.refusal) = (kind, Some(OF_CARD));
    Ok(())
}

/// The plan image of a firmware image.
fn plan_image(elf: &[u8]) -> Result<Vec<u8>, String> {
    let file = object::File::parse(elf).map_err(|error| error.to_string())?;
    let section = file.section_by_name(".plan").ok_or("an image without plan")?;
    Ok(section.data().map_err(|error| error.to_string())?.to_vec())
}
