//! A plan of two operators for tests: the second overwrites its input, beside a tensor that both
//! keep, with a buffer of its own.

use tilewright_plan::{
    Bytes, CyclePoint, Hertz, InputResidency, Instruction, Kernel, Lane, LaneKind, Micros, Op,
    Plan, PlannedLayer, PlannedTensor, Program, RowOrder, Space, Step, View, Work,
};

use crate::figure::Kind;
use crate::memory_map::MemoryMap;
use crate::occupancy::{Came, Held, Stay};
use crate::plan_report::{LayerRow, PlanReport};
use crate::timeline::{Slice, SliceKind, Timeline};

fn tensor(name: &str, bytes: u64, offset: u64, life: [u32; 2]) -> PlannedTensor {
    PlannedTensor {
        tensor: 0,
        name: name.to_owned(),
        shape: [1, 1, bytes as u32],
        bytes: Bytes(bytes),
        space: Space::Arena,
        offset,
        pitch: None,
        ring: None,
        block: None,
        first: life[0],
        end: life[1],
    }
}

fn layer(name: &str, reads: &[u32], writes: &[u32]) -> PlannedLayer {
    PlannedLayer {
        nodes: vec![0],
        name: name.to_owned(),
        work: Work::Kernel(Kernel::Lut),
        macs: 0,
        reads: reads.to_vec(),
        writes: writes.to_vec(),
    }
}

/// `first` reads 16 bytes and writes 16; `second` overwrites these with 8, and uses 8 more from
/// byte 48 on; 16 other bytes live all the time.
pub fn plan() -> Plan {
    let step = |layer: u16| Step {
        after: [None; 3],
        frame: 0,
        layer,
        instruction: Instruction::Compute {
            op: 0,
            tile: 0,
            first_view: if layer == 0 { 0 } else { 3 },
            order: RowOrder::Whole,
        },
    };
    let view = |offset, bytes| View::bytes(Space::Arena, offset, bytes);
    let table = View::bytes(Space::Constants, 0, 256);
    Plan {
        model: "small & <odd>".to_owned(),
        board: "board".to_owned(),
        strategy: "resident".to_owned(),
        input: InputResidency::Resident,
        layers: vec![layer("first", &[0], &[1]), layer("second", &[1], &[2])],
        tensors: vec![
            tensor("in", 16, 0, [0, 1]),
            tensor("between", 16, 16, [0, 2]),
            tensor("out", 8, 16, [1, 2]),
            tensor("kept", 16, 32, [0, 2]),
        ],
        ops: vec![Op { kernel: Kernel::Lut as u16, ..Op::default() }],
        tiles: Vec::new(),
        views: vec![view(0, 16), view(16, 16), table, view(16, 8), view(48, 8), table],
        spans: Vec::new(),
        constants: Vec::new(),
        boot: None,
        main: Some(Program {
            name: "main".to_owned(),
            frames: 1,
            lanes: vec![Lane { kind: LaneKind::Core, steps: vec![step(0), step(1)] }],
            inputs: Vec::new(),
            outputs: Vec::new(),
        }),
        subnetworks: Vec::new(),
        space_bytes: [Bytes(56), Bytes(0), Bytes(0), Bytes(0), Bytes(0), Bytes(0)],
        sector_checksums: None,
    }
}

/// A report of it that fits.
pub fn report(memory: &MemoryMap) -> PlanReport {
    let row = |name: &str| LayerRow {
        name: name.to_owned(),
        op: "lut".to_owned(),
        no_kernel: None,
        awaits_int8: false,
        inputs: Vec::new(),
        output: [1, 1, 8],
        macs: 0.into(),
        parameters: 0.into(),
        flash_bytes: Bytes(0).into(),
        cycles: 0.into(),
        packing: None,
    };
    PlanReport {
        model: "small & <odd>".to_owned(),
        board: "board".to_owned(),
        strategy: "resident".to_owned(),
        input: "resident".to_owned(),
        fits: true,
        does_not_fit: None,
        runnable: true,
        elements: "int8".to_owned(),
        stages: Vec::new(),
        alternatives: Vec::new(),
        exits: Vec::new(),
        peak_sram_bytes: memory.arena_bytes.into(),
        sram_limit_bytes: Bytes(60).into(),
        lower_bound_bytes: Bytes(40).into(),
        proved: false,
        flash_bytes: Bytes(1000).into(),
        packing_flash_bytes: 0.into(),
        packing_saved_cycles: 0.into(),
        flash_limit_bytes: Bytes(2000).into(),
        external_bytes: Bytes(0).into(),
        macs: 0.into(),
        tiles: None,
        recomputed_macs: 0.into(),
        latency_us: Some(Micros(30.0).into()),
        compute_us: Some(Micros(30.0).into()),
        transfer_us: Some(Micros(0.0).into()),
        stall_us: Some(Micros(0.0).into()),
        bound_us: Some(Micros(30.0).into()),
        read_bytes: Bytes(0).into(),
        written_bytes: Bytes(0).into(),
        frames: 1,
        card_written_bytes: Bytes(0).into(),
        card_writes: 0.into(),
        energy_uj: None,
        layers: vec![row("first"), row("second")],
    }
}

/// A run with a core and a DMA engine, at a megahertz.
pub fn timeline() -> Timeline {
    let slice = |lane, kind, layer, start, end, bytes| Slice {
        lane,
        kind,
        waits_for: None,
        layer,
        frame: 0,
        step: 0,
        start: CyclePoint(start),
        end: CyclePoint(end),
        instructions: 0,
        bytes,
    };
    Timeline {
        clock_hz: Hertz(1_000_000),
        instructions_kind: Kind::Counted,
        cycles_kind: Kind::Modelled,
        lanes: vec![LaneKind::Core, LaneKind::Dma],
        slices: vec![
            slice(0, SliceKind::Compute, 0, 0, 10, 0),
            slice(0, SliceKind::Compute, 1, 10, 30, 0),
            slice(1, SliceKind::Copy, 1, 0, 5, 64),
        ],
    }
}

/// Bytes that the first layer wrote, for some time.
pub const fn stay(bytes: [u64; 2], time: [u64; 2], held: Held) -> Stay {
    Stay {
        from: bytes[0],
        to: bytes[1],
        since: CyclePoint(time[0]),
        until: CyclePoint(time[1]),
        layer: 0,
        held,
        came: Came::Computed,
    }
}
