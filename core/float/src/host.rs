//! The comparison for a host of the application: its samples, its progress, its words for errors.

use tilewright_app::{Blame, Diagnostic, FloatSubject, Host, Progress, Stage, real_inputs};
use tilewright_report::{FloatComparison, sentence};

use crate::{FloatError, Subject, compare};

/// Compares a model with its float form on at most [`FloatComparison::MOST_SAMPLES`] samples.
///
/// # Errors
/// If the samples do not suit the model, there is no float form, or tract does not run the file;
/// [`Blame::Cancelled`] soon after somebody wants an end.
pub fn compare_for(
    subject: &FloatSubject<'_>,
    host: &dyn Host,
) -> Result<FloatComparison, Diagnostic> {
    let FloatSubject { file, dims, model, int8, samples } = subject;
    let samples = real_inputs(model, samples, FloatComparison::MOST_SAMPLES)?;
    host.begin(Stage::Comparing)?;
    let float = (!model.is_int8()).then_some(*model);
    let subject = Subject { file: *file, dims, float, int8, samples: &samples };
    let mut progress = |seen, of| host.tell(Progress::Compared { seen, of });
    compare(&subject, &mut progress, &|| host.cancel().is_cancelled())
        .map_err(|error| no_comparison(&error, &model.name))
}

fn no_comparison(error: &FloatError, model: &str) -> Diagnostic {
    let text = sentence(&error.to_string());
    let blame = match error {
        FloatError::Stopped => return Diagnostic::cancelled(text),
        FloatError::TooLarge { .. } => Blame::TooLarge,
        _ => Blame::BadInput,
    };
    Diagnostic::new(blame, text, model, error.what_to_do())
}
