//! The memory map as a picture: SVG that stands alone, for papers and pages.

mod section;

use crate::canvas::{Anchor, Canvas};
use crate::memory_map::{MemoryMap, PlacedTensor};
use crate::plan_report::PlanReport;

/// A plan to draw.
#[derive(Clone, Copy, Debug)]
pub struct Drawn<'a> {
    /// Its figures.
    pub report: &'a PlanReport,
    /// Its memory map.
    pub memory: &'a MemoryMap,
    /// Its tensors.
    pub tensors: &'a [PlacedTensor],
}

/// Width of the picture.
const WIDTH: f64 = 960.0;
const LEGEND: f64 = 36.0;

/// Colours of Okabe and Ito; hatches and dots are the second cue.
const HEAD: &str = "<style>
text{font:12px 'Helvetica Neue',Helvetica,Arial,'DejaVu Sans',sans-serif;fill:#222;\
font-variant-numeric:tabular-nums}
.title{font-size:15px;font-weight:600}.quiet{fill:#555}.small{font-size:11px}
.axis{stroke:#222;stroke-width:1}.grid{stroke:#ddd;stroke-width:1}
.input{fill:#0072b2}.output{fill:url(#hatched)}.later{fill:url(#dotted)}.weights{fill:url(#barred)}.scratch{fill:url(#crossed)}
.tensor{fill:#d9e2e7}.block{stroke:#444;stroke-width:.75}
.limit{stroke:#d55e00;stroke-width:1.5;stroke-dasharray:6 4}.limit-text{fill:#a84800}
.bound{stroke:#009e73;stroke-width:1.5;stroke-dasharray:2 3}.bound-text{fill:#00694c}
.peak{font-weight:600}.halo{stroke:#fff;stroke-width:3px;paint-order:stroke}
.peak-column{fill:#f0e442;fill-opacity:.35}
</style>
<defs>
<pattern id=\"hatched\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" \
patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" fill=\"#e69f00\"/>\
<line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\" stroke=\"#fff3d9\" stroke-width=\"2\"/></pattern>
<pattern id=\"dotted\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">\
<rect width=\"6\" height=\"6\" fill=\"#8a939a\"/><circle cx=\"1.5\" cy=\"1.5\" r=\"1\" fill=\"#fff\"/>\
<circle cx=\"4.5\" cy=\"4.5\" r=\"1\" fill=\"#fff\"/></pattern>
<pattern id=\"barred\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\">\
<rect width=\"5\" height=\"5\" fill=\"#009e73\"/><path d=\"M1 0V5\" stroke=\"#fff\"/></pattern>
<pattern id=\"crossed\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">\
<rect width=\"6\" height=\"6\" fill=\"#cc79a7\"/><path d=\"M0 3H6M3 0V6\" stroke=\"#fff\"/></pattern>
</defs>
<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>
";

/// Draws plans one below the other, all on one scale of bytes.
#[must_use]
pub fn svg(plans: &[Drawn<'_>]) -> String {
    let mut canvas = Canvas::default();
    legend(&mut canvas);
    let most = |plan: &Drawn<'_>| plan.memory.arena_bytes.max(plan.memory.peak_live_bytes).0;
    let most = plans.iter().map(most).max().unwrap_or(0).max(1);
    let mut top = LEGEND;
    for plan in plans {
        top = section::draw(&mut canvas, plan, most, top);
    }
    let title = match plans {
        [] => "No plan".to_owned(),
        [first, ..] => format!("Memory of {} on {}", first.report.model, first.report.board),
    };
    canvas.finish([WIDTH, top], &title, HEAD)
}

fn legend(canvas: &mut Canvas) {
    let entries = [
        ("input", "input of the operator"),
        ("output", "its output"),
        ("later", "needed later"),
        ("weights", "weights"),
        ("scratch", "scratch"),
        ("tensor block", "tensor not live at the peak"),
    ];
    let mut x = section::LEFT;
    for (class, words) in entries {
        canvas.rect(class, [x, 14.0, 12.0, 12.0], words);
        canvas.text("quiet", [x + 18.0, 24.0], Anchor::Start, words);
        x += 44.0 + 6.2 * words.chars().count() as f64;
    }
}

#[cfg(test)]
mod tests;
