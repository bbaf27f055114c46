//! Shapes of reports for the OpenAPI description. The reports' own types live where no HTTP
//! library is known; a test compares these with what they serialise to.
#![allow(dead_code, reason = "read by the derived descriptions alone")]

use utoipa::ToSchema;

/// Instructions (counted) and cycles (modelled) by what they were for.
#[derive(ToSchema)]
pub struct Counts {
    /// Instructions inside kernels.
    compute_instructions: u64,
    /// Instructions of the runtime between kernels.
    dispatch_instructions: u64,
    /// Instructions in interrupt handlers.
    interrupt_instructions: u64,
    /// Cycles inside kernels.
    compute_cycles: u64,
    /// Cycles of the runtime between kernels.
    dispatch_cycles: u64,
    /// Cycles in interrupt handlers.
    interrupt_cycles: u64,
    /// Cycles asleep.
    wait_cycles: u64,
}

/// The first byte at which a run differs from the reference.
#[derive(ToSchema)]
pub struct Difference {
    /// Layer.
    layer: String,
    /// Tensor.
    tensor: String,
    /// Index of the first differing element.
    element: u64,
    /// What the reference interpreter gives.
    expected: i8,
    /// What the run gave.
    found: i8,
    /// Number of differing elements in that tensor.
    differing: u64,
}

/// What went wrong on the emulated board.
#[derive(ToSchema)]
pub struct Fault {
    /// `hard_fault`, `firmware`, `card`, `unmapped_access`, `stack_overflow`,
    /// `instruction_limit`, `time_limit`, `output_limit`, `deadlock`, `worker`.
    kind: String,
    /// What, where, what to do next.
    message: String,
    /// Step of the core lane, if one was running or waited.
    step: Option<u32>,
    /// Layer, if one was running; of a copy that failed that which it is for.
    layer: Option<u16>,
    /// The layer's name.
    layer_name: Option<String>,
    /// The copy that failed, if it was one.
    copy: Option<FailedCopy>,
    /// Register names and values.
    registers: Vec<(String, u32)>,
    /// Start addresses of the last executed blocks, newest last, with the function if known.
    last_blocks: Vec<(u32, String)>,
}

/// Where a copy between card and memory failed for good.
#[derive(ToSchema)]
pub struct FailedCopy {
    /// Step of the card's lane.
    step: u32,
    /// First sector of what was read or written last.
    sector: u32,
}

/// How deep the firmware's stack grew, boot included (counted).
#[derive(ToSchema)]
pub struct StackUse {
    /// Outside of interrupts.
    thread_bytes: u64,
    /// Of interrupts, from where they interrupt.
    handler_bytes: u64,
    /// Both together: had the longest interrupt come when all else was deepest.
    used_bytes: u64,
    /// All that there is.
    limit_bytes: u64,
}

/// Counts of a layer.
#[derive(ToSchema)]
pub struct LayerCount {
    /// Name.
    name: String,
    /// Kernel.
    op: String,
    /// Multiply-accumulates, nominal.
    macs: u64,
    /// Executed instructions inside kernels (counted).
    instructions: u64,
    /// Cycles (modelled).
    cycles: u64,
    /// Where its cycles went, and its hottest blocks; null for sampled runs.
    profile: Option<LayerProfile>,
}

/// Where the cycles of a layer's kernels went.
#[derive(ToSchema)]
pub struct LayerProfile {
    /// By cause.
    causes: Vec<CauseCount>,
    /// The blocks that took most cycles, the hottest first.
    blocks: Vec<HotBlock>,
}

/// What a cause took.
#[derive(ToSchema)]
pub struct CauseCount {
    /// `multiply`, `load`, `store`, `requantise`, `arrange`, `loop`, `other`, `stall` or `flash`.
    cause: String,
    /// Executed instructions (counted).
    instructions: u64,
    /// Cycles (modelled).
    cycles: u64,
}

/// A block of instructions.
#[derive(ToSchema)]
pub struct HotBlock {
    /// Address of its first instruction.
    address: u32,
    /// The function that it is part of.
    function: String,
    /// How often it ran (counted).
    runs: u64,
    /// Its cycles, all runs together (modelled).
    cycles: u64,
    /// Of these, cycles until the core went on elsewhere.
    branch_cycles: u64,
    /// Of these, cycles that it waited for flash.
    flash_cycles: u64,
    /// Its instructions.
    listing: Vec<ListedInstruction>,
}

