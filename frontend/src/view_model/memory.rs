//! Memory at each operator, and the arena over time.

use tilewright_plan::Space;
use tilewright_report::TensorUse;

use super::figures;
use super::layers::kernel_title;
use crate::message::{PlacedTensor, PlanFacts};

/// Live bytes at an operator, as a stack.
#[derive(Clone, Debug, PartialEq)]
pub struct Stack {
    /// Name of the operator.
    pub name: String,
    /// Kernel, for people.
    pub op: String,
    /// Bytes of inputs, outputs, others.
    pub parts: [(TensorUse, u64); 3],
    /// Their sum.
    pub total: u64,
    /// Whether this is the peak.
    pub is_peak: bool,
}

/// A tensor in the arena: a rectangle over layers and bytes, both half-open.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Index into the plan's tensors.
    pub tensor: usize,
    /// Name.
    pub name: String,
    /// First layer, one past the last.
    pub layers: [u32; 2],
    /// First byte, one past the last.
    pub bytes: [u64; 2],
}

/// Both charts: they share the axis of operators.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryView {
    /// One for each operator.
    pub stacks: Vec<Stack>,
    /// Tensors in the arena.
    pub blocks: Vec<Block>,
    /// Index of the peak.
    pub peak: usize,
    /// Largest sum of live bytes.
    pub peak_bytes: u64,
    /// Bytes of the arena that the placement needs.
    pub arena_bytes: u64,
    /// Bytes that may be used.
    pub limit: u64,
    /// The end of the axis of bytes: the limit is on it if it is near.
    pub scale: u64,
    /// In words.
    pub summary: String,
}

/// The charts of a plan, with `limit` bytes of arena.
#[must_use]
pub fn view(plan: &PlanFacts, limit: u64) -> MemoryView {
    let memory = &plan.memory;
    let stacks: Vec<Stack> = memory
        .rows
        .iter()
        .enumerate()
        .map(|(index, row)| Stack {
            name: row.name.clone(),
            op: kernel_title(&row.op),
            parts: [
                (TensorUse::Input, row.input_bytes.0),
                (TensorUse::Output, row.output_bytes.0),
                (TensorUse::Other, row.other_bytes.0),
            ],
            total: row.live_bytes.0,
            is_peak: index == memory.peak_row,
        })
        .collect();
    let blocks = plan
        .tensors
        .iter()
        .enumerate()
        .filter(|(_, tensor)| tensor.space == Space::Arena)
        .map(|(index, tensor)| Block {
            tensor: index,
            name: tensor.name.clone(),
            layers: [tensor.first, tensor.end.max(tensor.first + 1)],
            bytes: [tensor.offset, tensor.offset + tensor.bytes],
        })
        .collect();
    let arena = memory.arena_bytes.0;
    let most = arena.max(memory.peak_live_bytes.0);
    // A limit that is far away would press everything to the floor: then it is only named.
    let is_near = limit <= most.saturating_mul(3);
    let summary = match stacks.get(memory.peak_row) {
        Some(peak) => format!(
            "{} operators. Live tensors peak at {} in {} ({}); the arena needs {}.",
            stacks.len(),
            figures::bytes(memory.peak_live_bytes.0),
            figures::short_name(&peak.name),
            peak.op,
            figures::bytes(arena),
        ),
        None => "No operators.".to_owned(),
    };
    MemoryView {
        peak: memory.peak_row,
        peak_bytes: memory.peak_live_bytes.0,
        arena_bytes: arena,
        limit,
        scale: if is_near { most.max(limit) } else { most }.max(1),
        stacks,
        blocks,
        summary,
    }
}

impl MemoryView {
    /// Whether the limit lies on the axis.
    #[must_use]
    pub const fn shows_limit(&self) -> bool {
        self.limit <= self.scale
    }

    /// Round values for the axis of bytes, zero included.
    #[must_use]
    pub fn ticks(&self, most: usize) -> Vec<u64> {
        let step = figures::axis_step(self.scale as f64, most, true) as u64;
        (0..).map(|index| index * step).take_while(|value| *value <= self.scale).collect()
    }
}

