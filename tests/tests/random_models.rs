//! Random models through every stage: each plan is proved, and its image, run by the firmware's
//! runtime on the host, gives the bytes of the reference interpreter.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::{BTreeMap, BTreeSet};

use tilewright_board::Board;
use tilewright_model::{Model, int8};
use tilewright_plan::image::PlanImage;
use tilewright_plan::{Bytes, ConstantRole, Instruction, Kernel, Plan, RowOrder};
use tilewright_planner::{Objective, Options, Packing, Strategy};
use tilewright_runtime::Pace;
use tilewright_tests::host;
use tilewright_tests::random_model::{
    random_chain, random_inputs, random_model, random_network, random_splits,
};
use tilewright_tests::strategies::of_the_model;

const MODELS: u64 = 400;
const CHAINS: u64 = 200;
const NETWORKS: u64 = 100;
/// Changed plans of each model.
const CHANGES: u64 = 12;

fn board() -> Board {
    tilewright_board::find("stm32f746g-disco").unwrap()
}

fn planned(model: &Model, strategy: Strategy) -> Plan {
    // What shares most has most that can go wrong, and so has what is packed by two rules.
    let (objective, packing) = (Objective::Memory, Packing::Fast);
    let options = Options { objective, packing, ..Options::default() };
    tilewright_planner::plan(model, &board(), strategy, &options).unwrap().plan
}

/// The strategies that can plan a model.
fn strategies(model: &Model) -> impl Iterator<Item = Strategy> {
    let board = board();
    let able = move |strategy: &Strategy| strategy.unsupported(model, Some(&board)).is_none();
    of_the_model().filter(able)
}

#[test]
fn every_strategy_gives_the_bytes_of_the_reference() {
    let models = (0..MODELS).map(random_model).chain((0..CHAINS).map(random_chain));
    for model in models.chain((0..NETWORKS).map(random_network)) {
        let name = &model.name;
        model.verify().unwrap_or_else(|e| panic!("{name}: {e}"));
        let inputs = random_inputs(&model, model.nodes.len() as u64);
        let expected =
            int8::run(&model, &inputs, &mut |_, _| {}).unwrap_or_else(|e| panic!("{name}: {e}"));
        let expected: Vec<Vec<i8>> = expected.iter().map(host::bytes).collect();
        for strategy in strategies(&model) {
            let plan = planned(&model, strategy);
            tilewright_check::check(&plan, &model, &board())
                .unwrap_or_else(|e| panic!("{name}, {strategy}: {e}"));
            let image = tilewright_image::plan_image(&plan, &model).unwrap();
            let bytes = plan.image_bytes();
            assert_eq!(image.len() as u64, bytes.0, "{name}");
            assert!(plan.image_fits(bytes) && !plan.image_fits(bytes - Bytes(1)), "{name}");
            for (garbage, pace) in [(0x00, Pace::Early), (0xa5, Pace::Late)] {
                let found = host::run(&plan, &model, &inputs, (garbage, pace))
                    .unwrap_or_else(|e| panic!("{name}, {strategy}: {e}"));
                assert_eq!(found, expected, "{name}, {strategy}, memory of {garbage:#x}");
            }
        }
    }
}

/// The test above would say little of a kernel that no model uses.
#[test]
fn every_kernel_is_used_by_many_models() {
    let mut uses = BTreeMap::new();
    let given = (0..MODELS).map(|seed| (random_model(seed), Strategy::Resident));
    let fused = (0..CHAINS).map(|seed| (random_chain(seed), Strategy::PingPong));
    for (model, strategy) in given.chain(fused) {
        let layers = planned(&model, strategy).layers;
        for kernel in layers.iter().map(|layer| layer.work.name()).collect::<BTreeSet<_>>() {
            *uses.entry(kernel.to_owned()).or_insert(0u32) += 1;
        }
    }
    for kernel in Kernel::ALL {
        let count = uses.get(kernel.name()).copied().unwrap_or(0);
        assert!(count >= 20, "{} is used by {count} of {MODELS} models", kernel.name());
    }
}

#[test]
fn reordering_never_needs_more_memory_and_sometimes_less() {
    let (mut better, mut proved) = (0, 0);
    for seed in 0..MODELS {
        let model = random_model(seed);
        let report = |strategy| {
            let options = Options::default();
            tilewright_planner::plan(&model, &board(), strategy, &options).unwrap().report
        };
        let (given, ordered) = (report(Strategy::Resident), report(Strategy::Reordered));
        assert!(*ordered.lower_bound_bytes <= *ordered.peak_sram_bytes, "model {seed}");
        proved += u64::from(ordered.proved);
        assert!(ordered.peak_sram_bytes <= given.peak_sram_bytes, "model {seed}");
        better += u64::from(ordered.peak_sram_bytes < given.peak_sram_bytes);
    }
    assert!(better > MODELS / 50, "{better} of {MODELS}");
    assert!(proved > MODELS * 19 / 20, "{proved} of {MODELS}");
}

