//! A small plan for tests: three operators on the first board.

use tilewright_board::Board;
use tilewright_desk::{Answer, Greeting, LayerTime, MeasuredOn};
use tilewright_plan::{Bytes, CyclePoint, Cycles, Hertz, LaneKind, Micros, Space};
use tilewright_report::{
    Access, Accesses, Came, Counts, Held, Kind, LaneAccesses, LayerCount, LayerRow, MemoryMap,
    MemoryRow, Mode, Occupancy, OutputValues, Place, PlacedTensor, PlanReport, RunResult, Slice,
    SliceKind, Stay, Tier, Timeline, Traffic, Way,
};

use super::layers::Family;
use crate::message::{
    GraphFacts, GraphNet, GraphNode, ImageFacts, NodeRole, OutputFacts, PlanFacts, PlanSettings,
    TileBox, TiledMap, TiledRegion, TilesFacts,
};
use crate::state::Heard;

const SHAPES: [[u32; 3]; 4] = [[4, 4, 1], [4, 4, 2], [1, 1, 10], [1, 1, 10]];
const NAMES: [&str; 3] = ["first", "second", "third"];
const OPS: [&str; 3] = ["conv", "fully_connected", "softmax"];
const MACS: [u64; 3] = [288, 320, 0];

pub fn board() -> Board {
    tilewright_board::find("stm32f746g-disco").unwrap()
}

pub fn settings() -> PlanSettings {
    PlanSettings {
        board: "stm32f746g-disco".to_owned(),
        strategy: "resident".to_owned(),
        ..PlanSettings::default()
    }
}

pub fn counts() -> Vec<LayerCount> {
    (0..3)
        .map(|index| LayerCount {
            name: NAMES[index].to_owned(),
            op: OPS[index].to_owned(),
            macs: MACS[index].into(),
            instructions: 1_100.into(),
            cycles: Cycles(2_200).into(),
            profile: None,
        })
        .collect()
}

pub fn plan() -> PlanFacts {
    let bytes = |index: usize| SHAPES[index].iter().map(|d| u64::from(*d)).product::<u64>();
    let offsets = [0, 16, 0, 16];
    let tensors: Vec<PlacedTensor> = (0..4)
        .map(|index| PlacedTensor {
            tensor: index as u32,
            name: format!("t{index}"),
            shape: SHAPES[index],
            bytes: bytes(index),
            space: Space::Arena,
            offset: offsets[index],
            extent: bytes(index),
            first: (index as u32).saturating_sub(1),
            end: (index as u32 + 1).min(3),
        })
        .collect();
    let rows = (0..3)
        .map(|index| MemoryRow {
            name: NAMES[index].to_owned(),
            op: OPS[index].to_owned(),
            reads: vec![index as u32],
            writes: vec![index as u32 + 1],
            input_bytes: Bytes(bytes(index)),
            output_bytes: Bytes(bytes(index + 1)),
            other_bytes: Bytes(0),
            weight_bytes: Bytes(0),
            scratch_bytes: Bytes(0),
            shared_bytes: Bytes(0),
            reserved_bytes: Bytes(0),
            live_bytes: Bytes(bytes(index) + bytes(index + 1)),
        })
        .collect();
    let layers = (0..3)
        .map(|index| LayerRow {
            name: NAMES[index].to_owned(),
            op: OPS[index].to_owned(),
            no_kernel: None,
            awaits_int8: false,
            inputs: vec![SHAPES[index]],
            output: SHAPES[index + 1],
            macs: MACS[index].into(),
            parameters: ([20, 330, 0][index]).into(),
            flash_bytes: Bytes([44, 440, 0][index]).into(),
            cycles: 2_160.into(),
            packing: None,
        })
        .collect();
    let slices = (0..3u16)
        .map(|index| Slice {
            lane: 0,
            kind: SliceKind::Compute,
            waits_for: None,
            layer: index,
            frame: 0,
            step: u32::from(index),
            start: CyclePoint(u64::from(index) * 2_160),
            end: CyclePoint(u64::from(index + 1) * 2_160),
            instructions: 0,
            bytes: 0,
        })
        .collect();
    PlanFacts {
        settings: settings(),
        report: PlanReport {
            model: "small".to_owned(),
            board: "stm32f746g-disco".to_owned(),
            strategy: "resident".to_owned(),
            input: "resident".to_owned(),
            elements: "int8".to_owned(),
            stages: Vec::new(),
            alternatives: Vec::new(),
            exits: Vec::new(),
            fits: true,
            does_not_fit: None,
            runnable: true,
            peak_sram_bytes: Bytes(48).into(),
            sram_limit_bytes: Bytes(1_024).into(),
            lower_bound_bytes: Bytes(48).into(),
            proved: true,
            flash_bytes: Bytes(1_024).into(),
            packing_flash_bytes: 0.into(),
            packing_saved_cycles: 0.into(),
            flash_limit_bytes: Bytes(1 << 20).into(),
            external_bytes: Bytes(0).into(),
            macs: 608.into(),
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
            layers,
        },
        memory: MemoryMap {
            space: Space::Arena,
            rows,
            peak_live_bytes: Bytes(48),
            peak_row: 0,
            arena_bytes: Bytes(48),
            loaded_bytes: Bytes(0),
        },
        tensors,
        nodes: vec![vec![0], vec![3], vec![4]],
        tiles: None,
        timeline: Timeline {
            clock_hz: Hertz(216_000_000),
            instructions_kind: Kind::Counted,
            cycles_kind: Kind::Modelled,
            lanes: vec![LaneKind::Core],
            slices,
        },
        occupancy: occupancy(),
        accesses: accesses(),
        traffic: traffic(),
        outputs: vec![OutputFacts {
            name: "t3".to_owned(),
            shape: SHAPES[3],
            is_scores: true,
            scale: 1.0 / 256.0,
            zero: -128,
            labels: Vec::new(),
            labels_of: String::new(),
        }],
        checks: None,
        image: Some(ImageFacts {
            bytes: 1_024,
            sha256: "00".repeat(32),
            plan_id: "11".repeat(32),
            store_bytes: 0,
        }),
        no_image: None,
    }
}

