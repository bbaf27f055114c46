//! Memory at each operator, and the arena over time.

mod buffers;

use tilewright_board::Board;
use tilewright_plan::Space;
use tilewright_report::{MemoryRow, PartRole, PlacedTensor, TensorUse, short_name};

use super::figures;
use super::layers::kernel_title;
use crate::message::PlanFacts;
pub use buffers::{Buffers, buffers, is_buffered};

/// Live bytes at an operator, as a stack.
#[derive(Clone, Debug, PartialEq)]
pub struct Stack {
    /// Name of the operator.
    pub name: String,
    /// Kernel, for people.
    pub op: String,
    /// Bytes of inputs, outputs, others, weights and scratch, each byte once.
    pub parts: [(PartRole, u64); 5],
    /// Their sum.
    pub total: u64,
    /// Whether this is the peak.
    pub is_peak: bool,
}

/// A tensor in the drawn memory: a rectangle over layers and bytes, both half-open.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Index into the plan's tensors.
    pub tensor: usize,
    pub name: String,
    /// First layer, one past the last.
    pub layers: [u32; 2],
    /// First byte, one past the last.
    pub bytes: [u64; 2],
}

/// Both charts: they share the axis of operators.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryView {
    /// The memory that is drawn: SRAM, or where SRAM holds nothing that which holds the tensors.
    pub memory: &'static str,
    /// One for each operator.
    pub stacks: Vec<Stack>,
    /// Tensors in that memory.
    pub blocks: Vec<Block>,
    /// Index of the peak.
    pub peak: usize,
    /// Largest sum of live bytes.
    pub peak_bytes: u64,
    /// Bytes of the arena that the placement needs.
    pub arena_bytes: u64,
    /// No placement of this strategy's kind needs less; nothing if that is not known.
    pub bound: Option<u64>,
    /// Whether the arena is proved least.
    pub is_proved: bool,
    /// Bytes that may be used.
    pub limit: u64,
    /// The end of the axis of bytes: the limit is on it if it is near.
    pub scale: u64,
    /// In words.
    pub summary: String,
}

/// The memory that the charts of a plan draw: how many bytes of it may be used on this board.
#[must_use]
pub fn limit(plan: &PlanFacts, board: &Board) -> u64 {
    match plan.memory.space {
        Space::Arena => plan.report.sram_limit_bytes.0,
        space => board.external(space).map_or(0, |memory| memory.bytes.0),
    }
}

/// A memory, for people.
#[must_use]
pub const fn memory_words(space: Space) -> &'static str {
    match space {
        Space::Arena => "SRAM",
        Space::Weights | Space::Constants => "flash",
        Space::ExternalRam => "external RAM",
        Space::ExternalFlash => "external flash",
        Space::Card => "the card",
    }
}

/// Where what lies in a memory is, for people.
#[must_use]
pub fn place_words(space: Space) -> String {
    let preposition = if space == Space::Card { "on" } else { "in" };
    format!("{preposition} {}", memory_words(space))
}

/// Where the tensors lie that are not in SRAM: "in external RAM and on the card"; nothing if all are
/// there.
fn elsewhere(plan: &PlanFacts) -> Option<String> {
    let holds = |space: &Space| plan.tensors.iter().any(|tensor| tensor.space == *space);
    let spaces = Space::ALL.into_iter().filter(|space| *space != Space::Arena && holds(space));
    let words: Vec<_> = spaces.map(place_words).collect();
    (!words.is_empty()).then(|| words.join(" and "))
}

/// What fills the memory at an operator, from the bottom up.
#[must_use]
pub fn parts(plan: &PlanFacts, row: &MemoryRow) -> [(PartRole, u64); 5] {
    // In buffers lie parts of what other operators work on meanwhile.
    let other = if is_buffered(plan) { PartRole::Rest } else { PartRole::Later };
    let roles = [PartRole::Input, PartRole::Output, other, PartRole::Weights, PartRole::Scratch];
    let bytes = row.stack();
    std::array::from_fn(|index| (roles[index], bytes[index].0))
}

