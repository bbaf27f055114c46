//! Which convolutions have transformed weights: where that is faster and flash has room, never else.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_plan::{Bytes, Plan};
use tilewright_planner::{Objective, Options, Packing, Planned, Strategy};

fn resnet() -> Model {
    tilewright_zoo::network("resnet8").unwrap().int8().unwrap()
}

fn planned(model: &Model, board: &Board, packing: Packing, objective: Objective) -> Planned {
    let options = Options { packing, objective, ..Options::default() };
    let planned = tilewright_planner::plan(model, board, Strategy::Resident, &options).unwrap();
    tilewright_check::check(&planned.plan, model, board).unwrap();
    tilewright_image::images(&planned.plan, model).unwrap();
    planned
}

fn transformed(plan: &Plan) -> usize {
    plan.ops.iter().filter(|op| op.is_transformed()).count()
}

#[test]
fn faster_layers_take_the_flash_that_there_is() {
    let (model, mut board) = (resnet(), tilewright_board::find("stm32f469i-disco").unwrap());
    let of = |board: &Board, packing| planned(&model, board, packing, Objective::Latency);
    let (fast, plain) = (of(&board, Packing::Auto), of(&board, Packing::Plain));
    assert_eq!([transformed(&fast.plan), transformed(&plain.plan)], [4, 0]);
    assert_eq!(fast.report.peak_sram_bytes, plain.report.peak_sram_bytes);
    assert_eq!(plain.report.packing_flash_bytes, 0);
    // Flash is counted, and the predicted gain is the difference of both timelines.
    let more = *fast.report.flash_bytes - *plain.report.flash_bytes;
    let packed = fast.report.packing_flash_bytes.unsigned_abs();
    assert!(more.0.abs_diff(packed) < 64, "{more:?}");
    let [slow, quick] = [&plain, &fast].map(|planned| planned.timeline.end().0);
    let saved = fast.report.packing_saved_cycles;
    assert!((slow - quick).abs_diff(saved.unsigned_abs()) <= 16, "{slow} {quick} {saved}");
    assert!(quick * 4 < slow * 3 + slow / 2, "{quick} of {slow}");
    // With room for a part of it, the layers that gain most for their bytes come first, and it fits.
    let spare = packed / 2;
    let firmware = board.plan_bytes().0 - plain.report.flash_bytes.0 - spare;
    let before = board.plan_bytes();
    let place = board.firmware.as_mut().unwrap();
    place.flash_bytes += Bytes(firmware);
    assert_eq!(board.plan_bytes(), before - Bytes(firmware));
    let some = of(&board, Packing::Auto);
    assert!((1..4).contains(&transformed(&some.plan)), "{}", transformed(&some.plan));
    assert!(some.report.fits && some.report.packing_flash_bytes.unsigned_abs() <= spare);
    assert!(some.timeline.end().0 < slow);
}

#[test]
fn a_chosen_layer_is_never_slower_by_the_costs() {
    let ids = [
        "stm32f746g-disco",
        "stm32f469i-disco",
        "nucleo-f767zi",
        "nucleo-l4r5zi",
        "nrf52840-dk",
        "pico-2",
        "bench-cortex-m33",
    ];
    for id in ids {
        let board = tilewright_board::find(id).unwrap();
        for name in ["resnet8", "cifar10-cmsis", "ds-cnn"] {
            let model = tilewright_zoo::network(name).unwrap().int8().unwrap();
            let report = planned(&model, &board, Packing::Auto, Objective::Latency).report;
            let mut packed = report.layers.iter().filter_map(|row| row.packing.as_ref());
            assert!(packed.all(|packing| packing.saved_cycles > 0.into()), "{name} on {id}");
        }
    }
}

#[test]
fn boards_with_costs_of_other_kernels_have_none() {
    let (model, board) = (resnet(), tilewright_board::find("paper-tinyops-f469").unwrap());
    let plan = planned(&model, &board, Packing::Auto, Objective::Latency).plan;
    assert_eq!(transformed(&plan), 0);
}
