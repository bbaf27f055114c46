//! What is done about wrong bytes from a card: images with checksums, or sealed.

use tilewright_board::Board;
use tilewright_image::{Checks, ImageBuildError, Images};
use tilewright_model::Model;
use tilewright_plan::PlanImage;
use tilewright_plan::image::{ALIGNMENT, AlignedBytes, Expected};
use tilewright_planner::{Integrity, Planned};
use tilewright_report::{Blame, Diagnostic, sentence};
use tilewright_seal::{KEY_BYTES, Key};

use crate::host::Host;

/// What checking the copies of a plan takes, or sealing them; nothing if nothing is checked.
#[must_use]
pub fn checks_of(planned: &Planned, integrity: Integrity) -> Option<Checks> {
    if integrity == Integrity::Trusted {
        return None;
    }
    let checks = Checks::of(&planned.plan);
    (checks.copy_checksums > 0 || planned.plan.sector_checksums.is_some()).then_some(checks)
}

/// Whether the plan image has room for checksums, or for key and tags.
///
/// # Errors
/// [`Blame::DoesNotFit`] with what it takes and what is there.
pub fn room_for(checks: &Checks, planned: &Planned, board: &Board) -> Result<(), Diagnostic> {
    // The section itself begins at a multiple of the alignment.
    let more = checks.image_bytes().align_up(ALIGNMENT as u64);
    let (needed, had) = (planned.plan.image_bytes() + more, board.plan_bytes());
    if needed <= had {
        return Ok(());
    }
    let (asked, sums) = match checks.tags {
        None => ("--integrity", "checksums"),
        Some(_) => ("--encrypt", "tags"),
    };
    Err(Diagnostic::new(
        Blame::DoesNotFit,
        format!("The plan with its {sums} takes {needed} of flash, {had} are there."),
        asked,
        "Leave it out, or give larger buffers.",
    ))
}

/// What checking the copies of a plan takes, where somebody asked for it.
///
/// # Errors
/// [`Blame::BadInput`] if the plan brings nothing from a card's store image, [`Blame::DoesNotFit`] if
/// the plan image has no room for the checksums, or for key and tags.
pub fn checks(planned: &Planned, board: &Board) -> Result<Checks, Diagnostic> {
    let checks = Checks::of(&planned.plan);
    if checks.copy_checksums == 0 {
        let strategy = &planned.report.strategy;
        return Err(Diagnostic::new(
            Blame::BadInput,
            format!("This plan brings nothing from a card: its strategy is {strategy}."),
            "strategy",
            "Give `--strategy swap` or `--strategy stream`, or leave it out.",
        ));
    }
    room_for(&checks, planned, board)?;
    Ok(checks)
}

/// The plan image alone, without its stores. One that is sealed has another key each time.
///
/// # Errors
/// If there is none, or the host has no random numbers.
pub fn plan_image(
    planned: &Planned,
    model: &Model,
    integrity: Integrity,
    host: &dyn Host,
) -> Result<Vec<u8>, Diagnostic> {
    let (plan, model) = (&planned.plan, planned.model(model));
    match checks_of(planned, integrity).map(|checks| checks.tags) {
        None => tilewright_image::plan_image(plan, model),
        Some(None) => tilewright_image::checked_plan_image(plan, model),
        Some(Some(_)) => tilewright_image::sealed_plan_image(plan, model, new_key(host)?),
    }
    .map_err(no_image)
}

/// The plan image with its stores. One that is sealed has another key each time.
///
/// # Errors
/// As [`plan_image`].
pub fn images(
    planned: &Planned,
    model: &Model,
    integrity: Integrity,
    host: &dyn Host,
) -> Result<Images, Diagnostic> {
    let key = || new_key(host);
    images_with(planned, model, integrity, key)
}

/// The same images again that `image`, a plan image, was made with: of sealed ones with its key.
///
/// # Errors
/// If the plan does not become the same image again, which is a fault of ours.
pub fn images_again(
    planned: &Planned,
    model: &Model,
    board: &Board,
    integrity: Integrity,
    image: &[u8],
) -> Result<Images, Diagnostic> {
    let ours = |what: &str| Diagnostic::ours(what, "plan image");
    let key = || key_of(image, board).ok_or_else(|| ours("It has no key."));
    let images = images_with(planned, model, integrity, key)?;
    if images.plan == image { Ok(images) } else { Err(ours("Made anew, it is another.")) }
}

fn images_with(
    planned: &Planned,
    model: &Model,
    integrity: Integrity,
    key: impl FnOnce() -> Result<Key, Diagnostic>,
) -> Result<Images, Diagnostic> {
    let (plan, model) = (&planned.plan, planned.model(model));
    match checks_of(planned, integrity).map(|checks| checks.tags) {
        None => tilewright_image::images(plan, model),
        Some(None) => tilewright_image::checked_images(plan, model),
        Some(Some(_)) => tilewright_image::sealed_images(plan, model, key()?),
    }
    .map_err(no_image)
}

fn no_image(error: ImageBuildError) -> Diagnostic {
    Diagnostic::ours(sentence(&error.to_string()), "plan image")
}

/// A key that nobody knows, for one image.
fn new_key(host: &dyn Host) -> Result<Key, Diagnostic> {
    let mut bytes = [0; KEY_BYTES];
    host.fill_random(&mut bytes)?;
    Ok(Key::new(bytes))
}

/// The key that the stores of a plan image are sealed with.
fn key_of(image: &[u8], board: &Board) -> Option<Key> {
    let image = AlignedBytes::copy_of(image);
    let expected = Expected { board: &board.id, space_bytes: board.space_bytes() };
    let words = *PlanImage::read(image.bytes(), &expected).ok()?.key()?;
    let mut bytes = [0; KEY_BYTES];
    for (place, word) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(words) {
        *place = word.to_le_bytes();
    }
    Some(Key::new(bytes))
}
