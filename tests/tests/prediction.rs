//! What is predicted of real networks beside what the emulated board counts.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs;

use tilewright_board::Board;
use tilewright_formats::Limits;
use tilewright_model::quantise::{QuantiseOptions, quantise};
use tilewright_model::{Data, Model};
use tilewright_plan::{Bytes, CyclePoint};
use tilewright_planner::{Options, Overlaid, Strategy};
use tilewright_report::SliceKind;
use tilewright_tests::emulated;

/// Largest error of a layer's cycles and of a network's, in thousandths.
const LAYER_PERMILLE: u64 = 100;
/// Kernels whose layers miss it in external memory, with what they may not go beyond: in a depthwise layer of few
/// pixels filters and activations push each other out of the data cache; a softmax of ten values takes 4,600 cycles, of
/// which values and what is left of its code decide some hundreds; of a convolution few of whose bytes are used in each line,
/// by stride or by a lone channel, waits are most of the time, as of a pool over a whole map.
const MISSES_OUTSIDE: [(&str, u64); 5] = [
    ("depthwise", 117),
    ("softmax", 107),
    ("conv", 110),
    ("average_pool", 105),
    ("fully_connected", 110),
];
/// Likewise in the chip's memories: how much of a small kernel's code those before it leave where it is kept, calibration
/// cannot know, since it runs one other before each. Of the 4,100 cycles of a softmax some 500 are such (the tables are older than the firmware's exits),
/// and of the 4,900 of a fully connected layer of ten outputs.
const MISSES: [(&str, u64); 2] = [("softmax", 120), ("fully_connected", 105)];
/// What a network of 900,000 cycles on the L4R5 takes for code depends on which lines of its small flash cache the
/// firmware's code shares with kernels.
const NETWORK_PERMILLE: u64 = 36;
/// Of a network whose pools are computed with convolutions: calibration does not know those kernels any
/// better.
const FUSED_PERMILLE: u64 = 50;
/// Of a network some of whose operands lie in external memory.
const BEYOND_PERMILLE: u64 = 50;

fn bundled(name: &str) -> Model {
    let path = emulated::project().join("models").join(name);
    let model =
        tilewright_formats::open(name, &fs::read(path).unwrap(), &Limits::default(), &[]).unwrap();
    let mut rng = fastrand::Rng::with_seed(1);
    let sample = model
        .inputs
        .iter()
        .map(|id| model.tensor(*id).shape.elements().unwrap())
        .map(|elements| Data::F32((0..elements).map(|_| rng.f32()).collect()))
        .collect();
    quantise(&model, &[sample], &QuantiseOptions::default()).unwrap().0
}

fn zoo(name: &str) -> Model {
    tilewright_zoo::network(name).unwrap().int8().unwrap()
}

fn permille(predicted: u64, counted: u64) -> u64 {
    predicted.abs_diff(counted) * 1000 / counted.max(1)
}

/// Not on the Raspberry Pi Pico 2: where weights and constants meet in the cache in front of its serial flash depends on
/// their addresses, which costs do not know (docs/results.md).
#[test]
fn layers_and_networks_are_predicted() {
    let ids = [
        "stm32f746g-disco",
        "stm32f469i-disco",
        "nucleo-f767zi",
        "nucleo-l4r5zi",
        "nrf52840-dk",
        "bench-cortex-m33",
    ];
    let boards = ids.map(|id| tilewright_board::find(id).unwrap());
    let beyond: Vec<String> = boards.iter().flat_map(predicted_on).collect();
    assert_eq!(beyond, Vec::<String>::new());
}

