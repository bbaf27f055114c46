//! Memory at each operator, and the arena over time.

mod buffers;

use tilewright_plan::Space;
use tilewright_report::{PartRole, PlacedTensor, TensorUse, short_name};

use super::figures;
use super::layers::kernel_title;
use crate::message::PlanFacts;
pub use buffers::{Band, Buffers, buffers, is_buffered};

/// Live bytes at an operator, as a stack.
#[derive(Clone, Debug, PartialEq)]
pub struct Stack {
    /// Name of the operator.
    pub name: String,
    /// Kernel, for people.
    pub op: String,
    /// Bytes of inputs, outputs, others and scratch, each byte once.
    pub parts: [(PartRole, u64); 4],
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
    /// No placement of this strategy's kind needs less.
    pub bound: u64,
    /// Whether the arena is proved least.
    pub is_proved: bool,
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
    // In buffers lie weights, and parts of what other operators work on meanwhile.
    let [other, own] = if is_buffered(plan) {
        [PartRole::Rest, PartRole::Weights]
    } else {
        [PartRole::Later, PartRole::Scratch]
    };
    let stacks: Vec<Stack> = memory
        .rows
        .iter()
        .enumerate()
        .map(|(index, row)| Stack {
            name: row.name.clone(),
            op: kernel_title(&row.op),
            parts: {
                let [input, output, later, scratch] = row.stack().map(|bytes| bytes.0);
                [
                    (PartRole::Input, input),
                    (PartRole::Output, output),
                    (other, later),
                    (own, scratch),
                ]
            },
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
            bytes: tensor.range(),
        })
        .collect();
    let arena = memory.arena_bytes.0;
    let most = arena.max(memory.peak_live_bytes.0);
    // A limit that is far away would press everything to the floor: then it is only named.
    let is_near = limit <= most.saturating_mul(3);
    let summary = match stacks.get(memory.peak_row) {
        Some(peak) if is_buffered(plan) => format!(
            "{} operators. Tensors lie on the card; buffers hold {} at most, at {} ({}), of {} that \
             are set aside.",
            stacks.len(),
            figures::bytes(memory.peak_live_bytes.0),
            short_name(&peak.name),
            peak.op,
            figures::bytes(arena),
        ),
        Some(peak) => format!(
            "{} operators. Live tensors peak at {} in {} ({}); the arena needs {}.",
            stacks.len(),
            figures::bytes(memory.peak_live_bytes.0),
            short_name(&peak.name),
            peak.op,
            figures::bytes(arena),
        ),
        None => "No operators.".to_owned(),
    };
    MemoryView {
        peak: memory.peak_row,
        peak_bytes: memory.peak_live_bytes.0,
        arena_bytes: arena,
        bound: plan.report.lower_bound_bytes.0,
        is_proved: plan.report.proved,
        limit,
        scale: if is_near { most.max(limit) } else { most }.max(1),
        stacks,
        blocks,
        summary,
    }
}

impl MemoryView {
    /// Whether any operator has buffers of its own.
    #[must_use]
    pub fn has_scratch(&self) -> bool {
        let is_scratch = |(role, bytes): &(PartRole, u64)| *role == PartRole::Scratch && *bytes > 0;
        self.stacks.iter().flat_map(|stack| &stack.parts).any(is_scratch)
    }

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
    let place = match (tensor.space, arena_address) {
        (Space::Arena, Some(base)) => {
            let address = figures::address(u64::from(base) + tensor.offset);
            format!("offset {}, address {address}", figures::grouped(tensor.offset))
        }
        (Space::Arena, None) => format!("offset {}", figures::grouped(tensor.offset)),
        _ => "outside SRAM".to_owned(),
    };
    format!(
        "{}: {}, {} ({}); {place}; lives {}",
        short_name(&tensor.name),
        figures::shape(tensor.shape),
        figures::bytes(tensor.bytes),
        figures::binary(tensor.bytes),
        life(tensor, plan),
    )
}

/// A line of what fills the memory at an operator.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveRow {
    /// The tensor; nothing for scratch, and for bytes that tensors share.
    pub tensor: Option<usize>,
    /// What the bytes are for.
    pub role: PartRole,
    /// Name, or what the bytes are.
    pub name: String,
    /// How many.
    pub bytes: u64,
    /// Whether they are counted in another line too, and so are taken away.
    pub is_shared: bool,
    /// First byte; nothing where there are several places.
    pub offset: Option<u64>,
    /// The life, in words.
    pub life: String,
}

