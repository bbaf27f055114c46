//! Random models on random boards by every strategy: what is planned is proved, its prediction ends, and what its
//! program computes is what the reference does. How often each strategy was refused is printed and held low.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use fastrand::Rng;
use tilewright_board::{Access, Board};
use tilewright_check::reference::inputs_of_frames;
use tilewright_model::{Model, int8};
use tilewright_plan::{Bytes, CyclePoint, Hertz, Instruction, LaneKind, Space};
use tilewright_planner::{Objective, Options, Planned, Strategy};
use tilewright_report::SliceKind;
use tilewright_runtime::Pace;
use tilewright_tests::host;
use tilewright_tests::random_model::{
    random_chain, random_dense, random_inputs, random_model, random_splits, random_tower,
};
use tilewright_tests::strategies::of_the_model;

const CASES: u64 = 120;

/// What came of a strategy.
#[derive(Debug, Default)]
struct Came {
    /// The board lacks what it needs, or the model is none for it.
    unsupported: u32,
    /// No plan, for instance since no buffers are as small.
    refused: u32,
    /// A plan that does not fit.
    too_large: u32,
    fits: u32,
}

/// A board that nobody sells: others' memories, sizes, speeds, caches and engines.
fn random_board(rng: &mut Rng) -> Board {
    let mut all = tilewright_board::all();
    let mut board = all.swap_remove(rng.usize(..all.len()));
    // A quarter to four times as much.
    let scaled = |value: u64, rng: &mut Rng| (value * rng.u64(1..=16) / 4).max(1);
    board.core.clock.hertz = Hertz(scaled(board.core.clock.hertz.0, rng));
    if rng.u8(0..4) == 0 {
        board.core.data_cache = None;
    }
    if let Some(cache) = &mut board.core.data_cache {
        cache.bytes >>= rng.u32(0..4);
        cache.ways = 1 << rng.u32(0..3);
    }
    let lost = rng.u8(0..8);
    if lost == 0 {
        board.slot = None;
    }
    let stays = |space| space == Space::Card || lost != 1;
    board.memory.retain(|memory| memory.kind.external_space().is_none_or(stays));
    for memory in &mut board.memory {
        if memory.kind.external_space().is_some() {
            memory.bytes = Bytes(scaled(memory.bytes.0, rng) / 512 * 512);
        }
        let Some(timing) = &mut memory.timing else { continue };
        let accesses = [&mut timing.core_write, &mut timing.dma_read, &mut timing.dma_write];
        let known = accesses.into_iter().flatten();
        for Access { latency_ps, bytes_per_second } in known.chain([&mut timing.core_read]) {
            *latency_ps = scaled(*latency_ps, rng);
            *bytes_per_second = scaled(*bytes_per_second, rng);
        }
    }
    for engine in &mut board.engine {
        engine.queue = rng.u32(1..6);
        engine.set_up_cycles = scaled(engine.set_up_cycles, rng);
        engine.burst_bytes = 4 << rng.u32(0..4);
        if engine.lane == LaneKind::Card {
            engine.open_reads = rng.bool();
        }
    }
    board
}

fn model(number: u64, rng: &mut Rng) -> Model {
    match number % 5 {
        0 => random_model(rng.u64(..)),
        1 => random_chain(rng.u64(..)),
        2 => random_tower(rng.u64(..)),
        3 => random_splits(rng.u64(..)),
        _ => random_dense(rng.u64(..)),
    }
}

/// Budgets of all sorts: those of the board, odd ones, few frames, buffers.
fn options(rng: &mut Rng) -> Options {
    let mut options = Options::default();
    match rng.u8(0..3) {
        0 => options.sram = Some(Bytes(rng.u64(1024..65_536))),
        1 => options.buffer = Some(Bytes(rng.u64(256..16_384))),
        _ => {}
    }
    if rng.bool() {
        options.objective = Objective::Memory;
    }
    options.frames = NonZeroU32::new(rng.u32(1..4)).unwrap();
    options
}

/// Whether a prediction ends behind its last slice, in which each layer computes.
fn ends(planned: &Planned, what: &str) {
    let end = planned.timeline.end();
    let program = planned.plan.main.as_ref().unwrap();
    let steps = program.lanes.iter().flat_map(|lane| &lane.steps);
    for step in steps.filter(|step| matches!(step.instruction, Instruction::Compute { .. })) {
        let of_layer = |slice: &&tilewright_report::Slice| {
            slice.kind == SliceKind::Compute && slice.layer == step.layer
        };
        let slice = planned.timeline.slices.iter().find(of_layer);
        let slice = slice.unwrap_or_else(|| panic!("{what}: layer {} is missing", step.layer));
        assert!(slice.start <= slice.end && slice.end <= end, "{what}");
    }
}

#[test]
fn every_strategy_is_right_on_boards_of_all_sorts() {
    let mut came: BTreeMap<&str, Came> = BTreeMap::new();
    for number in 0..CASES {
        let mut rng = Rng::with_seed(number);
        let (model, board, options) =
            (model(number, &mut rng), random_board(&mut rng), options(&mut rng));
        let inputs = random_inputs(&model, number);
        for strategy in of_the_model() {
            let what = format!("case {number}, {}, {strategy} on {}", model.name, board.id);
            let came = came.entry(strategy.name()).or_default();
            if strategy.unsupported(&model, Some(&board)).is_some() {
                came.unsupported += 1;
                continue;
            }
            let planned = match tilewright_planner::plan(&model, &board, strategy, &options) {
                Ok(planned) => planned,
                Err(error) => {
                    assert!(!error.to_string().is_empty(), "{what}");
                    came.refused += 1;
                    continue;
                }
            };
            if !planned.report.fits {
                came.too_large += 1;
                continue;
            }
            came.fits += 1;
            assert!(planned.timeline.end() > CyclePoint::default(), "{what}: nothing is predicted");
            // `auto` may plan it in tiles.
            let of_plan = planned.model(&model);
            tilewright_check::check(&planned.plan, of_plan, &board)
                .unwrap_or_else(|error| panic!("{what}: {error}"));
            ends(&planned, &what);
            let inputs = inputs_of_frames(&inputs, planned.plan.frames());
            let frames = inputs.chunks(model.inputs.len().max(1));
            let outputs = frames.map(|inputs| int8::run(&model, inputs, &mut |_, _| {}).unwrap());
            let expected: Vec<Vec<i8>> = outputs.flatten().map(|data| host::bytes(&data)).collect();
            for made in [(0x00, Pace::Early), (0xa5, Pace::Late)] {
                let found = host::run(&planned.plan, of_plan, &inputs, made)
                    .unwrap_or_else(|error| panic!("{what}: {error}"));
                assert!(found == expected, "{what}: other bytes with memory of {:#x}", made.0);
            }
        }
    }
    for (strategy, came) in &came {
        println!("{strategy:15} {came:?}");
    }
    // Else little is said of a strategy.
    for (strategy, Came { fits, .. }) in &came {
        let least = if *strategy == Strategy::PingPong.name() { CASES / 10 } else { CASES / 4 };
        assert!(u64::from(*fits) >= least, "{strategy} fits {fits} times of {CASES}");
    }
}
