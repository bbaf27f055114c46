//! How deep the firmware's stack grows in the deepest plans there are, counted on the emulated boards: it fits
//! even if the longest interrupt of any comes when the deepest kernel of any runs.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_plan::{Bytes, LaneKind};
use tilewright_planner::{Integrity, Options, Overlaid, Strategy};
use tilewright_report::StackUse;
use tilewright_tests::emulated;
use tilewright_tests::random_model::{extreme_layer, random_inputs};

/// Bytes of the stack that stay free: what no run here may have met.
const SPARE: u64 = 1024;
/// Layers at the edges of what kernels are made for.
const LAYERS: u64 = 24;

fn network(name: &str) -> Model {
    tilewright_zoo::network(name).unwrap().int8().unwrap()
}

/// The stack of a run; nothing if the board cannot run that.
fn used(board: &Board, model: &Model, strategy: Strategy, options: &Options) -> Option<StackUse> {
    if strategy.unsupported(model, Some(board)).is_some() {
        return None;
    }
    let planned = tilewright_planner::plan(model, board, strategy, options).unwrap();
    if planned.unsupported(board).is_some() {
        return None;
    }
    let inputs = random_inputs(model, 1);
    let (_, job) = emulated::job_with(model, board, strategy, &inputs, options).unwrap();
    let finish = emulated::run_job(job).unwrap().finish;
    let what = format!("{}, {strategy}, {}", model.name, board.id);
    assert_eq!(finish.fault, None, "{what}");
    let stack = finish.stack.unwrap_or_else(|| panic!("{what}: nothing is known of the stack"));
    Some(stack)
}

/// The deepest of several runs, kernels and interrupts apart.
fn deepest(runs: impl IntoIterator<Item = StackUse>) -> StackUse {
    let all = runs.into_iter().reduce(|a, b| {
        let [thread, handlers] =
            [a.thread_bytes.max(b.thread_bytes), a.handler_bytes.max(b.handler_bytes)];
        StackUse::new(thread, handlers, a.limit_bytes)
    });
    all.unwrap()
}

#[test]
fn the_deepest_kernel_beneath_the_longest_interrupt_leaves_room() {
    // Transformed convolutions, depthwise ones in planes, and what single layers reach.
    let resnet = network("resnet8");
    let mobilenet = network("mobilenet-v1-w0.25-r128");
    let layers: Vec<Model> = (0..LAYERS).map(|seed| extreme_layer(seed).0).collect();
    let ways = [Integrity::Trusted, Integrity::Checked, Integrity::Sealed];
    emulated::on_each(&emulated::with_small(emulated::of_every_core()), |board| {
        let options = Options::default();
        let resident = [&resnet, &mobilenet].into_iter().chain(&layers);
        let mut runs: Vec<StackUse> =
            resident.filter_map(|model| used(board, model, Strategy::Resident, &options)).collect();
        let (sram, overlaid) = (Some(Bytes(49_152)), Overlaid::ALL);
        let staged = Options { sram, overlaid, ..Options::default() };
        runs.extend(used(board, &mobilenet, Strategy::Overlay, &staged));
        let from_card = [Strategy::Swap, Strategy::Stream];
        for (strategy, integrity) in from_card.into_iter().flat_map(|s| ways.map(|w| (s, w))) {
            let options = Options { integrity, ..Options::default() };
            runs.extend(used(board, &resnet, strategy, &options));
        }
        let StackUse { thread_bytes, handler_bytes, used_bytes, limit_bytes } = deepest(runs);
        assert!(!board.drives(LaneKind::Card) || handler_bytes.0 > 500, "{handler_bytes:?}");
        println!(
            "{}: {} bytes outside of interrupts, {} in them, of {}",
            board.id, thread_bytes.0, handler_bytes.0, limit_bytes.0
        );
        assert!(
            used_bytes.0 + SPARE <= limit_bytes.0,
            "{}: {} bytes of the stack outside of interrupts and {} in them, of {}",
            board.id,
            thread_bytes.0,
            handler_bytes.0,
            limit_bytes.0
        );
    });
}
