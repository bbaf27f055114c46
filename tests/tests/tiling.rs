//! Graphs in tiles give the same bytes as the graph itself, in the interpreter and by every strategy.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeMap;

use fastrand::Rng;
use tilewright_board::Board;
use tilewright_check::check;
use tilewright_model::prune::Pruning;
use tilewright_model::tiling::{self, Grid, Tiled, Tiling, TilingError};
use tilewright_model::{Model, int8};
use tilewright_plan::{Bytes, Plan, Reader, Space};
use tilewright_planner::{Options, Packing, PlanError, Planned, Recipe, Strategy};
use tilewright_runtime::Pace;
use tilewright_tests::host;
use tilewright_tests::random_model::{random_inputs, random_of_any_kind};

const BOARDS: [&str; 3] = ["stm32f746g-disco", "stm32f469i-disco", "nucleo-f767zi"];

fn tiling(rng: &mut Rng) -> Tiling {
    let grid = Grid { rows: rng.u16(1..=3), columns: rng.u16(1..=3) };
    Tiling { grid, threshold: rng.u16(0..=1000) }
}

fn outputs(model: &Model, seed: u64) -> Vec<Vec<i8>> {
    let inputs = random_inputs(model, seed);
    let outputs = int8::run(model, &inputs, &mut |_, _| {}).unwrap();
    outputs.iter().map(host::bytes).collect()
}

/// The model in tiles; nothing if it has no layers that can be, or too few pixels.
fn tiled(model: &Model, tiling: &Tiling) -> Option<Tiled> {
    match tiling::tile(model, tiling) {
        Ok(tiled) => Some(tiled),
        Err(TilingError::NoRegion { .. } | TilingError::TooFine { .. }) => None,
        Err(error) => panic!("{}: {error}", model.name),
    }
}

/// Tiles are told as they are written: each node of a tile makes the pixels that are told of it, the last ones make
/// the region's output once, and what is told together takes the multiply-accumulates that are counted.
fn holds_boxes(given: &Model, tiled: &Tiled) {
    if tiled.grid.tiles() == 1 {
        return assert!(tiled.tiles.is_empty());
    }
    assert_eq!(tiled.tiles.len(), tiled.grid.tiles());
    let mut macs = 0;
    let mut output = Vec::new();
    for tile in &tiled.tiles {
        for part in &tile.parts {
            let (node, copy) = (&given.nodes[part.node], &tiled.model.nodes[part.copy]);
            assert_eq!(tiled.origins[part.copy], Some(part.node));
            let made = tiled.model.tensor(copy.outputs[0]).shape.dims();
            assert_eq!(made[1..3], [part.pixels.rows.len(), part.pixels.columns.len()]);
            macs += tiled.model.macs(copy);
            if node.outputs[0] == tiled.region.output {
                let (rows, columns) = (part.pixels.rows.clone(), part.pixels.columns.clone());
                output
                    .extend(rows.flat_map(|row| columns.clone().map(move |column| (row, column))));
            }
        }
        let input = given.tensor(tiled.region.input).shape.dims();
        let read = tile.input.as_ref().unwrap();
        assert!(read.rows.end <= input[1] && read.columns.end <= input[2], "{read:?}");
    }
    let once: u64 = given.nodes[tiled.region.nodes.clone()].iter().map(|n| given.macs(n)).sum();
    // Pixels that nobody needs, since strides pass over them, are made by no tile.
    assert_eq!(macs.saturating_sub(once), tiled.recomputed_macs);
    output.sort_unstable();
    let [_, rows, columns, _] = *given.tensor(tiled.region.output).shape.dims() else { panic!() };
    let all = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
    assert!(output.into_iter().eq(all), "each pixel of the output is made once");
}

#[test]
fn tiles_of_random_networks_give_the_same_bytes() {
    let mut rng = Rng::with_seed(20);
    let (mut count, mut recomputed) = (0, 0);
    for seed in 0..800 {
        let model = random_of_any_kind(seed);
        let tiling = tiling(&mut rng);
        let Some(found) = tiled(&model, &tiling) else { continue };
        let what = format!("{} {tiling:?} {:?}", model.name, found.region);
        found.model.verify().unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(outputs(&found.model, seed), outputs(&model, seed), "{what}");
        count += usize::from(tiling.grid.tiles() > 1);
        recomputed += usize::from(found.recomputed_macs > 0);
        holds_boxes(&model, &found);
    }
    assert!(count > 200 && recomputed > 50, "{count} networks in tiles, {recomputed} with a halo");
}