/// What every live byte at an operator is. Bytes that are shared aside, they add up.
#[must_use]
pub fn live_rows(plan: &PlanFacts, layer: usize) -> Vec<LiveRow> {
    let Some(row) = plan.memory.rows.get(layer) else { return Vec::new() };
    let mut rows: Vec<LiveRow> = tensors_of(plan, layer)
        .into_iter()
        .filter_map(|(number, why)| {
            let tensor = plan.tensors.get(number)?;
            Some(LiveRow {
                tensor: Some(number),
                role: role(why),
                name: short_name(&tensor.name).to_owned(),
                bytes: tensor.bytes,
                is_shared: false,
                offset: Some(tensor.offset),
                life: life(tensor, plan),
            })
        })
        .collect();
    rows.sort_by_key(|row| (row.role, u64::MAX - row.bytes));
    let mut own = |role, name: &str, bytes: u64, is_shared| {
        if bytes > 0 {
            let (name, life) = (name.to_owned(), "this operator".to_owned());
            rows.push(LiveRow { tensor: None, role, name, bytes, is_shared, offset: None, life });
        }
    };
    if is_buffered(plan) {
        own(PartRole::Input, "buffers of its input", row.input_bytes.0, false);
        own(PartRole::Output, "buffers of its output", row.output_bytes.0, false);
        own(PartRole::Weights, "buffers of its weights", row.scratch_bytes.0, false);
        own(PartRole::Rest, "buffers of other operators meanwhile", row.other_bytes.0, false);
        return rows;
    }
    own(PartRole::Later, "kept free inside a tensor to come", row.reserved_bytes.0, false);
    own(PartRole::Scratch, "buffers of the operator", row.scratch_bytes.0, false);
    own(
        PartRole::Output,
        "counted twice: tensors that lie over each other",
        row.shared_bytes.0,
        true,
    );
    rows
}

const fn role(why: TensorUse) -> PartRole {
    match why {
        TensorUse::Input => PartRole::Input,
        TensorUse::Output => PartRole::Output,
        TensorUse::Other => PartRole::Later,
    }
}

/// From which operator to which a tensor lives.
fn life(tensor: &PlacedTensor, plan: &PlanFacts) -> String {
    let name = |layer: u32| {
        let row = plan.report.layers.get(layer as usize);
        row.map_or("the end", |row| short_name(&row.name))
    };
    let last = tensor.end.saturating_sub(1).max(tensor.first);
    if last == tensor.first {
        return format!("at {}", name(last));
    }
    format!("from {} to {}", name(tensor.first), name(last))
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
    let quoted = |value: &str| format!("\"{}\"", value.replace('"', "\"\""));
    let mut text = String::from("position,operator,tensor,use,offset,bytes\n");
    for (position, row) in plan.memory.rows.iter().enumerate() {
        for (tensor, why) in &row.tensors {
            let Some(tensor) = plan.tensors.get(*tensor as usize) else { continue };
            let why = word(*why);
            text.push_str(&format!(
                "{position},{},{},{why},{},{}\n",
                quoted(&row.name),
                quoted(&tensor.name),
                tensor.offset,
                tensor.bytes
            ));
        }
        if is_buffered(plan) {
            let parts = [
                ("input", row.input_bytes),
                ("output", row.output_bytes),
                ("other", row.other_bytes),
            ];
            for (why, bytes) in parts.into_iter().filter(|(_, bytes)| bytes.0 > 0) {
                let bytes = bytes.0;
                text.push_str(&format!("{position},{},,{why},,{bytes}\n", quoted(&row.name)));
            }
        }
        if row.scratch_bytes.0 > 0 {
            let bytes = row.scratch_bytes.0;
            text.push_str(&format!("{position},{},,scratch,,{bytes}\n", quoted(&row.name)));
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
    use tilewright_plan::Bytes;

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
    fn every_live_byte_is_explained() {
        let mut plan = fixture::plan();
        plan.memory.rows[1].scratch_bytes = Bytes(6);
        plan.memory.rows[1].shared_bytes = Bytes(4);
        plan.memory.rows[1].live_bytes += Bytes(2);
        let rows = live_rows(&plan, 1);
        let signed = |row: &LiveRow| row.bytes as i64 * if row.is_shared { -1 } else { 1 };
        let sum: i64 = rows.iter().map(signed).sum();
        assert_eq!(sum, plan.memory.rows[1].live_bytes.0 as i64);
        let words: Vec<_> = rows.iter().map(|row| row.role.words()).collect();
        assert_eq!(words, ["input", "output", "scratch", "output"]);
        assert_eq!(rows[0].life, "from first to second");
        let stack = &view(&plan, 1024).stacks[1];
        assert_eq!(stack.parts.iter().map(|(_, bytes)| bytes).sum::<u64>(), stack.total);
        assert!(live_rows(&plan, 9).is_empty());
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
