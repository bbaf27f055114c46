//! Figures of published systems, a part at a time.

use tilewright_papers::Paper;
use tilewright_planner::Stop;
use tilewright_report::{Diagnostic, PaperReport, sentence};

use crate::message::trouble;

/// All papers, without figures.
#[must_use]
pub fn list() -> Vec<PaperReport> {
    Paper::ALL.iter().map(|paper| paper.report(Vec::new())).collect()
}

/// A paper with the figures of one part; what the part is of is said first.
///
/// # Errors
/// If there is no such paper, or a network cannot be planned.
pub fn part(id: &str, part: usize, say: &dyn Fn(&str)) -> Result<PaperReport, Diagnostic> {
    let failed = |what: String| {
        trouble("The figures cannot be computed", what, "Reload the page and try again.")
    };
    let paper = Paper::find(id).ok_or_else(|| failed(format!("There is no paper '{id}'.")))?;
    if let Some(title) = paper.title(part) {
        say(&format!("{} of {}: {title}", part + 1, paper.parts()));
    }
    let figures = paper.figures(part, &Stop::default());
    Ok(paper.report(figures.map_err(|error| failed(sentence(&error)))?))
}