fn occupancy() -> Occupancy {
    let stays = [
        (0, [0, 16], [0, 2_160], Held::Inputs, Came::Given),
        (0, [16, 48], [0, 4_320], Held::Inputs, Came::Computed),
        (1, [0, 10], [2_160, 6_480], Held::Inputs, Came::Computed),
        (2, [16, 26], [4_320, 6_480], Held::Results, Came::Computed),
    ];
    let stay = |(layer, bytes, time, held, came): (u16, [u64; 2], [u64; 2], _, _)| Stay {
        from: bytes[0],
        to: bytes[1],
        since: CyclePoint(time[0]),
        until: CyclePoint(time[1]),
        layer,
        held,
        came,
    };
    Occupancy::of(stays.map(stay).to_vec())
}

/// Each step reads its input, weights and constants, and writes its output; the last has no weights.
fn accesses() -> Accesses {
    use Access::{Read, Write};
    let arena = [[0, 16], [16, 48], [0, 10], [16, 26]];
    let (weights, constants) = ([[0, 18], [18, 338], [0, 0]], [[0, 24], [24, 144], [144, 456]]);
    let mut accesses = Accesses::default();
    let mut core = LaneAccesses::default();
    for step in 0..3 {
        for (space, bytes, access) in [
            (Space::Arena, arena[step], Read(Held::Inputs)),
            (Space::Weights, weights[step], Read(Held::Weights)),
            (Space::Constants, constants[step], Read(Held::Weights)),
            (Space::Arena, arena[step + 1], Write),
        ] {
            core.all.push((accesses.places.len() as u32, access));
            accesses.places.push((bytes[0] < bytes[1]).then_some(Place { space, bytes }));
        }
        core.ends.push(core.all.len() as u32);
    }
    accesses.lanes.push(core);
    accesses
}

/// Weights in flash, read there by the core.
fn traffic() -> Traffic {
    let flash = Tier {
        space: Space::Weights,
        way: Way::Direct,
        bytes_per_second: Some(100_000_000),
        bytes: vec![44, 440, 0],
        cycles: vec![Cycles(0); 3],
    };
    let (compute, stalls) = (vec![Cycles(2_160); 3], vec![Cycles(0); 3]);
    Traffic { tiers: vec![flash], compute, stalls, frames: 1 }
}

/// Two layers of 3 × 3 windows on 8 × 8 pixels, in 2 × 2 tiles.
pub fn tiles() -> TilesFacts {
    let side = |tile: usize, halo: u32| match tile {
        0 => [0, 4 + halo],
        _ => [4 - halo, 8],
    };
    let map = |index: usize, name: &str, channels: u32| {
        let halo = 2 - index as u32;
        let macs = [0, 9, 18][index];
        let boxes = (0..4).map(|tile| {
            let (rows, columns) = (side(tile / 2, halo), side(tile % 2, halo));
            let own = TileBox { rows, columns, macs: 0 };
            TileBox { macs: macs * own.pixels(), ..own }
        });
        let copies = (0..4).filter(|_| index > 0).map(|tile| (tile * 2 + index - 1) as u32);
        TiledMap {
            node: index.checked_sub(1).map(|node| node as u32),
            name: name.to_owned(),
            op: if index > 0 { "Conv2D" } else { "" }.to_owned(),
            rows: 8,
            columns: 8,
            channels,
            element_bytes: 1,
            macs: macs * 64,
            from: index.checked_sub(1).map(|from| from as u32).into_iter().collect(),
            boxes: boxes.collect(),
            copies: copies.collect(),
        }
    };
    TilesFacts {
        region: TiledRegion { first: 0, end: 2, grid: "2x2".to_owned() },
        rows: 2,
        columns: 2,
        maps: vec![map(0, "x", 1), map(1, "first", 1), map(2, "second", 2)],
        nodes: (0..8).map(|node| vec![node]).collect(),
    }
}

