//! SRAM of MobileNets with layers in tiles, as Cipolletta and Calimera count it and as it is planned here, beside
//! depth-first groups, which compute nothing again.

use serde::Serialize;
use tilewright_board::MemoryKind;
use tilewright_model::tiling::{self, Tiled, Tiling};
use tilewright_model::{Model, TensorId};
use tilewright_plan::Bytes;
use tilewright_planner::{Objective, Options, PlanError, Strategy};

/// The paper's board, with what of its memory is usable.
const BOARD: &str = "paper-sparse-f767";
/// Flash that holds all weights.
const FLASH: Bytes = Bytes(8 << 20);
/// Width multipliers and resolutions of table I.
const SIZES: [(&str, u32); 6] =
    [("1.00", 192), ("1.00", 160), ("0.75", 192), ("0.75", 160), ("0.50", 192), ("0.50", 160)];

/// A network's SRAM, in bytes (counted).
#[derive(Debug, Serialize)]
struct Row {
    network: String,
    /// Order as given, layers whole.
    whole: u64,
    /// 2x2 tiles above 0.4 of the peak: input and output of the region whole, and the largest sum of live tensors of a
    /// tile.
    published: u64,
    /// The same tiles as they are planned in their order.
    in_order: u64,
    /// And in the best order.
    reordered: u64,
    /// Multiply-accumulates that tiles make again, as a part of the network's.
    again: f64,
    /// Latency of tiles in their order over that of whole layers (modelled).
    slower: f64,
    /// The least that `auto` finds, with layers whole or depth-first: nothing is computed again.
    auto: u64,
    /// Bytes that are usable.
    had: u64,
}

/// Prints all figures.
///
/// # Errors
/// If a network cannot be planned.
pub fn tiles(json: bool) -> Result<(), String> {
    let mut rows = Vec::new();
    for family in ["v1", "v2"] {
        for (width, resolution) in SIZES {
            let name = format!("mobilenet-{family}-w{width}-r{resolution}");
            let network = tilewright_zoo::network(&name).map_err(|error| error.to_string())?;
            let model = network.int8().map_err(|error| error.to_string())?;
            rows.push(row(name, &model)?);
        }
    }
    if json {
        let text = serde_json::to_string_pretty(&rows).map_err(|error| error.to_string())?;
        println!("{text}");
        return Ok(());
    }
    for row in &rows {
        let Row { network, whole, published, in_order, reordered, again, slower, auto, had } = row;
        let fits = [whole, published, in_order, reordered, auto]
            .map(|bytes| format!("{bytes:9}{}", if bytes <= had { "+" } else { " " }));
        let [whole, published, in_order, reordered, auto] = fits;
        println!(
            "  {network:24} whole {whole}, published {published}, in order {in_order}, reordered \
             {reordered}, {:.1} % again, {slower:.3} of the time; auto {auto}",
            100.0 * again
        );
    }
    println!("  + fits the {} bytes that are usable", rows.first().map_or(0, |row| row.had));
    Ok(())
}

fn row(network: String, model: &Model) -> Result<Row, String> {
    let mut board = tilewright_board::find(BOARD).map_err(|error| error.to_string())?;
    // SRAM is compared as if flash held all weights: pruned ones take a fifth.
    for memory in board.memory.iter_mut().filter(|memory| memory.kind == MemoryKind::Flash) {
        memory.bytes = FLASH;
    }
    let plan = |strategy, tiling| {
        let objective = Objective::Memory;
        let options = Options { objective, is_inside: true, tiling, ..Options::default() };
        let planned = tilewright_planner::plan(model, &board, strategy, &options);
        planned.map_err(|error: PlanError| error.to_string())
    };
    let whole = plan(Strategy::Resident, None)?;
    let in_order = plan(Strategy::Resident, Some(Tiling::PUBLISHED))?;
    let reordered = plan(Strategy::Reordered, Some(Tiling::PUBLISHED))?;
    let auto = plan(Strategy::Auto, None)?;
    let tiled = tiling::tile(model, &Tiling::PUBLISHED).map_err(|error| error.to_string())?;
    let ms = |planned: &tilewright_planner::Planned| planned.report.latency_us.map(|us| us.0);
    let slower = ms(&in_order).zip(ms(&whole)).map_or(0.0, |(tiles, whole)| tiles / whole);
    Ok(Row {
        network,
        whole: whole.report.peak_sram_bytes.0,
        published: published(model, &tiled).max(outside(model, &tiled)),
        in_order: in_order.report.peak_sram_bytes.0,
        reordered: reordered.report.peak_sram_bytes.0,
        again: tiled.recomputed_macs as f64 / whole.report.macs as f64,
        slower,
        auto: auto.report.peak_sram_bytes.0,
        had: board.arena().0,
    })
}

/// What the region takes by the paper's count.
fn published(model: &Model, tiled: &Tiled) -> u64 {
    let bytes = |model: &Model, id: TensorId| model.tensor(id).bytes().unwrap_or(0) as u64;
    let region = &tiled.region;
    let ends = bytes(model, region.input) + bytes(model, region.output);
    // What a tile makes, but for what is joined: a part of the region's output.
    let nodes = || tiled.model.nodes.iter().zip(&tiled.origins).enumerate();
    let is_inside = |origin: &Option<usize>| origin.is_some_and(|o| region.nodes.contains(&o));
    let last = region.nodes.clone().find(|node| model.nodes[*node].outputs == [region.output]);
    let mut lives: Vec<(u64, usize, usize)> = Vec::new();
    for (position, (node, origin)) in nodes() {
        if is_inside(origin) && *origin != last {
            let reads = |other: &tilewright_model::Node| {
                node.outputs.iter().any(|made| other.inputs.contains(made))
            };
            let end = nodes().filter(|(_, (other, _))| reads(other)).map(|(at, _)| at).max();
            let size = node.outputs.iter().map(|made| bytes(&tiled.model, *made)).sum();
            lives.push((size, position, end.unwrap_or(position)));
        }
    }
    let live = |(position, _)| -> u64 {
        let here = lives.iter().filter(|(_, from, to)| *from <= position && position <= *to);
        here.map(|(size, ..)| *size).sum()
    };
    ends + nodes().map(live).max().unwrap_or(0)
}

/// What the layers outside of the region take.
fn outside(model: &Model, tiled: &Tiled) -> u64 {
    let active = tiling::active_bytes(model).into_iter().enumerate();
    let others = active.filter(|(node, _)| !tiled.region.nodes.contains(node));
    others.map(|(_, bytes)| bytes).max().unwrap_or(0)
}
