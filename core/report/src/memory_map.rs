//! Which tensors are live at each operator, and where they lie (Sudharsan et al., section 3).
//!
//! Bytes are those of the arena that are in use, each counted once: tensors that lie over each
//! other, as where an operator overwrites its input, share bytes.

use serde::{Deserialize, Serialize};
use tilewright_plan::{Bytes, Instruction, Kernel, Plan, PlannedTensor, Role, Space};

use crate::covered::Covered;
use crate::ranges::Ranges;

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
    /// The tensors that it reads, wherever they lie: indices into the plan's tensors.
    pub reads: Vec<u32>,
    /// The tensors that it writes, likewise.
    pub writes: Vec<u32>,
    /// Bytes of the tensors it reads, and of the tiles that hold parts of those that lie elsewhere.
    pub input_bytes: Bytes,
    /// Bytes of the tensors it writes, likewise.
    pub output_bytes: Bytes,
    /// Bytes of tensors that later operators need.
    pub other_bytes: Bytes,
    /// Bytes that weights and constants take: its own, where they are brought to the arena, and all that stay there
    /// from boot on.
    pub weight_bytes: Bytes,
    /// Bytes that its steps touch beside all that: buffers of the operator's own.
    pub scratch_bytes: Bytes,
    /// Bytes that two live tensors share, less what is kept free; the sums above count them for
    /// each.
    pub shared_bytes: Bytes,
    /// Bytes kept free between the rows or pixels of tensors that lie inside another one, less what
    /// tensors share.
    pub reserved_bytes: Bytes,
    /// Bytes in use: input + output + other + weight + scratch + reserved - shared.
    pub live_bytes: Bytes,
}

impl MemoryRow {
    /// Why a tensor that lives at the operator does.
    fn use_of(&self, tensor: u32) -> TensorUse {
        if self.writes.contains(&tensor) {
            TensorUse::Output
        } else if self.reads.contains(&tensor) {
            TensorUse::Input
        } else {
            TensorUse::Other
        }
    }

    /// Bytes of inputs, outputs, other tensors, weights and scratch such that each byte counts once
    /// and the sum is [`Self::live_bytes`]: shared bytes are taken from the outputs first, which lie
    /// over an input as a rule, and bytes kept free belong to others.
    #[must_use]
    pub fn stack(&self) -> [Bytes; 5] {
        let mut shared = self.shared_bytes;
        let mut own = |bytes: Bytes| {
            let taken = bytes.min(shared);
            shared = shared - taken;
            bytes - taken
        };
        let (output, other) = (own(self.output_bytes), own(self.other_bytes));
        let other = other + self.reserved_bytes;
        [own(self.input_bytes), output, other, self.weight_bytes, self.scratch_bytes]
    }
}

/// The tensor memory map of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryMap {
    /// The memory that it is of.
    pub space: Space,
    /// One row for each operator, in order.
    pub rows: Vec<MemoryRow>,
    /// Most live bytes of all rows.
    pub peak_live_bytes: Bytes,
    /// The row with that sum; the first of several.
    pub peak_row: usize,
    /// Bytes of that memory that the placement needs.
    pub arena_bytes: Bytes,
    /// Bytes of weights that boot programs bring there, where they stay.
    pub loaded_bytes: Bytes,
}

/// An activation tensor with its place and life.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacedTensor {
    /// Index of the tensor in the model.
    pub tensor: u32,
    /// Name.
    pub name: String,
    /// Height, width, channels.
    pub shape: [u32; 3],
    /// Bytes that are held at once.
    pub bytes: u64,
    /// Memory that holds it.
    pub space: Space,
    /// Byte offset in that memory.
    pub offset: u64,
    /// Bytes from its first element to the end of its last: more than it has where it lies inside
    /// another tensor.
    pub extent: u64,
    /// First layer that needs it to exist.
    pub first: u32,
    /// One past the last.
    pub end: u32,
}

impl PlacedTensor {
    /// The activation tensors of a plan; indices of memory maps point here.
    #[must_use]
    pub fn of(plan: &Plan) -> Vec<Self> {
        let placed = |tensor: &PlannedTensor| Self {
            tensor: tensor.tensor,
            name: tensor.name.clone(),
            shape: tensor.shape,
            bytes: tensor.held().0,
            space: tensor.space,
            offset: tensor.offset,
            extent: tensor.extent(),
            first: tensor.first,
            end: tensor.end,
        };
        plan.tensors.iter().map(placed).collect()
    }

