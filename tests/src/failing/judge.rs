//! What may come of a card that fails.

use tilewright_plan::{Instruction, LaneKind, Space};
use tilewright_planner::Integrity;
use tilewright_protocol::RunOutcome;
use tilewright_report::{Fault, FaultKind};

use super::draw::Case;
use super::other::Refusal;
use crate::swapped::console;

/// What came of it, all of it allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All frames gave the right outputs, what was lost being read or computed again.
    Right {
        /// Frames that were begun again.
        given_up: usize,
    },
    /// The program was never begun, since the card is gone, is another one or does not answer.
    Refused,
    /// The run ended with copy, layer and sector; what it said before was right.
    Told,
    /// Bytes of the card were wrong, nobody had said so, and the program trusts its card.
    Unseen,
}

/// Judges what came of a case.
///
/// # Errors
/// What must never be.
pub fn judge(case: &Case, outcome: &RunOutcome) -> Result<Verdict, String> {
    let text = console(outcome);
    let outputs: Vec<&str> =
        text.lines().map(str::trim_end).filter(|line| line.starts_with("output ")).collect();
    let is_right = outputs.len() <= case.expected.len()
        && outputs.iter().zip(&case.expected).all(|(said, expected)| said == expected);
    if let Some(refusal) = &case.refusal {
        return refuses(refusal, outcome, &outputs);
    }
    let unknown = &outcome.finish.unknown_registers;
    if !unknown.is_empty() {
        return Err(format!("registers that are not known: {unknown:x?}"));
    }
    let may_be_wrong = case.is_silent && case.integrity == Integrity::Trusted;
    if !(is_right || may_be_wrong) {
        return Err("a wrong output".to_owned());
    }
    match &outcome.finish.fault {
        None if !is_right => Ok(Verdict::Unseen),
        None if outputs.len() < case.expected.len() => Err("outputs are missing".to_owned()),
        None => Ok(Verdict::Right { given_up: outcome.given_up.len() }),
        Some(fault) if fault.kind != FaultKind::Card => {
            Err(format!("it ended by {:?}", fault.kind))
        }
        Some(fault) if fault.message.is_empty() => Err("nothing is said of the card".to_owned()),
        Some(_) if !text.contains("\nready ") => match outputs.is_empty() {
            true => Ok(Verdict::Refused),
            false => Err("outputs of a program that never began".to_owned()),
        },
        Some(_) if outputs.len() == case.expected.len() => {
            Err("told behind the last output".to_owned())
        }
        Some(fault) => has_its_place(case, fault).map(|()| Verdict::Told),
    }
}

/// Whether an image that was made for something else was refused before anything came of it, with the reason.
fn refuses(refusal: &Refusal, outcome: &RunOutcome, outputs: &[&str]) -> Result<Verdict, String> {
    if !outputs.is_empty() {
        return Err("outputs of an image for something else".to_owned());
    }
    let Some(fault) = &outcome.finish.fault else {
        return Err("an image for something else ended well".to_owned());
    };
    let Refusal { kind, says } = refusal;
    if kind.is_some_and(|kind| kind != fault.kind) || !fault.message.contains(says) {
        return Err(format!("{kind:?} and '{says}' were to come"));
    }
    Ok(Verdict::Refused)
}

/// Whether a fault names a copy of the plan, its layer and one of its sectors, in fields and in words.
fn has_its_place(case: &Case, fault: &Fault) -> Result<(), String> {
    let missing = |what: &str| format!("{what} is missing or wrong: {fault:?}");
    let copy = fault.copy.ok_or_else(|| missing("the copy"))?;
    let program = case.plan.main.as_ref();
    let mut lanes = program.iter().flat_map(|program| &program.lanes);
    let lane = lanes.find(|lane| lane.kind == LaneKind::Card).ok_or("the plan has no card")?;
    let step = lane.steps.get(copy.step as usize).ok_or_else(|| missing("the copy"))?;
    if fault.layer != Some(step.layer) {
        return Err(missing("the layer"));
    }
    let Instruction::Copy { source, destination, .. } = step.instruction else {
        return Err(missing("the copy"));
    };
    let spans = [source, destination].map(|span| &case.plan.spans[span as usize]);
    let span = spans.into_iter().find(|span| span.space() == Some(Space::Card));
    let span = span.ok_or("a copy without card")?;
    let (first, bytes) = (u64::from(span.offset), span.extent());
    if !(first / 512..(first + bytes).div_ceil(512)).contains(&copy.sector.into()) {
        return Err(missing("the sector"));
    }
    let said = [
        format!("copy {}, for layer {}, failed ", copy.step, step.layer),
        format!(" at sector {}: ", copy.sector),
    ];
    if said.iter().any(|words| !fault.message.contains(words)) {
        return Err(missing("what the firmware says"));
    }
    Ok(())
}