#[test]
fn a_plan_with_one_number_changed_is_caught_or_still_right() {
    let mut caught = 0u32;
    let mut rng = fastrand::Rng::with_seed(7);
    for seed in 0..MODELS * CHANGES {
        let (model, strategy) = match seed % 7 {
            6 => (random_network(seed % NETWORKS), Strategy::Auto),
            0 | 3 => (random_chain(seed % CHAINS), Strategy::PingPong),
            1 if rng.bool() => (random_splits(seed % MODELS), Strategy::Reordered),
            1 => (random_splits(seed % MODELS), Strategy::Auto),
            _ if rng.bool() => (random_model(seed % MODELS), Strategy::Resident),
            _ => (random_model(seed % MODELS), Strategy::Auto),
        };
        let inputs = random_inputs(&model, seed);
        let mut plan = planned(&model, strategy);
        if !mutate(&mut plan, &mut rng) {
            continue;
        }
        if tilewright_check::check(&plan, &model, &board()).is_err() {
            caught += 1;
            continue;
        }
        let expected = int8::run(&model, &inputs, &mut |_, _| {}).unwrap();
        let expected: Vec<Vec<i8>> = expected.iter().map(host::bytes).collect();
        let found = host::run(&plan, &model, &inputs, (0xa5, Pace::Late))
            .unwrap_or_else(|e| panic!("model {seed}: {e}"));
        assert_eq!(found, expected, "model {seed}: a wrong plan passed the check");
    }
    let changed = MODELS * CHANGES;
    assert!(u64::from(caught) > changed / 2, "only {caught} of {changed} were caught");
}

/// Changes one number of a plan; false if the plan has nothing of the kind drawn.
fn mutate(plan: &mut Plan, rng: &mut fastrand::Rng) -> bool {
    fn pick<'a, T>(items: &'a mut [T], rng: &mut fastrand::Rng) -> Option<&'a mut T> {
        let count = items.len();
        if count == 0 { None } else { items.get_mut(rng.usize(..count)) }
    }
    let delta = rng.u32(1..40);
    let changed = match rng.usize(..23) {
        0 => pick(&mut plan.views, rng).map(|view| view.offset = view.offset.wrapping_add(delta)),
        1 => pick(&mut plan.views, rng).map(|view| view.offset = view.offset.saturating_sub(delta)),
        2 => pick(&mut plan.ops, rng).map(|op| op.input_zero[0] ^= 1),
        3 => pick(&mut plan.ops, rng).map(|op| op.scalars[0] ^= 0x40),
        4 => pick(&mut plan.tiles, rng).map(|tile| tile.output_size[0] += 1),
        5 => {
            let steps = &mut plan.main.as_mut().unwrap().lanes[0].steps;
            let count = steps.len();
            (count > 1).then(|| {
                let at = rng.usize(..count - 1);
                steps.swap(at, at + 1);
            })
        }
        6 => pick(&mut plan.views, rng).map(|view| view.space = rng.u8(..6)),
        7 => pick(&mut plan.views, rng).map(|view| view.y0 += 1),
        8 => pick(&mut plan.views, rng).map(|view| view.x0 += 1),
        9 => pick(&mut plan.views, rng).map(|view| view.row_pitch += delta),
        10 => pick(&mut plan.views, rng).map(|view| view.column_pitch += delta),
        11 => pick(&mut plan.views, rng).map(|view| view.first_row = rng.u16(..4)),
        12 => pick(&mut plan.views, rng).map(|view| view.ring_rows = rng.u16(..20)),
        13 => pick(&mut plan.tiles, rng).map(|tile| tile.channel_start += rng.u32(1..4)),
        14 => pick(&mut plan.tiles, rng).map(|tile| tile.valid_start[rng.usize(..2)] += 1),
        15 => pick(&mut plan.tiles, rng).map(|tile| tile.valid_size[rng.usize(..2)] ^= 1),
        16 => pick(&mut plan.constants, rng).map(|block| block.offset += u64::from(delta)),
        17 => pick(&mut plan.ops, rng)
            .map(|op| op.scalars[rng.usize(..6)] ^= if rng.bool() { 1 } else { 1 << 16 }),
        18 => pick(&mut plan.ops, rng).map(|op| op.flags ^= 1 << rng.u8(..4)),
        19 => pick(&mut plan.ops, rng).map(|op| op.input_zero[1] ^= 1),
        20 => pick(&mut plan.views, rng).map(|view| view.c = 1),
        21 => {
            let orders = plan.main.as_mut().unwrap().lanes[0].steps.iter_mut().filter_map(|step| {
                match &mut step.instruction {
                    Instruction::Compute { order, .. } => Some(order),
                    _ => None,
                }
            });
            let mut orders: Vec<_> = orders.collect();
            pick(&mut orders, rng).map(|order| **order = RowOrder::ALL[rng.usize(..3)])
        }
        _ => {
            let gathers = plan.constants.iter_mut().filter_map(|block| match &mut block.role {
                ConstantRole::Gather(gather) => Some(gather),
                _ => None,
            });
            let mut gathers: Vec<_> = gathers.collect();
            pick(&mut gathers, rng).map(|gather| match rng.usize(..4) {
                0 => gather.start += delta,
                1 => gather.steps[rng.usize(..6)] += 1,
                2 => gather.sizes.swap(4, 5),
                _ => gather.split[rng.usize(..2)] ^= 1,
            })
        }
    };
    changed.is_some()
}

#[test]
fn images_with_any_bit_flipped_never_panic_and_are_refused() {
    let model = random_model(3);
    let plan = planned(&model, Strategy::Resident);
    let image = tilewright_image::plan_image(&plan, &model).unwrap();
    let expected =
        tilewright_plan::image::Expected { board: &plan.board, space_bytes: board().space_bytes() };
    let mut rng = fastrand::Rng::with_seed(11);
    for _ in 0..2000 {
        let mut wrong = image.clone();
        let at = rng.usize(..wrong.len());
        wrong[at] ^= 1 << rng.u8(..8);
        let aligned = tilewright_plan::image::AlignedBytes::copy_of(&wrong);
        // Padding between sections is covered by no checksum.
        if PlanImage::read(aligned.bytes(), &expected).is_ok() {
            assert_eq!(wrong[at].count_ones(), 1, "a flipped bit at {at} went unnoticed");
        }
    }
}
