//! Swapping as published beside what the SwapNN paper prints: on the reference profiles, whose card
//! and whose compute follow from the paper's own times.

mod graph;
mod layers;
mod paper;
mod schedule;
mod swap;
mod tiles;

use tilewright_board::{Board, Card, Draw};
use tilewright_model::Model;
use tilewright_plan::{Bytes, LaneKind, Plan};
use tilewright_planner::{Options, Packing, Planned, Stop, Strategy, simulate};
use tilewright_report::{Energy, LayerRow, PaperFigure, State, StateEnergy, Timeline, Wear};

use crate::{Intensity, Paper, Part, figure, model};

use layers::Depthwise;
use swap::{Swapped, swap};

const BUFFERS: [u32; 4] = [16_000, 32_000, 64_000, 128_000];
const BOARDS: [&str; 5] = [
    "paper-swapnn-512k",
    "paper-swapnn-1m",
    "paper-swapnn-2m",
    "paper-swapnn-4m",
    "paper-swapnn-8m",
];
/// Largest buffers of the paper's figures.
const LARGE: u32 = 128_000;
/// Frames over which throughput is taken.
const STREAM: u32 = 10;
const DAY_SECONDS: f64 = 86_400.0;
const MORE_ENERGY: &str = "energy over that of the core alone";

/// A network of the paper, in one of its readings.
struct Network {
    name: &'static str,
    zoo: &'static str,
    /// Cost set whose times agree with the paper's.
    costs: &'static str,
    depthwise: Depthwise,
}

const NETWORKS: [Network; 4] = [
    Network { name: "VGG16", zoo: "vgg16", costs: "paper-swapnn", depthwise: Depthwise::True },
    Network {
        name: "AlexNet",
        zoo: "alexnet-ungrouped",
        costs: "paper-swapnn-alexnet",
        depthwise: Depthwise::True,
    },
    Network {
        name: "MobileNet, depthwise as dense",
        zoo: "mobilenet-v1",
        costs: "paper-swapnn-mobilenet",
        depthwise: Depthwise::Dense,
    },
    Network {
        name: "MobileNet, true depthwise",
        zoo: "mobilenet-v1",
        costs: "paper-swapnn-mobilenet",
        depthwise: Depthwise::True,
    },
];

/// The paper.
pub(crate) const PAPER: Paper = Paper {
    id: "swapnn",
    name: "SwapNN",
    citation: "Miao, Lin: Enabling Large Neural Networks on Tiny Microcontrollers with Swapping, arXiv:2101.08744, \
               2021",
    reading: "KB is 1000 bytes. Tiles are squares with all channels; halo and padding count in the input tile; the \
              larger of input and output tile fits a buffer; weight tiles are read again for every output tile. A \
              layer is read once all of the layer before it is written. An input tile stays until its last weight \
              tile (algorithm 1 frees it after the first). Four buffers of 128 KB need 512 KB, so the boards are \
              virtual. The card takes 0.58 ms and moves 5.0 MB/s, which gives the four printed IO times of VGG16 \
              and AlexNet; the core takes 8.5 cycles a product (VGG16, from bytes a day and a frame), 4.37 (AlexNet) \
              and 4.2 (MobileNet), fitted to latency and throughput, since the paper prints none. MobileNet stands \
              twice: its 16 KB tasks, latency and throughput count weights of depthwise layers as dense, the 3,190 \
              tasks of figure 7 do not. AlexNet's tasks are printed for ten frames.",
    parts: &[
        Part { title: "table 1", figures: table_1 },
        Part { title: "table 2, ResNet18 and GoogLeNet", figures: others },
        Part { title: "VGG16", figures: |stop| of_network(&NETWORKS[0], stop) },
        Part { title: "AlexNet", figures: |stop| of_network(&NETWORKS[1], stop) },
        Part {
            title: "MobileNet, depthwise as dense",
            figures: |stop| of_network(&NETWORKS[2], stop),
        },
        Part { title: "MobileNet, true depthwise", figures: |stop| of_network(&NETWORKS[3], stop) },
    ],
};

/// Figures of a network.
fn of_network(network: &Network, stop: &Stop) -> Result<Vec<PaperFigure>, String> {
    let mut rows = Vec::new();
    let model = model(network.zoo)?;
    let planned = in_sram(&model, stop)?;
    let given = (&model, &planned);
    let waited = || stop.after(0).map_err(|error| error.to_string());
    tasks(network, given, &mut rows)?;
    waited()?;
    times(network, given, &mut rows)?;
    waited()?;
    if network.depthwise == Depthwise::True {
        sizes(network.name, &layers_of(&planned), &mut rows);
        wear(network, given, &mut rows)?;
    }
    Ok(rows)
}

/// Networks that table 2 has besides, and the worst case of 5.5.
fn others(stop: &Stop) -> Result<Vec<PaperFigure>, String> {
    let mut rows = Vec::new();
    for (name, zoo) in [("ResNet18", "resnet18"), ("GoogLeNet", "googlenet")] {
        sizes(name, &layers_of(&in_sram(&model(zoo)?, stop)?), &mut rows);
    }
    worst_case(&mut rows)?;
    Ok(rows)
}

