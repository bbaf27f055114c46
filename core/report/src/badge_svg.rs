//! A plan in a line, as a badge for the page of a project.

use crate::canvas::{Anchor, Canvas};
use crate::plan_report::PlanReport;
use crate::quantity::{binary, duration};

const HEIGHT: f64 = 20.0;
/// Width of a letter, and of the space at both ends of a text.
const LETTER: f64 = 6.4;
const SPACE: f64 = 8.0;

const STYLE: &str = "<style>text{font:11px Verdana,'DejaVu Sans',sans-serif;fill:#fff}\
.left{fill:#434c54}.fits{fill:#00694c}.not{fill:#b33c00}</style>\n";

/// The board on the left; whether the model fits, its SRAM (counted) and its latency (modelled) on the right.
#[must_use]
pub fn badge_svg(report: &PlanReport) -> String {
    let (class, right) = match (report.fits && report.runnable, report.latency_us) {
        (true, Some(latency)) => {
            let sram = binary(report.peak_sram_bytes.0);
            (
                "fits",
                format!(
                    "fits: {sram} SRAM, {}",
                    duration(latency.0 / f64::from(report.frames.max(1)))
                ),
            )
        }
        (true, None) => ("fits", format!("fits: {} SRAM", binary(report.peak_sram_bytes.0))),
        (false, _) => ("not", "does not fit".to_owned()),
    };
    let left = &report.board;
    let [first, second] =
        [left, &right].map(|text| text.chars().count() as f64 * LETTER + 2.0 * SPACE);
    let mut canvas = Canvas::default();
    let title = format!("{} on {left}: {right}", report.model);
    canvas.rect("left", [0.0, 0.0, first, HEIGHT], &title);
    canvas.rect(class, [first, 0.0, second, HEIGHT], &title);
    canvas.text("", [first / 2.0, 14.0], Anchor::Middle, left);
    canvas.text("", [first + second / 2.0, 14.0], Anchor::Middle, &right);
    canvas.finish([first + second, HEIGHT], &title, STYLE)
}
