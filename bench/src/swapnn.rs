//! Swapping as published beside what the SwapNN paper prints: on the reference profiles, whose card
//! and whose compute follow from the paper's own times.

mod graph;
mod layers;
mod paper;
mod schedule;
mod swap;
mod tiles;

use serde::Serialize;
use tilewright_board::{Board, Card, Draw};
use tilewright_model::Model;
use tilewright_plan::{Bytes, LaneKind, Plan};
use tilewright_planner::{Options, Packing, Planned, Strategy, simulate};
use tilewright_report::{Energy, LayerRow, State, StateEnergy, Timeline, Wear};

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

/// A figure of ours beside one of the paper.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub what: &'static str,
    pub network: String,
    pub setting: String,
    pub ours: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paper: Option<f64>,
    pub unit: &'static str,
}

/// Prints all figures.
///
/// # Errors
/// If a network cannot be planned.
pub fn swapnn(json: bool) -> Result<(), String> {
    let rows = rows()?;
    if json {
        let text = serde_json::to_string_pretty(&rows).map_err(|error| error.to_string())?;
        println!("{text}");
        return Ok(());
    }
    let mut what = "";
    for row in &rows {
        if row.what != what {
            what = row.what;
            println!("\n{what}\n  {:31} {:26} {:>12} {:>12}", "", "", "ours", "paper");
        }
        let paper = row.paper.map_or_else(String::new, |paper| format!("{paper:.2}"));
        println!(
            "  {:31} {:26} {:>12.2} {paper:>12} {}",
            row.network, row.setting, row.ours, row.unit
        );
    }
    Ok(())
}

/// All figures, by what is compared.
///
/// # Errors
/// If a network cannot be planned.
pub fn rows() -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for network in &NETWORKS {
        let model = int8(network.zoo)?;
        let planned = in_sram(&model)?;
        let given = (&model, &planned);
        tasks(network, given, &mut rows)?;
        times(network, given, &mut rows)?;
        if network.depthwise == Depthwise::True {
            sizes(network.name, &layers_of(&planned), &mut rows);
            wear(network, given, &mut rows)?;
        }
    }
    for (name, zoo) in [("ResNet18", "resnet18"), ("GoogLeNet", "googlenet")] {
        sizes(name, &layers_of(&in_sram(&int8(zoo)?)?), &mut rows);
    }
    worst_case(&mut rows)?;
    intensities(&mut rows)?;
    // By what is compared; networks stay in their order.
    let mut order: Vec<&str> = Vec::new();
    for row in &rows {
        if !order.contains(&row.what) {
            order.push(row.what);
        }
    }
    rows.sort_by_key(|row| order.iter().position(|what| *what == row.what));
    Ok(rows)
}

fn int8(name: &str) -> Result<Model, String> {
    let network = tilewright_zoo::network(name).map_err(|error| error.to_string())?;
    network.int8().map_err(|error| error.to_string())
}

fn board(id: &str, costs: &str) -> Result<Board, String> {
    let mut board = tilewright_board::find(id).map_err(|error| error.to_string())?;
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

    fn row(&self, what: &'static str, setting: String, ours: f64, unit: &'static str) -> Row {
        row(self.name, what, setting, ours, unit)
    }
}

fn row(network: &str, what: &'static str, setting: String, ours: f64, unit: &'static str) -> Row {
    let paper = paper::printed(what, network, &setting);
    Row { what, network: network.to_owned(), setting, ours, paper, unit }
}

fn kb(buffer: u32) -> String {
    format!("{} KB buffers", buffer / 1000)
}