/// Cycles with what the core waits for flash; layers beyond what they may miss.
fn predicted_on(board: &Board) -> Vec<String> {
    let mut beyond = Vec::new();
    let cases = [
        (bundled("lenet5.onnx"), Strategy::Resident),
        (bundled("lenet5.onnx"), Strategy::PingPong),
        (bundled("fashion-mobilenet.onnx"), Strategy::Resident),
        (zoo("resnet8"), Strategy::Resident),
        (zoo("cifar10-cmsis"), Strategy::Resident),
        (zoo("cifar10-cmsis"), Strategy::PingPong),
        (zoo("ds-cnn"), Strategy::Resident),
    ];
    for (model, strategy) in cases {
        let mut rng = fastrand::Rng::with_seed(2);
        let elements = |id| model.tensor(id).shape.elements().unwrap();
        let inputs: Vec<Data> = model
            .inputs
            .iter()
            .map(|id| Data::I8((0..elements(*id)).map(|_| rng.i8(..)).collect()))
            .collect();
        let run = emulated::run(&model, board, strategy, &inputs).unwrap();
        assert_eq!(run.mismatch, None, "{}", model.name);
        let planned =
            tilewright_planner::plan(&model, board, strategy, &Options::default()).unwrap();
        let layers = planned.plan.layers.len();
        let (mut predicted, mut counted) = (vec![0; layers], vec![0; layers]);
        let computes = planned.timeline.slices.iter().filter(|s| s.kind == SliceKind::Compute);
        for slice in computes {
            predicted[usize::from(slice.layer)] += slice.end.since(slice.start).0;
        }
        let steps = &planned.plan.main.as_ref().unwrap().lanes[0].steps;
        for count in &run.outcome.steps {
            counted[usize::from(steps[count.step as usize].layer)] += count.cycles;
        }
        println!("{}, {strategy}, {}", model.name, board.id);
        let mut worst = 0;
        for ((layer, predicted), counted) in
            planned.plan.layers.iter().zip(&predicted).zip(&counted)
        {
            let error = permille(*predicted, *counted);
            println!("{error:>5} ‰ of {counted:>9} cycles: {} ({})", layer.name, layer.work.name());
            worst = worst.max(error);
            let miss = MISSES.iter().find(|(kernel, _)| *kernel == layer.work.name());
            if error > miss.map_or(LAYER_PERMILLE, |(_, most)| *most) {
                beyond.push(format!("{}, {}, {}: {error} ‰ off", board.id, model.name, layer.name));
            }
        }
        let waits = run.outcome.steps.iter().map(|step| step.code_waits + step.constant_waits);
        let waited = waits.sum::<u64>() * 1000 / counted.iter().sum::<u64>();
        println!("{waited:>5} ‰ of the network wait for flash");
        let waits = board.flash_waits().is_some();
        // Where code is kept, weights are waited for alone.
        let some = if keeps_kernels(board) { 1..100 } else { 10..400 };
        assert_eq!(some.contains(&waited), waits, "{}: {waited} ‰", model.name);
        let whole = permille(predicted.iter().sum(), counted.iter().sum());
        println!("{whole:>5} ‰ of the network, {worst} ‰ of its worst layer");
        let most = if strategy == Strategy::PingPong { FUSED_PERMILLE } else { NETWORK_PERMILLE };
        assert!(whole <= most, "{}: the network is {whole} ‰ off", model.name);
    }
    beyond
}

/// Whether what the core keeps of code holds several kernels.
fn keeps_kernels(board: &Board) -> bool {
    board.flash_waits().is_some_and(|waits| waits.code.lines * waits.code.line_bytes >= 16_384)
}

