//! Driver overhead: what the core takes beside computing, between steps, and to begin and end copies. A board's file says it for
//! the project's firmware.

use std::ops::Range;

use super::lanes::Holds;
use tilewright_board::{Board, MemoryKind};
use tilewright_plan::{Cycles, Instruction, LaneKind, Plan, Role, Space, Span, View};

/// Bytes of a burst of an engine, and of its widest item: a run that is no multiple of them has a piece more.
const WIDTHS: [u64; 2] = [16, 4];

/// What the core takes before a step of its lane; nothing if the board's file does not say it.
pub fn before(board: &Board, instruction: &Instruction) -> Cycles {
    let between = board.firmware.as_ref().and_then(|firmware| firmware.between.as_ref());
    between.map_or(Cycles(0), |between| match instruction {
        Instruction::Compute { .. } | Instruction::Exit { .. } => Cycles(between.step_cycles),
        // How long a frame takes to arrive is no part of a run.
        Instruction::Copy { .. } | Instruction::Arrive { .. } => Cycles(0),
    })
}

/// What a copy gives the core to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopyOverhead {
    /// Pieces that an engine moves one after the other, at least one.
    pub pieces: u64,
    /// Lines of the data cache that are maintained before it.
    pub lines_before: u64,
    /// Lines of the data cache that are maintained behind it.
    pub lines_behind: u64,
}

/// The bytes of external RAM that the core may write, from the first to the last: inputs of programs, and what
/// steps make. Others are not cleaned before an engine reads them.
#[must_use]
pub fn written(plan: &Plan) -> Range<u64> {
    let outside = |view: &View| view.space() == Some(Space::ExternalRam);
    let inputs = plan.programs().flat_map(|program| &program.inputs);
    let inputs = inputs.filter_map(|io| plan.views.get(io.view as usize));
    let lanes = plan.programs().flat_map(|program| &program.lanes);
    let made = lanes.flat_map(|lane| &lane.steps).flat_map(|step| {
        let Instruction::Compute { op, first_view, .. } = step.instruction else { return None };
        let (op, views) = plan.operands(op, first_view)?;
        let output = op.kernel()?.operand(Role::Output)?;
        views.get(output)
    });
    let none = Range { start: u64::MAX, end: 0 };
    inputs.chain(made).filter(|view| outside(view)).fold(none, |hull, view| {
        let start = u64::from(view.offset);
        hull.start.min(start)..hull.end.max(start + view.extent())
    })
}

/// What the core takes to begin a copy of a lane, and behind it; nothing if the board's file does not say it.
pub fn copy(
    board: &Board,
    written: &Range<u64>,
    lane: LaneKind,
    [source, destination]: [&Span; 2],
) -> Option<Holds> {
    let overhead = board.engine(lane)?.driver_overhead.as_ref()?;
    let CopyOverhead { pieces, lines_before, lines_behind } =
        copy_overhead(board, written, lane, [source, destination]);
    let [before, behind] =
        [lines_before, lines_behind].map(|lines| lines * overhead.line_millicycles / 1000);
    let begin = overhead.begin_cycles + before;
    let end = overhead.end_cycles + behind + (pieces - 1) * overhead.piece_cycles;
    Some([Cycles(begin), Cycles(end)])
}

/// What a copy of a lane gives the core to do.
#[must_use]
pub fn copy_overhead(
    board: &Board,
    written: &Range<u64>,
    lane: LaneKind,
    [source, destination]: [&Span; 2],
) -> CopyOverhead {
    let largest = board.engine(lane).map_or(u64::MAX, |engine| engine.largest_bytes.0.max(1));
    let runs = runs(source, destination);
    let run = source.bytes().div_ceil(runs);
    let mut pieces = runs * run.div_ceil(largest).max(1);
    if lane == LaneKind::Dma {
        let odd = WIDTHS.iter().filter(|width| run > **width && !run.is_multiple_of(**width));
        pieces += runs * odd.count() as u64;
    }
    let behind = lines(board, destination);
    let start = u64::from(source.offset);
    let is_written = match source.space() {
        Some(Space::ExternalRam) => start < written.end && written.start < start + source.extent(),
        space => space.is_some_and(Space::is_writable),
    };
    let cleaned = if is_written { lines(board, source) } else { 0 };
    CopyOverhead { pieces, lines_before: cleaned + behind, lines_behind: behind }
}

/// Runs without a gap on either side.
fn runs(source: &Span, destination: &Span) -> u64 {
    let is_one = |span: &Span| span.rows <= 1 || span.pitch == span.row_bytes;
    let rows = |span: &Span| if is_one(span) { 1 } else { u64::from(span.rows) };
    rows(source).max(rows(destination)).max(1)
}

/// Lines of the data cache that a span's bytes are maintained in; none where nothing is cached.
fn lines(board: &Board, span: &Span) -> u64 {
    let Some(cache) = &board.core.data_cache else { return 0 };
    let line = u64::from(cache.line_bytes).max(1);
    // What lies below is coupled to the core, and not cached.
    let first = match (span.space(), &board.firmware) {
        (Some(Space::Arena), Some(firmware)) => {
            let coupled = board.memory.iter().find(|memory| memory.kind == MemoryKind::Dtcm);
            let end = coupled.and_then(|m| Some(u64::from(m.address?) + m.bytes.0)).unwrap_or(0);
            end.saturating_sub(firmware.arena_address.into())
        }
        (Some(Space::Arena | Space::ExternalRam), _) => 0,
        _ => return 0,
    };
    let of_row = |row: u64| {
        let start = u64::from(span.offset) + row * u64::from(span.pitch);
        let end = start + u64::from(span.row_bytes);
        end.div_ceil(line).saturating_sub(start.max(first) / line)
    };
    if span.pitch == span.row_bytes {
        let start = u64::from(span.offset);
        return (start + span.bytes()).div_ceil(line).saturating_sub(start.max(first) / line);
    }
    (0..span.rows.into()).map(of_row).sum()
}
