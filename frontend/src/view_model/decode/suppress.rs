//! Of boxes that overlap, the best.

use super::{Finding, Found, MOST_FINDINGS};

/// Candidates that are compared with each other: the best ones.
const MOST_CANDIDATES: usize = 1_000;

/// Leaves out boxes that share more than `overlap` with a better one of their class (non-maximum suppression).
pub fn suppressed(mut candidates: Vec<Finding>, overlap: f32) -> Found {
    candidates.sort_by(|a, b| b.score.unwrap_or(0.0).total_cmp(&a.score.unwrap_or(0.0)));
    let cut = candidates.len().saturating_sub(MOST_CANDIDATES);
    candidates.truncate(MOST_CANDIDATES);
    let mut findings: Vec<Finding> = Vec::new();
    for candidate in candidates {
        let hides = |kept: &Finding| {
            let areas = kept.area.as_ref().zip(candidate.area.as_ref());
            kept.class == candidate.class
                && areas.is_some_and(|(kept, other)| kept.overlap(other) > overlap)
        };
        if !findings.iter().any(hides) {
            findings.push(candidate);
        }
    }
    let more = findings.len().saturating_sub(MOST_FINDINGS);
    findings.truncate(MOST_FINDINGS);
    let note = (cut > 0).then(|| {
        format!(
            "Only the {MOST_CANDIDATES} best boxes were compared; a higher threshold leaves fewer."
        )
    });
    Found { findings, more, note }
}
