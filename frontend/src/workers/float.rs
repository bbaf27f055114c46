//! Comparing with the float model: what the float worker does.

use tilewright_float::compare_for;
use tilewright_report::FloatComparison;

use super::Outcome;
use super::host::WorkerHost;
use super::open::with_subject;
use super::plan::load;
use crate::message::FloatRequest;

/// Answers a request; `say` takes what is done in between.
///
/// # Errors
/// What went wrong, where, and what to do.
pub fn answer(
    request: &FloatRequest,
    mut buffers: Vec<Vec<u8>>,
    say: &dyn Fn(&str),
) -> Outcome<FloatComparison> {
    let int8 = load(&buffers.pop().into_iter().collect::<Vec<_>>())?;
    let host = &WorkerHost::new(say);
    let found = with_subject(request, &int8, buffers, host, |subject| compare_for(subject, host))?;
    Ok((found, Vec::new()))
}