/// Depthwise layers with windows of five and seven, with strides and over few pixels, and pointwise ones of few
/// pixels, as searched networks have them.
#[test]
fn layers_of_searched_networks_are_predicted() {
    // Of the first, flash of the F746 does not hold the weights.
    let cases = [
        ("proxylessnas-mobile-w0.2-r64", "stm32f469i-disco"),
        ("proxylessnas-mobile-w0.2-r64", "bench-cortex-m33"),
        ("mcunet-in0-r64", "stm32f746g-disco"),
        ("mcunet-in0-r64", "stm32f469i-disco"),
        ("mcunet-in0-r64", "nucleo-f767zi"),
        ("proxylessnas-mobile-w0.2-r64", "nucleo-f767zi"),
        ("mcunet-in0-r64", "nucleo-l4r5zi"),
        ("mcunet-in0-r64", "nrf52840-dk"),
    ];
    let mut beyond = Vec::new();
    for (name, id) in cases {
        let model = zoo(name);
        let mut rng = fastrand::Rng::with_seed(4);
        let elements = model.tensor(model.inputs[0]).shape.elements().unwrap();
        let inputs = [Data::I8((0..elements).map(|_| rng.i8(..)).collect())];
        let board = tilewright_board::find(id).unwrap();
        let run = emulated::run(&model, &board, Strategy::Resident, &inputs).unwrap();
        assert_eq!(run.mismatch, None, "{id}");
        let planned =
            tilewright_planner::plan(&model, &board, Strategy::Resident, &Options::default());
        let planned = planned.unwrap();
        let mut counted = vec![0; planned.plan.layers.len()];
        let steps = &planned.plan.main.as_ref().unwrap().lanes[0].steps;
        for count in &run.outcome.steps {
            counted[usize::from(steps[count.step as usize].layer)] += count.cycles;
        }
        for (layer, counted) in planned.report.layers.iter().zip(counted) {
            let error = permille(*layer.cycles, counted);
            if ["conv", "depthwise"].contains(&layer.op.as_str()) && error > LAYER_PERMILLE {
                beyond.push(format!("{name} on {id}, {}: {error} ‰ of {counted}", layer.name));
            }
        }
    }
    assert_eq!(beyond, Vec::<String>::new());
}

/// Plans whose operands lie outside of SRAM, or that write over their operands: the whole frame, with what
/// the core does between steps and around copies.
#[test]
fn networks_beyond_sram_are_predicted() {
    for id in ["stm32f746g-disco", "stm32f469i-disco"] {
        let board = tilewright_board::find(id).unwrap();
        let half = |bytes: u64| Options { sram: Some(Bytes(bytes)), ..Options::default() };
        let cases = [
            ("mobilenet-v1-w0.25-r128", Strategy::Auto, half(49_152)),
            ("mobilenet-v2-w0.35-r96", Strategy::Auto, half(69_120)),
            ("resnet8", Strategy::Auto, half(33_792)),
            ("mobilenet-v1-w0.25-r128", Strategy::Overlay, Options::default()),
        ];
        for (name, strategy, options) in cases {
            predicted_beyond(&board, name, strategy, &options);
        }
    }
}

/// Operands in SDRAM, through a data cache, where lines come from there.
#[test]
fn networks_in_sdram_are_predicted_through_a_cache() {
    let board = tilewright_board::find("stm32f746g-disco").unwrap();
    for name in ["resnet8", "ds-cnn", "mobilenet-v1-w0.25-r96", "mobilenet-v1-w0.25-r128"] {
        predicted_beyond(&board, name, Strategy::External, &Options::default());
    }
}

/// Operands in SDRAM without a cache, where the core's accesses and DMA's bursts wait for each other.
#[test]
fn networks_in_sdram_are_predicted_without_a_cache() {
    let board = tilewright_board::find("stm32f469i-disco").unwrap();
    let cases = [
        ("resnet8", Strategy::External),
        ("ds-cnn", Strategy::External),
        ("lenet5", Strategy::External),
        ("lenet5", Strategy::Overlay),
        ("mobilenet-v1-w0.25-r96", Strategy::External),
        ("resnet8", Strategy::Overlay),
        ("mobilenet-v1-w0.25-r128", Strategy::Overlay),
    ];
    for (name, strategy) in cases {
        predicted_beyond(&board, name, strategy, &Options::default());
    }
    let staged = Options { overlaid: Overlaid::ALL, ..Options::default() };
    predicted_beyond(&board, "mobilenet-v1-w0.25-r128", Strategy::Overlay, &staged);
}