fn planned(model: &Model, board: &Board, strategy: Strategy, options: &Options) -> Option<Planned> {
    match tilewright_planner::plan(model, board, strategy, options) {
        Ok(planned) => Some(planned).filter(|planned| planned.report.fits),
        Err(PlanError::Unsupported(_)) => None,
        Err(error) => panic!("{}, {strategy}: {error}", model.name),
    }
}

/// The plan without the name that says who made it.
fn nameless(plan: &Plan) -> Plan {
    Plan { strategy: String::new(), ..plan.clone() }
}

#[test]
fn every_strategy_runs_tiles_bit_equal() {
    let mut rng = Rng::with_seed(21);
    let mut ran: BTreeMap<Strategy, usize> = BTreeMap::new();
    for seed in 0..30 {
        let model = random_of_any_kind(seed);
        let tiling = tiling(&mut rng);
        if tiled(&model, &tiling).is_none_or(|_| tiling.grid.tiles() == 1) {
            continue;
        }
        let board = tilewright_board::find(BOARDS[seed as usize % 3]).unwrap();
        let sram = rng.bool().then(|| Bytes(rng.u64(..30_000)));
        let options = Options { tiling: Some(tiling), sram, ..Options::default() };
        for strategy in Strategy::ALL {
            let Some(planned) = planned(&model, &board, strategy, &options) else { continue };
            let what = format!("{}, {strategy}, {tiling:?}", model.name);
            let in_tiles = planned.model(&model);
            assert!(in_tiles.nodes.len() > model.nodes.len(), "{what}");
            let of_tiled = planned.tiled.as_ref().unwrap();
            assert_eq!(planned.report.tiles, Some(tiling.grid.to_string()));
            assert_eq!(planned.report.recomputed_macs, of_tiled.recomputed_macs);
            check(&planned.plan, in_tiles, &board).unwrap_or_else(|e| panic!("{what}: {e}"));
            let inputs = random_inputs(&model, seed);
            let found = host::run(&planned.plan, in_tiles, &inputs, (0xa5, Pace::Late));
            assert_eq!(found, Ok(outputs(&model, seed)), "{what}");
            // A recipe says which tiles; it is of the model itself.
            let text = planned.recipe.text(&model);
            let recipe = Recipe::read(&text, &model).unwrap_or_else(|e| panic!("{what}: {e}"));
            let again = recipe.planned(&model, &board, &options).unwrap();
            assert!(nameless(&again.plan) == nameless(&planned.plan), "{what}: another plan");
            *ran.entry(strategy).or_default() += 1;
        }
    }
    // Tiles are no chain, which ping-pong asks for.
    let mut others = Strategy::ALL.iter().filter(|strategy| **strategy != Strategy::PingPong);
    assert!(others.all(|strategy| ran.get(strategy) > Some(&3)), "{ran:?}");
}

#[test]
fn tiles_read_one_copy_of_weights() {
    let model = tilewright_zoo::network("mobilenet-v1-w0.25-r96").unwrap().int8().unwrap();
    let board = tilewright_board::find("stm32f746g-disco").unwrap();
    let whole = planned(&model, &board, Strategy::Reordered, &Options::default()).unwrap();
    let options = Options { tiling: Some(Tiling::PUBLISHED), ..Options::default() };
    let tiles = planned(&model, &board, Strategy::Reordered, &options).unwrap();
    assert_eq!(tiles.plan.space(Space::Weights), whole.plan.space(Space::Weights));
    assert!(tiles.report.peak_sram_bytes.0 < whole.report.peak_sram_bytes.0 * 9 / 10);
    // A block that is another node's is refused.
    let in_tiles = tiles.model(&model);
    let mut broken = tiles.plan.clone();
    let shared = broken.constants.iter().position(|block| block.copies.len() == 3).unwrap();
    let other = broken.constants.iter().find(|block| block.copies.is_empty()).unwrap();
    let wrong = Reader { node: other.node, op: other.op };
    broken.constants[shared].copies[0] = wrong;
    let error = check(&broken, in_tiles, &board).unwrap_err().to_string();
    assert!(error.contains("is not what a copy of its node needs"), "{error}");
    // A tile that is not said to read it either.
    let mut broken = tiles.plan.clone();
    broken.constants[shared].copies.pop();
    assert!(check(&broken, in_tiles, &board).is_err());
}

