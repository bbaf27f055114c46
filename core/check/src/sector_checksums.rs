//! Checksums or tags that the firmware keeps of a card's sectors lie apart from all that programs use; of a
//! sealed plan all that is swapped is sealed.

use std::ops::Range;

use crate::transfers;
use tilewright_plan::{Instruction, Plan, SectorChecksums, Space, Span};

/// Bytes of a card's sector.
const SECTOR: u64 = 512;

/// Checks where they lie, and that each sector behind the weights has one.
///
/// # Errors
/// Says what lies over them, or which sector has none.
pub fn check(plan: &Plan) -> Result<(), String> {
    let Some(checksums) = plan.sector_checksums else { return Ok(()) };
    let place = u64::from(checksums.offset)..checksums.end();
    if checksums.first == 0 || !checksums.offset.is_multiple_of(SectorChecksums::ALIGNMENT) {
        return Err(
            "checksums of the card share a line of the cache, or are of its header".to_owned()
        );
    }
    if place.end > plan.space(Space::Arena).0 {
        return Err("checksums of the card end behind the arena".to_owned());
    }
    let blocks = plan.constants.iter().filter(|block| block.space == Space::Card);
    let weights = blocks.map(|block| block.offset + block.bytes.0).max().unwrap_or(SECTOR);
    let first = weights.div_ceil(SECTOR);
    let end = u64::from(checksums.first) + u64::from(checksums.sectors);
    if u64::from(checksums.first) > first || end * SECTOR < plan.space(Space::Card).0 {
        return Err("sectors that programs write have no checksum".to_owned());
    }
    if u64::from(checksums.first) < first {
        return Err("sectors of the store image have checksums twice".to_owned());
    }
    let lies_over = |range: Range<u64>| range.start < place.end && place.start < range.end;
    let in_arena = |space: Option<Space>| space == Some(Space::Arena);
    for tensor in plan.tensors.iter().filter(|tensor| in_arena(Some(tensor.space))) {
        if lies_over(tensor.offset..tensor.offset.saturating_add(tensor.extent())) {
            return Err(format!("tensor '{}' lies over checksums of the card", tensor.name));
        }
    }
    let views = plan.views.iter().filter(|view| in_arena(view.space()));
    let spans = plan.spans.iter().filter(|span| in_arena(span.space()));
    let views = views.map(|view| (u64::from(view.offset), view.extent()));
    let spans = spans.map(|span| (u64::from(span.offset), span.extent()));
    let ranges = views.chain(spans).map(|(start, bytes)| start..start.saturating_add(bytes));
    if let Some(range) = ranges.into_iter().find(|range| lies_over(range.clone())) {
        return Err(format!("bytes {range:?} of the arena lie over checksums of the card"));
    }
    if checksums.sealed { check_sealed(plan, checksums) } else { Ok(()) }
}

/// Each copy from or to the card moves sectors that have tags, or brings some of the store image in one run.
fn check_sealed(plan: &Plan, checksums: SectorChecksums) -> Result<(), String> {
    let lanes = plan.programs().flat_map(|program| &program.lanes);
    for step in lanes.flat_map(|lane| &lane.steps) {
        let Instruction::Copy { source, destination, .. } = step.instruction else { continue };
        let spans = [source, destination].map(|span| plan.spans.get(span as usize));
        let [Some(from), Some(to)] = spans else { return Err("unknown span".to_owned()) };
        let on_card = |span: &Span| span.space() == Some(Space::Card);
        let Some((card, memory)) = [(from, to), (to, from)].into_iter().find(|(c, _)| on_card(c))
        else {
            continue;
        };
        let start = u64::from(card.offset);
        let has_tags = |mut run: Range<u64>| run.all(|sector| checksums.holds(sector * SECTOR));
        let sectors = |run: Range<u64>| run.start / SECTOR..run.end.div_ceil(SECTOR);
        if transfers::runs(card).all(|run| has_tags(sectors(run))) {
            continue;
        }
        let in_one_run = |span: &Span| span.rows <= 1 || span.pitch == span.row_bytes;
        let is_stored =
            on_card(from) && start + card.bytes() <= u64::from(checksums.first) * SECTOR;
        if !is_stored || !in_one_run(card) || !in_one_run(memory) {
            return Err(format!("what is swapped at byte {start} of the card is not sealed"));
        }
    }
    Ok(())
}