/// Exact figures of a tensor.
#[must_use]
pub fn describe(tensor: &PlacedTensor, plan: &PlanFacts, arena_address: Option<u32>) -> String {
    let name = |layer: u32| {
        plan.report
            .layers
            .get(layer as usize)
            .map_or("the end", |row| figures::short_name(&row.name))
    };
    let last = name(tensor.end.saturating_sub(1));
    let place = match (tensor.space, arena_address) {
        (Space::Arena, Some(base)) => {
            let address = figures::address(u64::from(base) + tensor.offset);
            format!("offset {}, address {address}", figures::grouped(tensor.offset))
        }
        (Space::Arena, None) => format!("offset {}", figures::grouped(tensor.offset)),
        _ => "outside SRAM".to_owned(),
    };
    format!(
        "{}: {}, {} ({}); {place}; lives from {} to {last}",
        figures::short_name(&tensor.name),
        figures::shape(tensor.shape),
        figures::bytes(tensor.bytes),
        figures::binary(tensor.bytes),
        name(tensor.first),
    )
}

/// Which tensors are lit when a layer is.
#[must_use]
pub fn tensors_of(plan: &PlanFacts, layer: usize) -> Vec<(usize, TensorUse)> {
    let row = plan.memory.rows.get(layer);
    row.map_or_else(Vec::new, |row| {
        row.tensors.iter().map(|(tensor, why)| (*tensor as usize, *why)).collect()
    })
}

/// Both charts as CSV: one line for each tensor that is live at an operator.
#[must_use]
pub fn csv(plan: &PlanFacts) -> String {
    let mut text = String::from("position,operator,tensor,use,offset,bytes\n");
    for (position, row) in plan.memory.rows.iter().enumerate() {
        for (tensor, why) in &row.tensors {
            let Some(tensor) = plan.tensors.get(*tensor as usize) else { continue };
            let why = word(*why);
            let quoted = |value: &str| format!("\"{}\"", value.replace('"', "\"\""));
            text.push_str(&format!(
                "{position},{},{},{why},{},{}\n",
                quoted(&row.name),
                quoted(&tensor.name),
                tensor.offset,
                tensor.bytes
            ));
        }
    }
    text
}

/// Why a tensor is live, in a word.
#[must_use]
pub const fn word(why: TensorUse) -> &'static str {
    match why {
        TensorUse::Input => "input",
        TensorUse::Output => "output",
        TensorUse::Other => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view_model::fixture;

    #[test]
    fn stacks_add_up_and_the_peak_is_marked() {
        let view = view(&fixture::plan(), 1024);
        for stack in &view.stacks {
            assert_eq!(stack.parts.iter().map(|(_, bytes)| bytes).sum::<u64>(), stack.total);
        }
        let peaks: Vec<_> = view.stacks.iter().map(|stack| stack.is_peak).collect();
        assert_eq!(peaks, [true, false, false]);
        assert_eq!(view.blocks.len(), 4);
        assert_eq!(view.blocks[1].bytes, [16, 48]);
    }

    #[test]
    fn a_far_limit_does_not_flatten_the_chart() {
        let far = view(&fixture::plan(), 1 << 20);
        assert!(!far.shows_limit());
        assert_eq!(far.scale, 48);
        let near = view(&fixture::plan(), 100);
        assert!(near.shows_limit());
        assert_eq!(near.scale, 100);
        let short = view(&fixture::plan(), 20);
        assert!(short.shows_limit(), "a limit below the peak is always seen");
    }

    #[test]
    fn ticks_start_at_zero_and_stay_on_the_axis() {
        let view = view(&fixture::plan(), 100);
        let ticks = view.ticks(4);
        assert_eq!(ticks.first(), Some(&0));
        assert!(ticks.last().is_some_and(|last| *last <= view.scale));
        assert!(ticks.len() <= 5);
    }

    #[test]
    fn a_tensor_is_described_exactly() {
        let plan = fixture::plan();
        let text = describe(&plan.tensors[1], &plan, Some(0x2000_4000));
        assert!(text.contains("address 0x2000_4010"), "{text}");
        assert!(text.contains("32 B"), "{text}");
        assert!(text.contains("from first to second"), "{text}");
    }
}
