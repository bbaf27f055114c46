//! One plan: what is live at each operator, and the arena over time, on one axis of operators.

use std::collections::BTreeMap;

use super::{Drawn, WIDTH};
use crate::canvas::{Anchor, Canvas};
use crate::memory_map::{MemoryRow, PlacedTensor, TensorUse};
use tilewright_plan::{Space, grouped};

/// Left edge of the charts.
pub const LEFT: f64 = 92.0;
const RIGHT: f64 = 24.0;
const HEAD: f64 = 64.0;
const STACKS: f64 = 190.0;
const BETWEEN: f64 = 52.0;
const ARENA: f64 = 240.0;
const FOOT: f64 = 132.0;
/// A limit that is higher than so many times the bytes used is named, not drawn.
const FAR: u64 = 3;
/// Width of a letter, about.
const LETTER: f64 = 6.4;
const CLASSES: [&str; 5] = ["input", "output", "later", "weights", "scratch"];

/// Where things lie.
struct Frame {
    column: f64,
    /// Bytes at the top of the charts.
    most: u64,
}

impl Frame {
    fn x(&self, position: u32) -> f64 {
        LEFT + f64::from(position) * self.column
    }

    fn length(&self, bytes: u64, height: f64) -> f64 {
        bytes as f64 / self.most as f64 * height
    }
}

/// Draws from `top` on; gives the end. `most`: bytes that must have room.
pub fn draw(canvas: &mut Canvas, plan: &Drawn<'_>, most: u64, top: f64) -> f64 {
    let rows = &plan.memory.rows;
    let limit = plan.report.sram_limit_bytes.0;
    let shows_limit = limit <= most.saturating_mul(FAR);
    let frame = Frame {
        column: (WIDTH - LEFT - RIGHT) / rows.len().max(1) as f64,
        most: if shows_limit { most.max(limit) } else { most },
    };
    head(canvas, plan, shows_limit, top);
    let base = top + HEAD + STACKS;
    let floor = base + BETWEEN + ARENA;
    peak_column(canvas, plan, &frame, [top + HEAD, floor]);
    axes(canvas, &frame, base, STACKS, "live bytes");
    for (position, row) in (0u32..).zip(rows) {
        stack(canvas, &frame, position, row, base);
    }
    peak(canvas, plan, &frame, base);
    axes(canvas, &frame, floor, ARENA, "offset in the arena");
    let at_peak: BTreeMap<usize, TensorUse> =
        plan.memory.live_at(plan.memory.peak_row, plan.tensors).collect();
    for (number, tensor) in plan.tensors.iter().enumerate() {
        block(canvas, &frame, tensor, at_peak.get(&number), floor);
    }
    bound(canvas, plan, &frame, floor);
    if shows_limit {
        for (floor, height) in [(base, STACKS), (floor, ARENA)] {
            let y = floor - frame.length(limit, height);
            canvas.line("limit", [LEFT, y, WIDTH - RIGHT, y]);
            let words = format!("limit {}", bytes(limit));
            canvas.text("limit-text halo", [WIDTH - RIGHT, y - 4.0], Anchor::End, &words);
        }
    }
    labels(canvas, &frame, rows, floor);
    floor + FOOT
}

fn head(canvas: &mut Canvas, plan: &Drawn<'_>, shows_limit: bool, top: f64) {
    let report = plan.report;
    let title = format!("{} on {}, strategy {}", report.model, report.board, report.strategy);
    canvas.text("title", [LEFT, top + 18.0], Anchor::Start, &title);
    let peak = plan.memory.rows.get(plan.memory.peak_row).map_or("", |row| &row.name);
    let proof = if report.proved {
        "proved least".to_owned()
    } else {
        format!("lower bound {}", bytes(report.lower_bound_bytes.0))
    };
    let mut facts = format!(
        "Arena {} ({proof}); most bytes live: {} at {}",
        bytes(plan.memory.arena_bytes.0),
        bytes(plan.memory.peak_live_bytes.0),
        shortened(peak, 48),
    );
    if !shows_limit {
        facts.push_str(&format!("; limit {}", bytes(report.sram_limit_bytes.0)));
    }
    canvas.text("quiet", [LEFT, top + 36.0], Anchor::Start, &facts);
}

fn peak_column(canvas: &mut Canvas, plan: &Drawn<'_>, frame: &Frame, [top, floor]: [f64; 2]) {
    if let Some(row) = plan.memory.rows.get(plan.memory.peak_row) {
        let x = frame.x(plan.memory.peak_row as u32);
        let title = format!("Peak: {}", row.name);
        canvas.rect("peak-column", [x, top, frame.column, floor - top], &title);
    }
}

fn axes(canvas: &mut Canvas, frame: &Frame, floor: f64, height: f64, title: &str) {
    let mut step = 1u64;
    while step < frame.most / 5 {
        step *= 2;
    }
    for value in (0..).map_while(|index: u64| index.checked_mul(step)) {
        if value > frame.most {
            break;
        }
        let y = floor - frame.length(value, height);
        canvas.line(if value == 0 { "axis" } else { "grid" }, [LEFT, y, WIDTH - RIGHT, y]);
        canvas.text("quiet", [LEFT - 8.0, y + 4.0], Anchor::End, &tick(value));
    }
    canvas.line("axis", [LEFT, floor - height, LEFT, floor]);
    canvas.upright("quiet", [16.0, floor - height / 2.0], title);
}