    /// From its first byte to the end of its last.
    #[must_use]
    pub const fn range(&self) -> [u64; 2] {
        [self.offset, self.offset.saturating_add(self.extent)]
    }
}

impl MemoryMap {
    /// The tensors that live in this memory at an operator, as indices into the plan's, and why each does.
    pub fn live_at<'t>(
        &'t self,
        position: usize,
        tensors: &'t [PlacedTensor],
    ) -> impl Iterator<Item = (usize, TensorUse)> + 't {
        let row = self.rows.get(position);
        let is_live = move |tensor: &PlacedTensor| {
            let life = tensor.first as usize..tensor.end as usize;
            tensor.space == self.space && life.contains(&position)
        };
        let live = tensors.iter().enumerate().filter(move |(_, tensor)| is_live(tensor));
        live.filter_map(move |(number, _)| Some((number, row?.use_of(number as u32))))
    }

    /// The map of a plan; only bytes in the arena count.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        Self::of_space(plan, Space::Arena)
    }

    /// The map of a plan in another memory: only bytes there count.
    #[must_use]
    pub fn of_space(plan: &Plan, space: Space) -> Self {
        let mut rows: Vec<MemoryRow> = plan.layers.iter().map(empty_row).collect();
        let life =
            |tensor: &PlannedTensor| [tensor.first as usize, (tensor.end as usize).min(rows.len())];
        let range =
            |tensor: &PlannedTensor| [tensor.offset, tensor.offset.saturating_add(tensor.extent())];
        let mut placed: Vec<(usize, &PlannedTensor)> = plan.tensors.iter().enumerate().collect();
        placed.retain(|(_, t)| t.space == space && life(t)[0] < life(t)[1]);
        let mut taken = Covered::new(placed.iter().map(|(_, tensor)| range(tensor)));
        let mut changes: Vec<Vec<(usize, bool)>> = vec![Vec::new(); rows.len() + 1];
        for (number, tensor) in &placed {
            let [first, end] = life(tensor);
            changes[first].push((*number, true));
            changes[end].push((*number, false));
        }
        let touched = Touched::of_layers(plan, rows.len(), space);
        let mut stay = loaded(plan, space);
        let (stay_bytes, stay) = (Bytes(stay.total()), stay.merged());
        let mut sum = Bytes(0);
        for (position, (row, touched)) in rows.iter_mut().zip(touched).enumerate() {
            for (number, begins) in &changes[position] {
                let tensor = &plan.tensors[*number];
                taken.change(range(tensor), *begins);
                sum = if *begins { sum + tensor.held() } else { sum - tensor.held() };
            }
            let mut used: Vec<u32> = row.reads.iter().chain(&row.writes).copied().collect();
            used.sort_unstable();
            used.dedup();
            for number in used {
                let Some(tensor) = plan.tensors.get(number as usize) else { continue };
                let life = tensor.first as usize..tensor.end as usize;
                if tensor.space == space && life.contains(&position) {
                    match row.use_of(number) {
                        TensorUse::Output => row.output_bytes += tensor.held(),
                        _ => row.input_bytes += tensor.held(),
                    }
                }
            }
            row.other_bytes = sum - row.input_bytes - row.output_bytes;
            let counted = Bytes(taken.total());
            row.shared_bytes = sum - counted;
            row.reserved_bytes = counted - sum;
            row.live_bytes = counted;
            // What is touched besides the tensors, each byte counted once.
            let mut beside = Ranges::default();
            let mut found = Bytes(0);
            let mut more = |ranges: Ranges| {
                beside.extend(ranges);
                let free = |range: &[u64; 2]| range[1] - range[0] - taken.within(*range);
                let total = Bytes(beside.merged().iter().map(free).sum());
                total - std::mem::replace(&mut found, total)
            };
            row.weight_bytes = more(touched.weights.without(stay));
            // What the operator itself writes and then reads is neither of its tensors.
            row.scratch_bytes = more(touched.read.common(&touched.written));
            for (ranges, tensors, tiles) in [
                (touched.read, &row.reads, &mut row.input_bytes),
                (touched.written, &row.writes, &mut row.output_bytes),
            ] {
                let is_elsewhere = tensors.iter().any(|number| {
                    let tensor = plan.tensors.get(*number as usize);
                    tensor.is_some_and(|tensor| tensor.space != space)
                });
                let bytes = if is_elsewhere { tiles } else { &mut row.scratch_bytes };
                *bytes += more(ranges);
            }
            // Sectors that are brought whole have bytes that nobody reads.
            row.scratch_bytes += more(touched.copied);
            row.weight_bytes += stay_bytes;
            row.live_bytes += found + stay_bytes;
        }
        Self { loaded_bytes: stay_bytes, ..Self::of_rows(rows, space, plan.space(space)) }
    }

    fn of_rows(rows: Vec<MemoryRow>, space: Space, arena_bytes: Bytes) -> Self {
        let mut peak_row = 0;
        for (index, row) in rows.iter().enumerate() {
            if row.live_bytes > rows[peak_row].live_bytes {
                peak_row = index;
            }
        }
        let peak_live_bytes = rows.get(peak_row).map_or(Bytes(0), |row| row.live_bytes);
        let loaded_bytes = Bytes(0);
        Self { space, peak_live_bytes, peak_row, arena_bytes, loaded_bytes, rows }
    }
}