/// An instruction of a block.
#[derive(ToSchema)]
pub struct ListedInstruction {
    /// Encoding and text.
    text: String,
    /// What it is there for.
    cause: String,
    /// Cycles each time it runs (modelled).
    cycles: u32,
    /// Cycles that it waits for operands before (modelled).
    stall_cycles: u32,
}

/// What happened when, on which lane.
#[derive(ToSchema)]
pub struct Timeline {
    /// Clock that cycles are counted in, in hertz.
    clock_hz: u64,
    /// How instruction counts came to be: `counted`.
    instructions_kind: String,
    /// How cycles came to be: `modelled`.
    cycles_kind: String,
    /// The lanes: `core`, `dma`, `card`.
    lanes: Vec<String>,
    /// Slices, ordered by start within each lane.
    slices: Vec<Slice>,
}

/// A stretch of time on a lane.
#[derive(ToSchema)]
pub struct Slice {
    /// Index into the lanes.
    lane: u8,
    /// `compute`, `copy` or `stall`.
    kind: String,
    /// The lane that a stall waits for.
    waits_for: Option<u8>,
    /// Layer (position in the plan's order).
    layer: u16,
    /// Step in the lane.
    step: u32,
    /// Frame that is worked on.
    frame: u32,
    /// Start, in cycles.
    start: u64,
    /// End, in cycles.
    end: u64,
    /// Executed instructions.
    instructions: u64,
    /// Bytes moved.
    bytes: u64,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde::Serialize;
    use tilewright_plan::{CyclePoint, Cycles, Hertz, LaneKind};
    use tilewright_report as report;
    use utoipa::PartialSchema;

    fn same_keys<S: PartialSchema>(report: &impl Serialize) {
        let keys = |value: &serde_json::Value| -> BTreeSet<String> {
            value.as_object().unwrap().keys().cloned().collect()
        };
        let described = serde_json::to_value(S::schema()).unwrap();
        let real = serde_json::to_value(report).unwrap();
        assert_eq!(keys(&described["properties"]), keys(&real));
    }

    #[test]
    fn descriptions_have_the_keys_of_reports() {
        let layer = report::LayerCount {
            name: String::new(),
            op: String::new(),
            macs: 0,
            instructions: 0,
            cycles: Cycles(0),
            profile: None,
        };
        let line = report::ListedInstruction {
            text: String::new(),
            cause: report::Cause::Load,
            cycles: 0,
            stall_cycles: 0,
        };
        let block = report::HotBlock {
            address: 0,
            function: String::new(),
            runs: 0,
            cycles: Cycles(0),
            branch_cycles: Cycles(0),
            flash_cycles: Cycles(0),
            listing: vec![],
        };
        let cause =
            report::CauseCount { cause: report::Cause::Load, instructions: 0, cycles: Cycles(0) };
        let difference = report::Difference {
            layer: String::new(),
            tensor: String::new(),
            element: 0,
            expected: 0,
            found: 0,
            differing: 0,
        };
        let fault = report::Fault {
            kind: report::FaultKind::Deadlock,
            message: String::new(),
            step: None,
            layer: None,
            layer_name: None,
            copy: None,
            registers: vec![],
            last_blocks: vec![],
        };
        let slice = report::Slice {
            lane: 0,
            kind: report::SliceKind::Compute,
            waits_for: None,
            layer: 0,
            step: 0,
            frame: 0,
            start: CyclePoint(0),
            end: CyclePoint(0),
            instructions: 0,
            bytes: 0,
        };
        let timeline = report::Timeline {
            clock_hz: Hertz(1),
            instructions_kind: report::Kind::Counted,
            cycles_kind: report::Kind::Modelled,
            lanes: vec![LaneKind::Core],
            slices: vec![slice],
        };
        same_keys::<super::Counts>(&report::Counts::default());
        same_keys::<super::LayerCount>(&layer);
        same_keys::<super::LayerProfile>(&report::LayerProfile::default());
        same_keys::<super::CauseCount>(&cause);
        same_keys::<super::HotBlock>(&block);
        same_keys::<super::ListedInstruction>(&line);
        same_keys::<super::Difference>(&difference);
        same_keys::<super::Fault>(&fault);
        same_keys::<super::FailedCopy>(&report::FailedCopy { step: 0, sector: 0 });
        same_keys::<super::StackUse>(&report::StackUse::default());
        same_keys::<super::Slice>(&slice);
        same_keys::<super::Timeline>(&timeline);
    }
}