fn board(id: &str, costs: &str) -> Result<Board, String> {
    let mut board = crate::board(id)?;
    board.core.costs = Some(costs.to_owned());
    Ok(board)
}

impl Network {
    fn swap(
        &self,
        (model, planned): (&Model, &Planned),
        id: &str,
        [buffer, frames]: [u32; 2],
    ) -> Result<Swapped, String> {
        let board = board(id, self.costs)?;
        swap((model, &planned.plan), &board, [buffer, frames], self.depthwise)
    }

    fn row(
        &self,
        what: &'static str,
        setting: String,
        ours: f64,
        unit: &'static str,
    ) -> PaperFigure {
        row(self.name, what, setting, ours, unit)
    }
}

fn row(
    network: &str,
    what: &'static str,
    setting: String,
    ours: f64,
    unit: &'static str,
) -> PaperFigure {
    let printed = paper::printed(what, network, &setting);
    figure(what, (network, setting), (ours, printed), unit)
}

fn kb(buffer: u32) -> String {
    format!("{} KB buffers", buffer / 1000)
}

/// IO tasks and IO seconds of a frame, 512 KB of SRAM.
fn tasks(
    network: &Network,
    given: (&Model, &Planned),
    rows: &mut Vec<PaperFigure>,
) -> Result<(), String> {
    for buffer in BUFFERS {
        let one = network.swap(given, BOARDS[0], [buffer, 1])?;
        rows.push(network.row("IO tasks of a frame", kb(buffer), one.io_tasks as f64, ""));
        rows.push(network.row("IO time of a frame", kb(buffer), seconds(one.io.0), "s"));
        let hidden = (one.io.0 + one.compute.0).saturating_sub(one.end.0);
        rows.push(network.row("IO hidden behind compute", kb(buffer), seconds(hidden), "s"));
    }
    Ok(())
}

/// Latency over an MCU with SRAM for all, throughput lost to it, bytes written.
fn times(
    network: &Network,
    given: (&Model, &Planned),
    rows: &mut Vec<PaperFigure>,
) -> Result<(), String> {
    for id in [BOARDS[0], BOARDS[4]] {
        for buffer in BUFFERS {
            let sram = id.trim_start_matches("paper-swapnn-");
            let setting = format!("{}, {sram} SRAM", kb(buffer));
            let one = network.swap(given, id, [buffer, 1])?;
            let over = 100.0 * (one.end.0 as f64 / one.compute.0 as f64 - 1.0);
            rows.push(network.row("latency over unlimited SRAM", setting.clone(), over, "%"));
            if buffer == LARGE && id == BOARDS[0] {
                let gap = 100.0 * (one.end.0 as f64 / one.bound.0 as f64 - 1.0);
                rows.push(network.row("latency over its bound", setting.clone(), gap, "%"));
                let frame = kb(buffer);
                let written = one.written.0 as f64;
                rows.push(network.row("written a frame", frame.clone(), written / 1e6, "MB"));
                let day = written * DAY_SECONDS / seconds(one.end.0);
                rows.push(network.row("written a day", frame, day / 1e9, "GB"));
            }
            let stream = network.swap(given, id, [buffer, STREAM])?;
            let compute = stream.compute.0 as f64 * f64::from(STREAM);
            let lost = 100.0 * (1.0 - compute / stream.end.0 as f64);
            rows.push(network.row("throughput lost over ten frames", setting, lost, "%"));
        }
    }
    Ok(())
}

fn seconds(cycles: u64) -> f64 {
    cycles as f64 / 216e6
}

/// The network as it is, with all activations in SRAM.
fn in_sram(model: &Model, stop: &Stop) -> Result<Planned, String> {
    let board = board(BOARDS[0], "paper-swapnn")?;
    let options = Options { packing: Packing::Plain, stop: stop.clone(), ..Options::default() };
    crate::planned(model, &board, Strategy::Resident, &options)
}

/// Its layers with products or windows.
fn layers_of(planned: &Planned) -> Vec<LayerRow> {
    let mut layers = planned.report.layers.clone();
    layers.retain(|layer| layer.macs > 0.into() || layer.op.contains("pool"));
    layers
}

/// A layer's work beside its traffic.
fn intensity(layer: &LayerRow) -> Intensity {
    let volume = |shape: &[u32; 3]| shape.iter().map(|side| f64::from(*side)).product::<f64>();
    let input = layer.inputs.iter().map(volume).sum::<f64>();
    let operations = if *layer.macs > 0 { *layer.macs as f64 } else { input };
    let bytes = input + volume(&layer.output) + *layer.parameters as f64;
    Intensity { mega_operations: operations / 1e6, megabytes: bytes / 1e6 }
}