/// What boot programs bring to a memory, where it stays.
fn loaded(plan: &Plan, space: Space) -> Ranges {
    let mut loaded = Ranges::default();
    let lanes = plan.boot.iter().flat_map(|p| &p.lanes);
    for step in lanes.flat_map(|lane| &lane.steps) {
        let Instruction::Copy { destination, .. } = step.instruction else { continue };
        let span = plan.spans.get(destination as usize);
        if let Some(span) = span.filter(|span| span.space() == Some(space)) {
            loaded.add(u64::from(span.offset), span.extent());
        }
    }
    loaded
}

fn empty_row(layer: &tilewright_plan::PlannedLayer) -> MemoryRow {
    MemoryRow {
        name: layer.name.clone(),
        op: layer.work.name().to_owned(),
        reads: layer.reads.clone(),
        writes: layer.writes.clone(),
        input_bytes: Bytes(0),
        output_bytes: Bytes(0),
        other_bytes: Bytes(0),
        weight_bytes: Bytes(0),
        scratch_bytes: Bytes(0),
        shared_bytes: Bytes(0),
        reserved_bytes: Bytes(0),
        live_bytes: Bytes(0),
    }
}

/// The bytes of a memory that the steps of a layer touch, by what kernels take them for.
#[derive(Clone, Default)]
struct Touched {
    read: Ranges,
    weights: Ranges,
    written: Ranges,
    copied: Ranges,
}

impl Touched {
    fn of_layers(plan: &Plan, layers: usize, space: Space) -> Vec<Self> {
        let mut touched = vec![Self::default(); layers];
        let lanes = plan.main.iter().flat_map(|p| &p.lanes);
        for step in lanes.flat_map(|lane| &lane.steps) {
            let Some(touched) = touched.get_mut(usize::from(step.layer)) else { continue };
            touched.add(plan, &step.instruction, space);
        }
        touched
    }

    fn add(&mut self, plan: &Plan, instruction: &Instruction, space: Space) {
        match *instruction {
            Instruction::Compute { op, first_view, .. } => {
                let Some((op, views)) = plan.operands(op, first_view) else { return };
                let roles = op.kernel().map_or(&[][..], Kernel::roles);
                for (role, view) in roles.iter().zip(views) {
                    if view.space() != Some(space) {
                        continue;
                    }
                    let ranges = match role {
                        Role::Input => &mut self.read,
                        Role::Weights | Role::Constants => &mut self.weights,
                        Role::Output => &mut self.written,
                    };
                    ranges.add(u64::from(view.offset), view.extent());
                }
            }
            Instruction::Copy { source, destination, .. } => {
                for span in [source, destination] {
                    let span = plan.spans.get(span as usize);
                    if let Some(span) = span.filter(|span| span.space() == Some(space)) {
                        self.copied.add(u64::from(span.offset), span.extent());
                    }
                }
            }
            Instruction::Arrive { view } => {
                if let Some(view) =
                    plan.views.get(view as usize).filter(|v| v.space() == Some(space))
                {
                    self.written.add(u64::from(view.offset), view.extent());
                }
            }
            Instruction::Exit { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests;