/// Networks of other kinds: batch norms as depthwise layers, dilated ones, slices and shuffles, convolutions in
/// groups, others whose weights are far more than their pixels.
#[test]
fn networks_of_other_kinds_are_predicted() {
    let cases = [
        ("stm32f746g-disco", "deeplab-v3-w0.35-r65", Strategy::Overlay, None),
        ("stm32f746g-disco", "googlenet-r64", Strategy::Overlay, Some(38_688)),
        ("stm32f746g-disco", "densenet121-r32", Strategy::Auto, Some(216_448)),
        ("stm32f469i-disco", "deeplab-v3-w0.35-r65", Strategy::Overlay, None),
        ("stm32f469i-disco", "resnet18-r32", Strategy::Auto, Some(53_920)),
        ("stm32f469i-disco", "shufflenet-v2-w0.5-r64", Strategy::Auto, Some(216_960)),
        ("stm32f469i-disco", "shufflenet-v1-r64", Strategy::External, None),
    ];
    for (id, name, strategy, sram) in cases {
        let board = tilewright_board::find(id).unwrap();
        let overlaid = if id == "stm32f746g-disco" { Overlaid::ALL } else { Overlaid::THESIS };
        let options = Options { sram: sram.map(Bytes), overlaid, ..Options::default() };
        let (error, _) = predicted_and_counted(&board, name, strategy, &options);
        assert!(error <= BEYOND_PERMILLE, "{name}, {id}: {error} ‰ off");
    }
}

fn predicted_beyond(board: &Board, name: &str, strategy: Strategy, options: &Options) {
    let (error, beyond) = predicted_and_counted(board, name, strategy, options);
    assert_eq!(beyond, Vec::<String>::new(), "{name}, {strategy}, {}", board.id);
    assert!(error <= BEYOND_PERMILLE, "{name}, {}: {error} ‰ off", board.id);
}

/// The network's error in thousandths, and layers that miss theirs.
fn predicted_and_counted(
    board: &Board,
    name: &str,
    strategy: Strategy,
    options: &Options,
) -> (u64, Vec<String>) {
    let model = zoo(name);
    let mut rng = fastrand::Rng::with_seed(3);
    let elements = model.tensor(model.inputs[0]).shape.elements().unwrap();
    let inputs = [Data::I8((0..elements).map(|_| rng.i8(..)).collect())];
    let (_, job) = emulated::job_with(&model, board, strategy, &inputs, options).unwrap();
    let outcome = emulated::run_job(job).unwrap();
    assert_eq!(outcome.finish.fault, None, "{name}, {}", board.id);
    let counted = outcome.finish.invoke.cycles().0;
    let planned = tilewright_planner::plan(&model, board, strategy, options).unwrap();
    let predicted = planned.timeline.end().since(CyclePoint::default()).0;
    let error = permille(predicted, counted);
    println!("{name}, {strategy}, {}: {predicted} of {counted} cycles, {error} ‰ off", board.id);
    let layers = planned.plan.layers.len();
    let (mut expected, mut found) = (vec![0; layers], vec![0; layers]);
    let mut beyond = Vec::new();
    for slice in planned.timeline.slices.iter().filter(|s| s.kind == SliceKind::Compute) {
        expected[usize::from(slice.layer)] += slice.end.since(slice.start).0;
    }
    for step in &outcome.steps {
        // As on the lanes: with interrupts, as predicted.
        found[usize::from(step.layer)] += step.end - step.start;
    }
    for ((layer, expected), found) in planned.plan.layers.iter().zip(expected).zip(found) {
        let off = permille(expected, found);
        println!(
            "{off:>5} ‰ of {found:>9} cycles ({expected} predicted): {} ({})",
            layer.name,
            layer.work.name()
        );
        let miss = MISSES_OUTSIDE.iter().find(|(kernel, _)| *kernel == layer.work.name());
        let most = miss.map_or(LAYER_PERMILLE, |(_, most)| *most);
        if off > most {
            beyond.push(format!("{}: {off} ‰ off", layer.name));
        }
    }
    (error, beyond)
}