/// The graph of the plan, with a join and an operator that nothing computes between its layers.
pub fn graph() -> GraphFacts {
    let node = |layer: u32, role, name: &str, op: &str, family, shapes: [&str; 2]| GraphNode {
        role,
        name: name.to_owned(),
        op: op.to_owned(),
        detail: if op == "Conv2D" { "3×3".to_owned() } else { String::new() },
        family,
        inputs: Some(shapes[0].to_owned()).filter(|shape| !shape.is_empty()).into_iter().collect(),
        output: shapes[1].to_owned(),
        macs: if op == "Conv2D" { 288 } else { 0 },
        parameters: 0,
        weight_bytes: 0,
        output_bytes: 32,
        layer,
        x: 76.0,
    };
    let (other, operator) = (Family::Other, NodeRole::Operator);
    let nodes = vec![
        node(0, NodeRole::Input, "input", "Input", other, ["", "4×4×1"]),
        node(1, operator(0), "first", "Conv2D", Family::Conv, ["4×4×1", "4×4×2"]),
        node(2, NodeRole::Opaque(1), "mystery", "LSTM", other, ["4×4×2", "4×4×2"]),
        node(3, operator(2), "joined", "Add", other, ["4×4×2", "4×4×2"]),
        node(4, operator(3), "second", "FullyConnected", Family::Dense, ["4×4×2", "10"]),
        node(5, operator(4), "third", "Softmax", other, ["10", "10"]),
        node(6, NodeRole::Output, "output", "Output", other, ["", "10"]),
    ];
    let net = |tensor: u32, from: u32, to: &[u32], shape: &str, trunk: &[f32]| GraphNet {
        tensor,
        name: format!("t{tensor}"),
        shape: shape.to_owned(),
        bytes: 32,
        from,
        to: to.to_vec(),
        trunk: trunk.to_vec(),
    };
    let nets = vec![
        net(0, 0, &[1], "4×4×1", &[]),
        net(1, 1, &[2, 3], "4×4×2", &[182.0]),
        net(8, 2, &[3], "4×4×2", &[]),
        net(9, 3, &[4], "4×4×2", &[]),
        net(2, 4, &[5], "10", &[]),
        net(3, 5, &[6], "10", &[]),
    ];
    GraphFacts { nodes, nets, layers: 7, width: 200.0, tiled: None }
}

/// What a board says whose layers took these cycles.
pub fn heard(cycles: &[u64]) -> Heard {
    let layer = |(index, cycles): (u32, &u64)| LayerTime {
        index,
        cycles: *cycles,
        name: format!("l{index}"),
    };
    let answer = Answer {
        layers: (0..).zip(cycles).map(layer).collect(),
        outputs: vec![vec![1, 2, 3]],
        invoke_cycles: Some(cycles.iter().sum()),
        ..Answer::default()
    };
    let greeting =
        Greeting { firmware_version: "1".to_owned(), abi: 1, board: "nucleo-f767zi".to_owned() };
    let talked = tilewright_desk::Outcome {
        greeting,
        emulated: None,
        remarks: Vec::new(),
        loaded_cycles: None,
        answer,
        sent_again: 0,
        resets: 0,
    };
    Heard { talked, port: "usb 0483:374b".to_owned(), measured_on: MeasuredOn::PhysicalBoard }
}

/// The result of a run that gave these outputs.
pub fn result(outputs: Vec<Vec<i8>>) -> RunResult {
    let output = |values| OutputValues {
        name: "out".to_owned(),
        shape: [1, 1, 3],
        scale: 1.0,
        zero: 0,
        values,
        indices: None,
        labels: Vec::new(),
    };
    RunResult {
        board: "board".to_owned(),
        engine: "none".to_owned(),
        plan_id: String::new(),
        verified: None,
        compared_layers: 0.into(),
        mode: Mode::Full,
        passed_steps: 0,
        difference: None,
        fault: None,
        stack: None,
        frames: 1,
        exit: None,
        invokes: Vec::new(),
        instructions: 0.into(),
        cycles: Cycles(0).into(),
        latency_us: Micros(0.0).into(),
        given_up: 0.into(),
        given_up_us: Micros(0.0).into(),
        counts: Counts::default(),
        boot: Counts::default(),
        load: Counts::default(),
        top1: None,
        top1_label: None,
        outputs: outputs.into_iter().map(output).collect::<Vec<_>>().into(),
        layers: Vec::new(),
        unknown_registers: Vec::new(),
        console: String::new(),
        timeline: plan().timeline,
        emulation_wall_ns: 0,
        plan: None,
    }
}
