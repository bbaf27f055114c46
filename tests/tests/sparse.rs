//! Weights without their zeros: the same outputs by every strategy, in fewer bytes.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use fastrand::Rng;
use tilewright_board::Board;
use tilewright_check::check;
use tilewright_model::prune::Pruning;
use tilewright_model::{Model, int8};
use tilewright_plan::image::{AlignedBytes, Expected};
use tilewright_plan::{Bytes, ConstantRole, Instruction, Op, Plan, PlanImage, Space, SparseCuts};
use tilewright_planner::{Options, Overlaid, Packing, PlanError, Planned, Recipe, Strategy};
use tilewright_runtime::Pace;
use tilewright_tests::host;
use tilewright_tests::random_model::{random_inputs, random_of_any_kind};

const BOARDS: [&str; 3] = ["stm32f746g-disco", "stm32f469i-disco", "nucleo-f767zi"];

fn planned(model: &Model, board: &Board, strategy: Strategy, options: &Options) -> Option<Planned> {
    match tilewright_planner::plan(model, board, strategy, options) {
        Ok(planned) => Some(planned).filter(|planned| planned.report.fits),
        Err(PlanError::Unsupported(_)) => None,
        Err(error) => panic!("{}, {strategy}: {error}", model.name),
    }
}

fn sparse(plan: &Plan) -> usize {
    plan.ops.iter().filter(|op| op.is_sparse()).count()
}

#[test]
fn every_strategy_runs_sparse_weights_bit_equal() {
    let mut rng = Rng::with_seed(40);
    let mut ran: BTreeMap<Strategy, usize> = BTreeMap::new();
    for seed in 0..60 {
        let model = random_of_any_kind(seed);
        let board = tilewright_board::find(BOARDS[seed as usize % 3]).unwrap();
        let sram = rng.bool().then(|| Bytes(rng.u64(..30_000)));
        let packing = [Packing::Auto, Packing::Sparse][rng.usize(..2)];
        let options = Options { packing, sram, ..Options::default() };
        for strategy in Strategy::ALL {
            let Some(planned) = planned(&model, &board, strategy, &options) else { continue };
            if sparse(&planned.plan) == 0 {
                continue;
            }
            let what = format!("{}, {strategy}, {packing:?}", model.name);
            // One of them plans the model in tiles.
            let of_plan = planned.model(&model);
            check(&planned.plan, of_plan, &board).unwrap_or_else(|e| panic!("{what}: {e}"));
            let inputs = random_inputs(&model, seed);
            let expected = int8::run(&model, &inputs, &mut |_, _| {}).unwrap();
            let found = host::run(&planned.plan, of_plan, &inputs, (0xa5, Pace::Late));
            assert_eq!(found, Ok(expected.iter().map(host::bytes).collect()), "{what}");
            let text = planned.recipe.text(&model);
            let recipe = Recipe::read(&text, &model).unwrap_or_else(|e| panic!("{what}: {e}"));
            let again = recipe.planned(&model, &board, &options).unwrap();
            let nameless = |plan: &Plan| Plan { strategy: String::new(), ..plan.clone() };
            assert!(nameless(&again.plan) == nameless(&planned.plan), "{what}: another plan");
            *ran.entry(strategy).or_default() += 1;
        }
    }
    assert!(Strategy::ALL.iter().all(|strategy| ran.get(strategy) > Some(&1)), "{ran:?}");
}

/// A network of the zoo, so many thousandths of whose weights are zero in groups of two.
fn pruned(name: &str, sparsity: u16) -> Model {
    let pruning = Pruning { sparsity, group: NonZeroUsize::new(2).unwrap(), is_global: false };
    tilewright_zoo::network(name).unwrap().pruned(&pruning).unwrap()
}

#[test]
fn zeros_take_neither_flash_nor_time() {
    let board = tilewright_board::find("stm32f746g-disco").unwrap();
    let name = "mobilenet-v1-w0.25-r96";
    let of = |sparsity, packing| {
        let options = Options { packing, ..Options::default() };
        planned(&pruned(name, sparsity), &board, Strategy::Resident, &options).unwrap()
    };
    let dense = of(800, Packing::Plain);
    let sparse_80 = of(800, Packing::Auto);
    assert!(sparse(&sparse_80.plan) > 10 && sparse(&dense.plan) == 0);
    assert!(sparse_80.report.flash_bytes.0 * 2 < dense.report.flash_bytes.0);
    assert!(sparse_80.timeline.end().0 * 10 < dense.timeline.end().0 * 9);
    // Where few weights are zero none is left out, and nothing is slower.
    assert_eq!(sparse(&of(0, Packing::Auto).plan), 0);
    assert_eq!(sparse(&of(100, Packing::Sparse).plan), 0);
}