/// IO tasks and IO seconds of a frame, 512 KB of SRAM.
fn tasks(network: &Network, given: (&Model, &Planned), rows: &mut Vec<Row>) -> Result<(), String> {
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
fn times(network: &Network, given: (&Model, &Planned), rows: &mut Vec<Row>) -> Result<(), String> {
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
fn in_sram(model: &Model) -> Result<Planned, String> {
    let board = board(BOARDS[0], "paper-swapnn")?;
    let options = Options { packing: Packing::Plain, ..Options::default() };
    let planned = tilewright_planner::plan(model, &board, Strategy::Resident, &options);
    planned.map_err(|error| error.to_string())
}

/// Its layers with products or windows.
fn layers_of(planned: &Planned) -> Vec<LayerRow> {
    let mut layers = planned.report.layers.clone();
    layers.retain(|layer| layer.macs > 0.into() || layer.op.contains("pool"));
    layers
}

fn bytes(layer: &LayerRow) -> f64 {
    let volume = |shape: &[u32; 3]| shape.iter().map(|side| f64::from(*side)).product::<f64>();
    layer.inputs.iter().map(volume).sum::<f64>() + volume(&layer.output) + *layer.parameters as f64
}

/// Operations of a layer in millions: products, or comparisons of a pool.
fn millions(layer: &LayerRow) -> f64 {
    let input: u64 =
        layer.inputs.iter().map(|s| s.iter().map(|x| u64::from(*x)).product::<u64>()).sum();
    (if *layer.macs > 0 { *layer.macs } else { input }) as f64 / 1e6
}

/// Normalised arithmetic intensity, least and most: slow and fast cores and cards of the paper.
fn intensity(layer: &LayerRow) -> [f64; 2] {
    let per_byte = millions(layer) / (bytes(layer) / 1e6);
    [per_byte * 10.0 / 480.0, per_byte * 40.0 / 64.0]
}

/// Table 2: sizes, and layers bound by compute and by IO.
fn sizes(network: &str, layers: &[LayerRow], rows: &mut Vec<Row>) {
    let outputs: u64 = layers
        .iter()
        .map(|layer| layer.output.iter().map(|side| u64::from(*side)).product::<u64>())
        .sum();
    let weights: u64 = layers.iter().map(|layer| *layer.parameters).sum();
    let with_products = layers.iter().filter(|layer| layer.macs > 0.into());
    // The middle of the range decides.
    let bound = |layer: &&LayerRow| intensity(layer).iter().product::<f64>() >= 1.0;
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
fn wear(network: &Network, given: (&Model, &Planned), rows: &mut Vec<Row>) -> Result<(), String> {
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
fn worst_case(rows: &mut Vec<Row>) -> Result<(), String> {
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
fn intensities(rows: &mut Vec<Row>) -> Result<(), String> {
    let layers = layers_of(&in_sram(&int8("vgg16")?)?);
    for (name, index, paper) in paper::INTENSITIES {
        let Some(layer) = layers.get(index) else { continue };
        let [least, most] = intensity(layer);
        let ours = [millions(layer), bytes(layer) / 1e6, least, most];
        let columns = [("compute", "MOPs"), ("IO traffic", "MB"), ("least N", ""), ("most N", "")];
        for (((column, unit), ours), paper) in columns.into_iter().zip(ours).zip(paper) {
            rows.push(Row {
                what: "table 1",
                network: name.to_owned(),
                setting: column.to_owned(),
                ours,
                paper: Some(paper),
                unit,
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(rows: &[Row], what: &str, network: &str, setting: &str, range: [f64; 2]) {
        let is_it = |row: &&Row| {
            (row.what, row.network.as_str(), row.setting.as_str()) == (what, network, setting)
        };
        let ours = rows.iter().find(is_it).unwrap().ours;
        assert!((range[0]..=range[1]).contains(&ours), "{what} of {network}, {setting}: {ours}");
    }

    /// The goals for the reference profiles; where the paper contradicts itself, both readings.
    #[test]
    fn the_papers_figures_come_out_again() {
        let rows = rows().unwrap();
        let within = |paper: f64, share: f64| [paper * (1.0 - share), paper * (1.0 + share)];
        let (small, large) = ("16 KB buffers", "128 KB buffers");
        let dense = "MobileNet, depthwise as dense";
        let tasks = "IO tasks of a frame";
        near(&rows, tasks, "VGG16", small, within(85_024.0, 0.2));
        near(&rows, tasks, "VGG16", large, within(2_248.0, 0.2));
        // Printed for ten frames.
        near(&rows, tasks, "AlexNet", small, within(6_804.0, 0.2));
        near(&rows, tasks, "AlexNet", large, within(539.0, 0.2));
        near(&rows, tasks, dense, small, within(55_877.0, 0.2));
        near(&rows, tasks, dense, large, within(870.0, 0.2));
        let io = "IO time of a frame";
        near(&rows, io, "VGG16", small, within(257.824, 0.02));
        near(&rows, io, "VGG16", large, within(52.4849, 0.02));
        near(&rows, io, "AlexNet", small, within(27.4765, 0.02));
        near(&rows, io, "AlexNet", large, within(13.6731, 0.02));
        let (latency, little) = ("latency over unlimited SRAM", "128 KB buffers, 512k SRAM");
        near(&rows, latency, "VGG16", little, [5.0, 7.0]);
        near(&rows, latency, "AlexNet", little, [35.0, 65.0]);
        near(&rows, latency, dense, little, [140.0, 160.0]);
        let (lost, much) = ("throughput lost over ten frames", "128 KB buffers, 8m SRAM");
        near(&rows, lost, "VGG16", much, [2.0, 4.0]);
        near(&rows, lost, "AlexNet", much, [10.0, 16.0]);
        near(&rows, lost, dense, much, [40.0, 47.0]);
        for row in rows.iter().filter(|row| row.what == "table 1") {
            let paper = row.paper.unwrap();
            let share = (row.ours / paper - 1.0).abs();
            // The smallest are printed with two digits.
            assert!(share < if paper < 1.0 { 0.1 } else { 0.01 }, "{row:?}");
        }
    }
}