#[test]
fn what_sparse_weights_save_is_counted_once_though_tiles_share_them() {
    let group = std::num::NonZeroUsize::new(2).unwrap();
    let pruning = Pruning { sparsity: 800, group, is_global: false };
    let network = tilewright_zoo::network("mobilenet-v1-w0.25-r96").unwrap();
    let model = network.pruned(&pruning).unwrap();
    let board = tilewright_board::find("stm32f746g-disco").unwrap();
    let bytes = |packing| {
        let options = Options { tiling: Some(Tiling::PUBLISHED), packing, ..Options::default() };
        let planned = planned(&model, &board, Strategy::Resident, &options).unwrap();
        (planned.report.flash_bytes.0 as i64, planned.report.packing_flash_bytes)
    };
    let ((plain, none), (sparse, saved)) = (bytes(Packing::Plain), bytes(Packing::Sparse));
    assert_eq!(none, 0);
    // The rest of the image changes a little too: blocks begin elsewhere, tables are packed in another way.
    let rest = sparse - plain - *saved;
    assert!(saved < (-200_000).into() && rest.abs() < 2_048, "{sparse}, {plain}, {saved}");
}

#[test]
fn regions_are_those_of_the_paper() {
    // More MACs of the network with 2x2 tiles and a threshold of 0.4, in thousandths.
    let expected = [
        ("mobilenet-v1-w1.00-r192", 0..8, 22),
        ("mobilenet-v1-w0.50-r192", 0..8, 26),
        ("mobilenet-v2-w1.00-r192", 1..10, 16),
        ("mobilenet-v2-w1.00-r160", 1..10, 20),
    ];
    for (name, nodes, more) in expected {
        let model = tilewright_zoo::network(name).unwrap().int8().unwrap();
        let macs: u64 = model.nodes.iter().map(|node| model.macs(node)).sum();
        let found = tiling::tile(&model, &Tiling::PUBLISHED).unwrap();
        assert_eq!(found.region.nodes, nodes, "{name}");
        let thousandths = (found.recomputed_macs as f64 / macs as f64 * 1000.0).round();
        assert_eq!(thousandths as u64, more, "{name}");
    }
}

#[test]
fn what_cannot_be_tiled_is_refused_with_its_reason() {
    let of = |name: &str| tilewright_zoo::network(name).unwrap().int8().unwrap();
    let error = |model: &Model, rows, columns, threshold| {
        let tiling = Tiling { grid: Grid { rows, columns }, threshold };
        tiling::tile(model, &tiling).unwrap_err()
    };
    let dense = of("autoencoder");
    let found = error(&dense, 2, 2, 400);
    assert!(
        matches!(&found, TilingError::NoRegion { op, .. } if op == "FullyConnected"),
        "{found}"
    );
    let resnet = of("resnet8");
    assert_eq!(error(&resnet, 2, 2, 1001), TilingError::Threshold);
    assert_eq!(error(&resnet, 0, 2, 400), TilingError::Grid);
    assert_eq!(error(&resnet, 300, 1, 400), TilingError::Grid);
    assert!(matches!(error(&resnet, 33, 1, 400), TilingError::TooFine { rows: 16, .. }));
    assert_eq!(error(&Model::default(), 2, 2, 400), TilingError::NoLayers);
    let many = of("densenet121");
    let found = error(&many, 16, 16, 0);
    assert!(
        matches!(found, TilingError::TooMany { tiles: 256, .. } | TilingError::TooFine { .. }),
        "{found}"
    );
    // One tile is the graph itself.
    let one = Tiling { grid: Grid { rows: 1, columns: 1 }, threshold: 400 };
    assert_eq!(tiling::tile(&resnet, &one).unwrap().model, resnet);
    for grid in ["2", "2x", "x", "0x2", "2x2x2", "17x17", "-1x1"] {
        assert_eq!(grid.parse::<Grid>(), Err(TilingError::Grid), "{grid}");
    }
    // The planner says the same, with what to do.
    let board = tilewright_board::find("nucleo-f767zi").unwrap();
    let options = Options { tiling: Some(Tiling::PUBLISHED), ..Options::default() };
    let refused = tilewright_planner::plan(&dense, &board, Strategy::Auto, &options).unwrap_err();
    let PlanError::Unsupported(why) = refused else { panic!("{refused}") };
    assert_eq!(why.remedy, "Plan the model without tiles.");
}