#[test]
fn what_does_not_fit_flash_is_stored_without_zeros_though_it_is_slower() {
    let mut board = tilewright_board::find("stm32f746g-disco").unwrap();
    let model = pruned("mobilenet-v1-w0.25-r96", 450);
    let options = Options::default();
    let roomy = planned(&model, &board, Strategy::Resident, &options).unwrap();
    let least = Options { packing: Packing::Sparse, ..Options::default() };
    let least = planned(&model, &board, Strategy::Resident, &least).unwrap();
    assert!(least.report.flash_bytes < roomy.report.flash_bytes, "no layer is slower");
    let spare = board.plan_bytes().0 - least.report.flash_bytes.0;
    board.firmware.as_mut().unwrap().flash_bytes += Bytes(spare);
    let fits = planned(&model, &board, Strategy::Resident, &options).unwrap();
    assert_eq!(fits.report.flash_bytes, least.report.flash_bytes);
}

/// Steps of sparse ops that make some of a layer's channels, each with its place in the tables.
fn parts(plan: &Plan) -> Vec<Part> {
    let steps = plan.main.as_ref().unwrap().lanes[0].steps.iter().filter_map(|step| {
        let Instruction::Compute { op, tile, first_view, .. } = step.instruction else {
            return None;
        };
        let channels = plan.tiles[tile as usize].channels;
        let all = plan.constants.iter().find(|block| block.op == op)?.cuts.as_ref()?.channels();
        let is_part = plan.ops[op as usize].is_sparse() && channels < all;
        is_part.then_some(Part { op: op as usize, tile: tile as usize, views: first_view as usize })
    });
    steps.collect()
}

struct Part {
    op: usize,
    tile: usize,
    /// Its first operand; the third are its weights.
    views: usize,
}

#[test]
fn weights_that_copies_bring_are_cut_by_blocks_of_channels() {
    let board = tilewright_board::find("stm32f746g-disco").unwrap();
    let model = pruned("mobilenet-v1-w1.0-r96", 800);
    let with = |strategy, packing| {
        let overlaid = Overlaid::IN_PARTS;
        let options = Options { packing, overlaid, ..Options::default() };
        planned(&model, &board, strategy, &options).unwrap()
    };
    for strategy in [Strategy::Stream, Strategy::Swap, Strategy::Overlay] {
        let brought = with(strategy, Packing::Sparse);
        // Convolutions that are not depthwise, and the last layer.
        assert_eq!(sparse(&brought.plan), 15, "{strategy}");
        assert!(!parts(&brought.plan).is_empty(), "{strategy}");
        let dense = with(strategy, Packing::Plain);
        let ends = [&brought, &dense].map(|planned| planned.timeline.end().0);
        assert!(ends[0] < ends[1], "{strategy}: {ends:?}");
    }
}

#[test]
fn weights_from_a_card_are_sparse_where_their_bytes_take_longer_than_their_products() {
    let board = tilewright_board::find("stm32f746g-disco").unwrap();
    // Too few zeros for the core, enough for the card.
    let model = pruned("mobilenet-v1-w0.25-r96", 450);
    let count =
        |strategy| sparse(&planned(&model, &board, strategy, &Options::default()).unwrap().plan);
    let counts = [Strategy::Resident, Strategy::Stream].map(count);
    assert!(counts[0] < counts[1], "{counts:?}");
}

