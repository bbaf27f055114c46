//! An input that arrives in rows while others of it are used: whole rows, one behind the other, each once.

use tilewright_plan::{Instruction, LaneKind, Program, Space, View};

/// Checks that a program can take its input in rows: it has one of one frame, nothing but the core runs, and its first
/// step is an arrival, so that nothing runs before a frame is there.
///
/// # Errors
/// Says what is wrong.
pub fn check_program(program: &Program) -> Result<(), String> {
    let wrong = |reason: &str| Err(reason.to_owned());
    if program.inputs.len() != 1 || program.frames != 1 {
        return wrong("one input of one frame can arrive in rows, no others");
    }
    let [lane] = program.lanes.as_slice() else {
        return wrong("rows arrive where other engines run");
    };
    let first = lane.steps.first().map(|step| step.instruction);
    match (lane.kind, first) {
        (LaneKind::Core, Some(Instruction::Arrive { .. })) => Ok(()),
        _ => wrong("something runs before the input begins to arrive"),
    }
}

/// How many rows a view holds, which are those of a tensor of `shape` (rows, columns, channels) behind the first
/// `arrived`.
///
/// # Errors
/// Says what is wrong.
pub fn rows(view: &View, shape: [u64; 3], arrived: u64) -> Result<u64, String> {
    let [height, width, channels] = shape;
    let (rows, first) = (u64::from(view.h), u64::try_from(view.y0).unwrap_or(u64::MAX));
    let is_whole = view.is_contiguous()
        && (u64::from(view.w), u64::from(view.c), view.x0) == (width, channels, 0)
        && view.space() == Some(Space::Arena);
    if !is_whole || rows == 0 {
        return Err("rows of the input arrive that are not whole, or not in SRAM".to_owned());
    }
    if first != arrived || arrived + rows > height {
        return Err(format!("rows from {first} on arrive, those from {arrived} on are next"));
    }
    Ok(rows)
}
