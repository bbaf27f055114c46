//! Cards that fail at random under random programs: each case follows from its number, runs on an emulated board and
//! is judged. Nothing may hang, stop for another reason than its card, or give a wrong answer that the program's
//! checksums could have seen.

mod draw;
mod judge;
mod other;

pub use draw::{Case, Size, draw};
pub use judge::{Verdict, judge};
pub use other::Refusal;

use crate::emulated;

/// Draws a case, runs it and judges what came of it.
///
/// # Errors
/// What must never be, with what was run; what kept it from an outcome.
pub fn run(number: u64, size: Size) -> Result<(Case, Verdict), String> {
    let case = draw(number, size)?;
    let outcome = match emulated::run_job(case.job.clone()) {
        Ok(outcome) => outcome,
        // Code for a memory that the board does not have is refused before it runs.
        Err(error)
            if case.kind == "other-board's-firmware"
                && error.contains("the board has no memory") =>
        {
            return Ok((case, Verdict::Refused));
        }
        Err(error) => return Err(format!("case {number}, {}: {error}", case.what)),
    };
    match judge(&case, &outcome) {
        Ok(verdict) => Ok((case, verdict)),
        Err(error) => {
            let said = crate::swapped::console(&outcome);
            let fault = outcome.finish.fault.map(|fault| (fault.kind, fault.message));
            Err(format!(
                "case {number}, {}: {error}; {fault:?}; the board said:\n{said}",
                case.what
            ))
        }
    }
}