#[test]
fn other_weights_than_a_layer_has_are_refused() {
    let board = tilewright_board::find("stm32f746g-disco").unwrap();
    let model = pruned("mobilenet-v1-w0.25-r96", 800);
    let options = Options { packing: Packing::Sparse, ..Options::default() };
    let plan = planned(&model, &board, Strategy::Resident, &options).unwrap().plan;
    let op = plan.ops.iter().position(Op::is_sparse).unwrap();
    let block = plan
        .constants
        .iter()
        .position(|block| block.role == ConstantRole::Weights && block.op as usize == op);
    let (block, refused) = (block.unwrap(), |plan: &Plan| check(plan, &model, &board).is_err());
    assert!(!refused(&plan));
    let broken = |change: &dyn Fn(&mut Plan)| {
        let mut broken = plan.clone();
        change(&mut broken);
        broken
    };
    // Another length, no flag, and a step that makes some of the channels.
    assert!(refused(&broken(&|plan| plan.constants[block].bytes.0 -= 12)));
    assert!(refused(&broken(&|plan| plan.ops[op].flags = 0)));
    assert!(refused(&broken(&|plan| plan.constants[block].cuts = None)));
    let dense = plan.ops.iter().position(|op| !op.is_sparse()).unwrap();
    assert!(refused(&broken(&|plan| plan.ops[dense].flags |= Op::SPARSE)));
    assert!(refused(&broken(&|plan| {
        let step = plan.main.as_ref().unwrap().lanes[0].steps.iter().find_map(|step| {
            let Instruction::Compute { op: of, tile, first_view, .. } = step.instruction else {
                return None;
            };
            (of as usize == op).then_some((tile as usize, first_view as usize))
        });
        let (tile, first) = step.unwrap();
        plan.tiles[tile].channels -= 2;
        plan.views[first + 1].c -= 2;
        plan.views[first + 3].c -= 24;
    })));
    assert_eq!(plan.views.iter().filter(|view| view.space() == Some(Space::Card)).count(), 0);
}

#[test]
fn blocks_that_begin_elsewhere_are_refused() {
    let board = tilewright_board::find("stm32f746g-disco").unwrap();
    // Filters of one row and of several.
    let model = pruned("mobilenet-v1-w1.0-r96", 800);
    let options =
        Options { packing: Packing::Sparse, sram: Some(Bytes(110_000)), ..Options::default() };
    let plan = planned(&model, &board, Strategy::Stream, &options).unwrap().plan;
    assert_eq!(check(&plan, &model, &board).err(), None);
    let parts = parts(&plan);
    let of = |has_blocks: bool| {
        let found =
            parts.iter().rev().find(|part| (plan.ops[part.op].sparse_block > 0) == has_blocks);
        found.unwrap()
    };
    for part in [of(false), of(true)] {
        let broken = |change: &dyn Fn(&mut Plan)| {
            let mut broken = plan.clone();
            change(&mut broken);
            broken
        };
        let weights = part.views + 2;
        let elsewhere: [&dyn Fn(&mut Plan); 7] = [
            &|plan| plan.views[weights].offset += 4,
            &|plan| plan.views[weights].offset -= 4,
            &|plan| plan.views[weights].c += 4,
            &|plan| plan.views[weights].c -= 4,
            &|plan| plan.tiles[part.tile].channel_start -= 2,
            &|plan| plan.ops[part.op].sparse_block ^= 6,
            &|plan| {
                let block = plan.constants.iter_mut().find(|block| {
                    block.op as usize == part.op && block.role == ConstantRole::Weights
                });
                let cuts = block.as_ref().unwrap().cuts.as_ref().unwrap();
                let mut starts = cuts.starts().to_vec();
                starts[1] += 4;
                let cuts = SparseCuts::from_starts(cuts.each(), cuts.channels(), &starts.into());
                block.unwrap().cuts = Some(cuts.unwrap());
            },
        ];
        for (number, change) in elsewhere.iter().enumerate() {
            let broken = broken(change);
            assert!(
                check(&broken, &model, &board).is_err(),
                "change {number} of {:?}",
                plan.ops[part.op]
            );
        }
        // The reader sees no weights of a card; the kernel does.
        let image = |plan: &Plan| tilewright_image::plan_image(plan, &model).unwrap();
        let read = |plan: &Plan| {
            let image = AlignedBytes::copy_of(&image(plan));
            let expected = Expected { board: &board.id, space_bytes: board.space_bytes() };
            PlanImage::read(image.bytes(), &expected).err()
        };
        assert_eq!(read(&plan), None);
        if plan.ops[part.op].sparse_block > 0 {
            assert!(read(&broken(elsewhere[4])).is_some());
        }
        let inputs = random_inputs(&model, 1);
        let run = |plan: &Plan| host::run(plan, &model, &inputs, (0xa5, Pace::Late));
        assert!(run(&plan).is_ok());
        for change in &elsewhere[..4] {
            assert!(run(&broken(change)).is_err());
        }
    }
}