fn stack(canvas: &mut Canvas, frame: &Frame, position: u32, row: &MemoryRow, base: f64) {
    let width = (frame.column * 0.8).min(56.0);
    let x = frame.x(position) + (frame.column - width) / 2.0;
    let mut y = base;
    for (class, part) in CLASSES.into_iter().zip(row.stack()) {
        if part.0 == 0 {
            continue;
        }
        let height = frame.length(part.0, STACKS);
        y -= height;
        let title = format!("{} ({}): {class} {}", row.name, row.op, bytes(part.0));
        canvas.rect(class, [x, y, width, height], &title);
    }
}

fn peak(canvas: &mut Canvas, plan: &Drawn<'_>, frame: &Frame, base: f64) {
    let bytes_of_peak = plan.memory.peak_live_bytes.0;
    let x = frame.x(plan.memory.peak_row as u32) + frame.column / 2.0;
    let y = base - frame.length(bytes_of_peak, STACKS) - 6.0;
    let words = format!("peak {}", bytes(bytes_of_peak));
    let half = words.chars().count() as f64 * LETTER / 2.0;
    let x = x.clamp(LEFT + half, WIDTH - RIGHT - half);
    canvas.text("peak halo", [x, y], Anchor::Middle, &words);
}

fn block(
    canvas: &mut Canvas,
    frame: &Frame,
    tensor: &PlacedTensor,
    at_peak: Option<&TensorUse>,
    floor: f64,
) {
    if tensor.space != Space::Arena || tensor.bytes == 0 {
        return;
    }
    let class = match at_peak {
        Some(TensorUse::Input) => "input block",
        Some(TensorUse::Output) => "output block",
        Some(TensorUse::Other) => "later block",
        None => "tensor block",
    };
    let (x, end) = (frame.x(tensor.first), frame.x(tensor.end.max(tensor.first + 1)));
    let height = frame.length(tensor.extent, ARENA);
    let top = floor - frame.length(tensor.range()[1], ARENA);
    let title = format!(
        "{}: {} at offset {}, operators {} to {}",
        tensor.name,
        bytes(tensor.bytes),
        tensor.offset,
        tensor.first,
        tensor.end.saturating_sub(1)
    );
    canvas.rect(class, [x, top, end - x, height], &title);
    let room = ((end - x - 8.0) / LETTER) as usize;
    if height >= 14.0 && room >= 4 {
        let name = shortened(&tensor.name, room);
        canvas.text("small halo", [x + 4.0, top + height / 2.0 + 4.0], Anchor::Start, &name);
    }
}

fn bound(canvas: &mut Canvas, plan: &Drawn<'_>, frame: &Frame, floor: f64) {
    let bound = plan.report.lower_bound_bytes.0;
    if bound > frame.most {
        return;
    }
    let y = floor - frame.length(bound, ARENA);
    canvas.line("bound", [LEFT, y, WIDTH - RIGHT, y]);
    let words = if plan.report.proved { "proved least" } else { "lower bound" };
    canvas.text("bound-text halo", [LEFT + 6.0, y - 4.0], Anchor::Start, words);
}

/// Names of operators where there is room, else their numbers.
fn labels(canvas: &mut Canvas, frame: &Frame, rows: &[MemoryRow], floor: f64) {
    let every = (14.0 / frame.column).ceil().max(1.0) as usize;
    let named = every == 1;
    for (position, row) in (0u32..).zip(rows) {
        if !(position as usize).is_multiple_of(if named { 1 } else { every * 2 }) {
            continue;
        }
        let x = frame.x(position) + frame.column / 2.0;
        if named {
            let words = format!("{position} {}", shortened(&row.name, 15));
            canvas.slanted("small quiet", [x + 3.0, floor + 12.0], &words);
        } else {
            let number = position.to_string();
            canvas.text("small quiet", [x, floor + 16.0], Anchor::Middle, &number);
        }
    }
    let middle = (LEFT + WIDTH - RIGHT) / 2.0;
    let y = floor + FOOT - 22.0;
    canvas.text("quiet", [middle, y], Anchor::Middle, "operators in the order of execution");
}

/// Exact bytes, with KiB beside them.
fn bytes(value: u64) -> String {
    let text = grouped(value);
    if value < 1024 {
        return format!("{text} B");
    }
    format!("{text} B ({:.1} KiB)", value as f64 / 1024.0)
}

fn tick(value: u64) -> String {
    if value > 0 && value.is_multiple_of(1 << 20) {
        format!("{} MiB", value >> 20)
    } else if value > 0 && value.is_multiple_of(1 << 10) {
        format!("{} KiB", value >> 10)
    } else {
        format!("{value} B")
    }
}

/// The end of a name, which says more than its beginning.
fn shortened(name: &str, letters: usize) -> String {
    let length = name.chars().count();
    if length <= letters {
        return name.to_owned();
    }
    let kept = letters.saturating_sub(1);
    std::iter::once('…').chain(name.chars().skip(length - kept)).collect()
}
