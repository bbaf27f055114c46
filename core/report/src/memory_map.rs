//! Which tensors are live at each operator, and where they lie (Sudharsan et al., section 3).

use serde::{Deserialize, Serialize};
use tilewright_plan::{Bytes, Plan, Space};

/// Why a tensor takes memory at an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TensorUse {
    /// The operator reads it.
    Input,
    /// The operator writes it.
    Output,
    /// A later operator needs it.
    Other,
}

/// Live tensors at one operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryRow {
    /// Name of the operator.
    pub name: String,
    /// Its kernel, or the operator if no kernel computes it.
    pub op: String,
    /// Bytes of the tensors it reads.
    pub input_bytes: Bytes,
    /// Bytes of the tensors it writes.
    pub output_bytes: Bytes,
    /// Bytes of tensors that later operators need.
    pub other_bytes: Bytes,
    /// Bytes of all live tensors; those that several share count once.
    pub live_bytes: Bytes,
    /// The live tensors: index into the plan's tensors, and why it is live.
    pub tensors: Vec<(u32, TensorUse)>,
}

/// The tensor memory map of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryMap {
    /// One row for each operator, in order.
    pub rows: Vec<MemoryRow>,
    /// Largest sum of live bytes.
    pub peak_live_bytes: Bytes,
    /// The row with that sum; the first of several.
    pub peak_row: usize,
    /// Bytes of the arena that the placement needs.
    pub arena_bytes: Bytes,
}

impl MemoryMap {
    /// The map of a plan; only tensors in the arena count.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        let rows: Vec<MemoryRow> =
            plan.layers.iter().enumerate().map(|(index, layer)| row(plan, index, layer)).collect();
        let mut peak_row = 0;
        for (index, row) in rows.iter().enumerate() {
            if row.live_bytes > rows[peak_row].live_bytes {
                peak_row = index;
            }
        }
        Self {
            peak_live_bytes: rows.get(peak_row).map_or(Bytes(0), |row| row.live_bytes),
            peak_row,
            arena_bytes: plan.space(Space::Arena),
            rows,
        }
    }
}

fn row(plan: &Plan, index: usize, layer: &tilewright_plan::PlannedLayer) -> MemoryRow {
    let mut row = MemoryRow {
        name: layer.name.clone(),
        op: layer.work.name().to_owned(),
        input_bytes: Bytes(0),
        output_bytes: Bytes(0),
        other_bytes: Bytes(0),
        live_bytes: Bytes(0),
        tensors: Vec::new(),
    };
    let position = index as u32;
    let mut ranges = Vec::new();
    for (number, tensor) in plan.tensors.iter().enumerate() {
        if tensor.space != Space::Arena || !(tensor.first..tensor.end).contains(&position) {
            continue;
        }
        let number = number as u32;
        let (why, sum) = if layer.writes.contains(&number) {
            (TensorUse::Output, &mut row.output_bytes)
        } else if layer.reads.contains(&number) {
            (TensorUse::Input, &mut row.input_bytes)
        } else {
            (TensorUse::Other, &mut row.other_bytes)
        };
        *sum += tensor.bytes;
        ranges.push((tensor.offset, tensor.offset + tensor.extent()));
        row.tensors.push((number, why));
    }
    row.live_bytes = covered(ranges);
    row
}

/// Bytes that lie in at least one of the ranges.
fn covered(mut ranges: Vec<(u64, u64)>) -> Bytes {
    ranges.sort_unstable();
    let (mut sum, mut reached) = (0, 0);
    for (start, end) in ranges {
        sum += end.saturating_sub(start.max(reached));
        reached = reached.max(end);
    }
    Bytes(sum)
}