/// Table 2: sizes, and layers bound by compute and by IO.
fn sizes(network: &str, layers: &[LayerRow], rows: &mut Vec<PaperFigure>) {
    let outputs: u64 = layers
        .iter()
        .map(|layer| layer.output.iter().map(|side| u64::from(*side)).product::<u64>())
        .sum();
    let weights: u64 = layers.iter().map(|layer| *layer.parameters).sum();
    let with_products = layers.iter().filter(|layer| layer.macs > 0.into());
    let bound = |layer: &&LayerRow| intensity(layer).is_bound_by_compute();
    let compute = with_products.clone().filter(bound).count() as f64;
    let io = with_products.count() as f64 - compute;
    let table = [
        ("feature maps", outputs as f64 / 1e6, "MB"),
        ("weights", weights as f64 / 1e6, "MB"),
        ("compute-bound layers", compute, ""),
        ("IO-bound layers", io, ""),
    ];
    for (setting, ours, unit) in table {
        rows.push(row(network, "table 2", setting.to_owned(), ours, unit));
    }
}

/// Years that a card of 64 GB lasts (5.4) and energy of a frame (5.5), ten frames one after the other.
fn wear(
    network: &Network,
    given: (&Model, &Planned),
    rows: &mut Vec<PaperFigure>,
) -> Result<(), String> {
    let board = board(BOARDS[0], network.costs)?;
    let swapped = network.swap(given, BOARDS[0], [LARGE, STREAM])?;
    let card = Options::default().card_in(&board).ok_or("the board of the paper has no card")?;
    let card = Card { bytes: Bytes(64_000_000_000), ..card };
    let clock = board.core.clock.hertz;
    let Planned { plan, mut report, timeline, .. } = given.1.clone();
    (report.frames, report.latency_us) = (STREAM, Some(swapped.end.at(clock).into()));
    report.card_written_bytes = Bytes(swapped.written.0 * u64::from(STREAM)).into();
    report.card_writes = (swapped.writes * u64::from(STREAM)).into();
    let wear = Wear::of(&report, &card, None).ok_or("no source says how long it lasts")?;
    let what = "years that a card of 64 GB lasts";
    if let (Some([first, last]), Some(half)) = (wear.years, wear.half_years) {
        for (setting, years) in
            [("first cell, least", first), ("first cell, most", last), ("half", half)]
        {
            rows.push(network.row(what, setting.to_owned(), years, "years"));
        }
    }
    let plan = Plan { boot: None, main: None, subnetworks: Vec::new(), ..plan };
    let timeline = Timeline {
        lanes: vec![LaneKind::Core, LaneKind::Card],
        slices: swapped.slices,
        ..timeline
    };
    let traffic = simulate::traffic(&plan, &board, Some(&card), &timeline, STREAM);
    let energy = Energy::of(&timeline, &traffic, &board, Some(&card), STREAM);
    let energy = energy.map_err(|error| error.to_string())?;
    let middle = |states: &[StateEnergy]| {
        states.iter().map(|s| f64::midpoint(s.energy_uj[0], s.energy_uj[1])).sum::<f64>()
    };
    let computing: Vec<_> =
        energy.states.iter().filter(|state| state.state == State::Inside).cloned().collect();
    let more = 100.0 * (middle(&energy.states) / middle(&computing) - 1.0);
    rows.push(network.row(MORE_ENERGY, "of ten frames".to_owned(), more, "%"));
    Ok(())
}

/// Their worst case (5.5): 178 s of the core alone, then 213 s with the card always busy.
fn worst_case(rows: &mut Vec<PaperFigure>) -> Result<(), String> {
    let board = board(BOARDS[0], "paper-swapnn")?;
    let card = Options::default().card_in(&board).ok_or("the board of the paper has no card")?;
    let watts = |draw: &Draw| f64::midpoint(draw.least_mw.into(), draw.most_mw.into());
    let core = watts(&board.power.ok_or("the board of the paper has no power")?.inside);
    let with_card = core + card.power.as_ref().map_or(0.0, watts);
    let more = 100.0 * (with_card * 213.0 / (core * 178.0) - 1.0);
    rows.push(row("worst case", MORE_ENERGY, "card always busy".to_owned(), more, "%"));
    Ok(())
}

/// Table 1: arithmetic intensity of layers of VGG16.
fn table_1(stop: &Stop) -> Result<Vec<PaperFigure>, String> {
    let layers = layers_of(&in_sram(&model("vgg16")?, stop)?);
    let mut rows = Vec::new();
    for (name, index, paper) in paper::INTENSITIES {
        let Some(layer) = layers.get(index) else { continue };
        let intensity = intensity(layer);
        let [least, most] = intensity.range();
        let ours = [intensity.mega_operations, intensity.megabytes, least, most];
        let columns = [("compute", "MOPs"), ("IO traffic", "MB"), ("least N", ""), ("most N", "")];
        for (((column, unit), ours), paper) in columns.into_iter().zip(ours).zip(paper) {
            rows.push(figure("table 1", (name, column), (ours, Some(paper)), unit));
        }
    }
    Ok(rows)
}

#[cfg(test)]
pub(crate) mod tests;