/// The charts of a plan, with `limit` bytes of the memory that they draw.
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
            parts: parts(plan, row),
            total: row.live_bytes.0,
            is_peak: index == memory.peak_row,
        })
        .collect();
    let blocks = plan
        .tensors
        .iter()
        .enumerate()
        .filter(|(_, tensor)| tensor.space == memory.space)
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
    let peak = stacks.get(memory.peak_row);
    let peak = peak.map(|peak| {
        let bytes = figures::bytes(memory.peak_live_bytes.0);
        format!("{bytes} at {} ({})", short_name(&peak.name), peak.op)
    });
    let all = figures::bytes(arena);
    let summary = match (peak, elsewhere(plan)) {
        (None, _) => "No operators.".to_owned(),
        (Some(peak), Some(place)) if memory.space != Space::Arena => format!(
            "{} operators. SRAM holds no tensors and no weights: kernels work {place}, where live \
             tensors peak at {peak}; their places need {all}.",
            stacks.len(),
        ),
        (Some(peak), Some(place)) if is_buffered(plan) => format!(
            "{} operators. Tensors lie {place}; SRAM holds the parts that are worked on, at most \
             {peak}; their places need {all}.",
            stacks.len(),
        ),
        (Some(peak), place) => format!(
            "{} operators.{} Live tensors and buffers of SRAM peak at {peak}; their places need {all}.",
            stacks.len(),
            place.map_or_else(String::new, |place| format!(" Some tensors lie {place}.")),
        ),
    };
    MemoryView {
        peak: memory.peak_row,
        peak_bytes: memory.peak_live_bytes.0,
        arena_bytes: arena,
        memory: memory_words(memory.space),
        bound: (memory.space == Space::Arena)
            .then_some(plan.report.lower_bound_bytes.0)
            .filter(|bound| *bound > 0),
        is_proved: plan.report.proved,
        limit,
        scale: if is_near { most.max(limit) } else { most }.max(1),
        stacks,
        blocks,
        summary,
    }
}

impl MemoryView {
    /// Whether any operator has bytes that are for this.
    #[must_use]
    pub fn has(&self, role: PartRole) -> bool {
        let is_it = |(own, bytes): &(PartRole, u64)| *own == role && *bytes > 0;
        self.stacks.iter().flat_map(|stack| &stack.parts).any(is_it)
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
        (space, _) => {
            format!("{}, offset {}", place_words(space), figures::grouped(tensor.offset))
        }
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
    let beside = beside_tensors(plan, layer);
    let mut own = |role, name: &str, bytes: u64, is_shared| {
        if bytes > 0 {
            let (name, life) = (name.to_owned(), "this operator".to_owned());
            rows.push(LiveRow { tensor: None, role, name, bytes, is_shared, offset: None, life });
        }
    };
    let [input, output, other] = beside;
    own(PartRole::Input, "parts of its input", input, false);
    own(PartRole::Output, "parts of its output", output, false);
    own(PartRole::Rest, "buffers of other operators meanwhile", other, false);
    own(PartRole::Later, "kept free inside a tensor to come", row.reserved_bytes.0, false);
    own(PartRole::Weights, "weights", row.weight_bytes.0, false);
    own(PartRole::Scratch, "buffers of the operator", row.scratch_bytes.0, false);
    own(
        PartRole::Output,
        "counted twice: tensors that lie over each other",
        row.shared_bytes.0,
        true,
    );
    rows
}

/// Bytes of inputs, outputs and others at a layer that belong to no tensor in the drawn memory.
fn beside_tensors(plan: &PlanFacts, layer: usize) -> [u64; 3] {
    let Some(row) = plan.memory.rows.get(layer) else { return [0; 3] };
    let uses = [
        (TensorUse::Input, row.input_bytes),
        (TensorUse::Output, row.output_bytes),
        (TensorUse::Other, row.other_bytes),
    ];
    uses.map(|(role, bytes)| {
        let tensors = plan.memory.live_at(layer, &plan.tensors).filter(|(_, why)| *why == role);
        bytes.0.saturating_sub(tensors.map(|(tensor, _)| plan.tensors[tensor].bytes).sum())
    })
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
    plan.memory.live_at(layer, &plan.tensors).collect()
}

/// Both charts as CSV: one line for each tensor that is live at an operator.
#[must_use]
pub fn csv(plan: &PlanFacts) -> String {
    let quoted = |value: &str| format!("\"{}\"", value.replace('"', "\"\""));
    let mut text = String::from("position,operator,tensor,use,offset,bytes\n");
    for (position, row) in plan.memory.rows.iter().enumerate() {
        for (tensor, why) in plan.memory.live_at(position, &plan.tensors) {
            let (tensor, why) = (&plan.tensors[tensor], word(why));
            text.push_str(&format!(
                "{position},{},{},{why},{},{}\n",
                quoted(&row.name),
                quoted(&tensor.name),
                tensor.offset,
                tensor.bytes
            ));
        }
        let [input, output, other] = beside_tensors(plan, position);
        let (weights, scratch) = (row.weight_bytes.0, row.scratch_bytes.0);
        let parts = [
            ("input", input),
            ("output", output),
            ("other", other),
            ("weights", weights),
            ("scratch", scratch),
        ];
        for (why, bytes) in parts.into_iter().filter(|(_, bytes)| *bytes > 0) {
            text.push_str(&format!("{position},{},,{why},,{bytes}\n", quoted(&row.name)));
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
