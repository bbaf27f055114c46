//! The memory map of a plan, as reports show it: rows with their tensors by name, and each tensor's
//! place and life.

use serde::Serialize;
use tilewright_plan::{Bytes, Space};
use tilewright_planner::Planned;
use tilewright_report::{Counted, PlacedTensor, TensorUse};

/// A memory map.
#[derive(Clone, Debug, Serialize)]
pub struct MemoryView {
    /// Most live bytes of all operators.
    pub peak_live_bytes: Counted<Bytes>,
    /// The operator with that sum; the first of several.
    pub peak_operator: usize,
    /// Bytes that the placement needs.
    pub arena_bytes: Counted<Bytes>,
    /// What lives at each operator, in order.
    pub operators: Counted<Vec<RowView>>,
    /// Each activation tensor.
    pub tensors: Counted<Vec<PlacedView>>,
}

/// What lives at an operator.
#[derive(Clone, Debug, Serialize)]
pub struct RowView {
    /// Name of the operator.
    pub name: String,
    /// Its kernel.
    pub op: String,
    /// Bytes of what it reads.
    pub input_bytes: Bytes,
    /// Bytes of what it writes.
    pub output_bytes: Bytes,
    /// Bytes that later operators need.
    pub other_bytes: Bytes,
    /// Bytes of weights and constants in this memory.
    pub weight_bytes: Bytes,
    /// Bytes of its own buffers.
    pub scratch_bytes: Bytes,
    /// Bytes that the sums above count twice.
    pub shared_bytes: Bytes,
    /// Bytes kept free between rows or pixels.
    pub reserved_bytes: Bytes,
    /// Bytes in use, each counted once.
    pub live_bytes: Bytes,
    /// The tensors that live.
    pub tensors: Vec<LiveView>,
}

/// A tensor that lives at an operator.
#[derive(Clone, Debug, Serialize)]
pub struct LiveView {
    /// Index into [`MemoryView::tensors`].
    pub tensor: usize,
    /// Its name.
    pub name: String,
    /// Why it lives.
    #[serde(rename = "use")]
    pub why: TensorUse,
}

/// A tensor's place and life.
#[derive(Clone, Debug, Serialize)]
pub struct PlacedView {
    /// Its name.
    pub name: String,
    /// Height, width, channels.
    pub shape: [u32; 3],
    /// Bytes that are held at once.
    pub bytes: u64,
    /// Memory that holds it.
    pub space: Space,
    /// Offset in that memory.
    pub offset_bytes: u64,
    /// Bytes from its first element to the end of its last.
    pub extent_bytes: u64,
    /// First operator that needs it to exist.
    pub first_operator: u32,
    /// One past the last.
    pub end_operator: u32,
}

impl From<PlacedTensor> for PlacedView {
    fn from(tensor: PlacedTensor) -> Self {
        let PlacedTensor { name, shape, bytes, space, offset, extent, first, end, .. } = tensor;
        Self {
            name,
            shape,
            bytes,
            space,
            offset_bytes: offset,
            extent_bytes: extent,
            first_operator: first,
            end_operator: end,
        }
    }
}

impl MemoryView {
    /// The memory map of a plan.
    #[must_use]
    pub fn of(planned: &Planned) -> Self {
        let tensors = PlacedTensor::of(&planned.plan);
        let memory = &planned.memory;
        let rows = memory.rows.iter().enumerate().map(|(position, row)| {
            let live = memory.live_at(position, &tensors);
            let live = live.map(|(tensor, why)| LiveView {
                tensor,
                name: tensors[tensor].name.clone(),
                why,
            });
            RowView {
                name: row.name.clone(),
                op: row.op.clone(),
                input_bytes: row.input_bytes,
                output_bytes: row.output_bytes,
                other_bytes: row.other_bytes,
                weight_bytes: row.weight_bytes,
                scratch_bytes: row.scratch_bytes,
                shared_bytes: row.shared_bytes,
                reserved_bytes: row.reserved_bytes,
                live_bytes: row.live_bytes,
                tensors: live.collect(),
            }
        });
        Self {
            peak_live_bytes: memory.peak_live_bytes.into(),
            peak_operator: memory.peak_row,
            arena_bytes: memory.arena_bytes.into(),
            operators: rows.collect::<Vec<_>>().into(),
            tensors: tensors.into_iter().map(PlacedView::from).collect::<Vec<_>>().into(),
        }
    }
}
