//! What pruning does, layer by layer: zeros, stored bytes, time, and how the planner stores what is left.

use tilewright_plan::Cycles;
use tilewright_report::{LayerRow, short_name};

use super::figures;
use crate::message::{PlanFacts, SparsityFacts};

/// A layer whose weights are pruned.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its node in the model.
    pub node: u32,
    /// The plan's layer that makes it, or its first tile.
    pub layer: Option<usize>,
    pub name: String,
    pub weights: u64,
    pub zeros_before: u64,
    /// Zeros now.
    pub zeros: u64,
    /// Bytes of weights and constants with the zeros among them (counted).
    pub dense_bytes: u64,
    /// Bytes as the plan stores them (counted).
    pub bytes: u64,
    /// Time with the zeros among them, in microseconds (modelled).
    pub dense_us: f64,
    /// Time as planned (modelled).
    pub us: f64,
    /// How the planner stores the weights.
    pub encoding: String,
}

impl Row {
    /// Whether the weights lie without their zeros.
    #[must_use]
    pub fn is_sparse(&self) -> bool {
        self.encoding == SPARSE
    }
}

/// The planner's word for weights without their zeros, and for those in the plain packing.
const SPARSE: &str = "sparse";
const DENSE: &str = "pairs";

/// The pruned layers, in order of execution.
#[must_use]
pub fn rows(facts: &SparsityFacts, plan: &PlanFacts) -> Vec<Row> {
    let clock = plan.timeline.clock_hz;
    let row = |layer: &crate::message::SparsityLayer| {
        let has_node = |nodes: &&Vec<u32>| nodes.contains(&layer.node);
        let made = || plan.nodes.iter().zip(&plan.report.layers).filter(|(n, _)| has_node(n));
        let made = || made().map(|(_, row)| row);
        let sparse = |row: &&LayerRow| row.packing.as_ref().is_some_and(|p| p.name == SPARSE);
        let packings = || made().filter(sparse).filter_map(|row| row.packing.as_ref());
        let bytes: u64 = made().map(|row| row.flash_bytes.0).sum();
        let more: i64 = packings().map(|packing| *packing.more_flash_bytes).sum();
        let cycles: u64 = made().map(|row| *row.cycles).sum();
        let saved: i64 = packings().map(|packing| *packing.saved_cycles).sum();
        let packing = made().find_map(|row| row.packing.as_ref());
        let time = |cycles: u64| Cycles(cycles).at(clock).0;
        Row {
            node: layer.node,
            layer: plan.nodes.iter().position(|nodes| has_node(&nodes)),
            name: short_name(&layer.name).to_owned(),
            weights: layer.weights,
            zeros_before: layer.zeros_before,
            zeros: layer.zeros,
            dense_bytes: bytes.saturating_add_signed(-more),
            bytes,
            dense_us: time(cycles.saturating_add_signed(saved)),
            us: time(cycles),
            encoding: packing.map_or(DENSE, |packing| packing.name.as_str()).to_owned(),
        }
    };
    facts.layers.iter().map(row).collect()
}

/// All layers together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sum {
    pub weights: u64,
    pub zeros_before: u64,
    /// Zeros now.
    pub zeros: u64,
    /// Bytes with the zeros among the weights.
    pub dense_bytes: u64,
    /// Bytes as stored.
    pub bytes: u64,
    /// Time with the zeros among the weights.
    pub dense_us: f64,
    /// Time as planned.
    pub us: f64,
    /// Layers whose weights lie without their zeros.
    pub sparse: usize,
}

/// All layers together.
#[must_use]
pub fn sum(rows: &[Row]) -> Sum {
    let mut sum = Sum::default();
    for row in rows {
        sum.weights += row.weights;
        sum.zeros_before += row.zeros_before;
        sum.zeros += row.zeros;
        sum.dense_bytes += row.dense_bytes;
        sum.bytes += row.bytes;
        sum.dense_us += row.dense_us;
        sum.us += row.us;
        sum.sparse += usize::from(row.is_sparse());
    }
    sum
}

/// What comes of it, in a sentence or two; empty if nothing is pruned.
#[must_use]
pub fn summary(facts: &SparsityFacts, rows: &[Row]) -> String {
    if facts.sparsity == 0 {
        return String::new();
    }
    let sum = sum(rows);
    let zeros = figures::percent(sum.zeros as f64, sum.weights as f64);
    let chosen = match (sum.sparse, rows.len()) {
        (0, _) => {
            return format!(
                "{zeros} of the weights are zero. The planner stores none of them without the zeros: that would \
                 save neither time nor room that is short."
            );
        }
        (all, count) if all == count => format!("all {count} layers"),
        (some, count) => format!("{some} of {count} layers"),
    };
    format!("{zeros} of the weights are zero. The planner stores {chosen} without the zeros.")
}

/// The table as CSV.
#[must_use]
pub fn csv(rows: &[Row]) -> String {
    let mut text =
        "layer,weights,zeros before,zeros,bytes dense,bytes stored,us dense,us planned,encoding\n"
            .to_owned();
    for row in rows {
        let name = row.name.replace('"', "\"\"");
        text.push_str(&format!(
            "\"{name}\",{},{},{},{},{},{:.3},{:.3},{}\n",
            row.weights,
            row.zeros_before,
            row.zeros,
            row.dense_bytes,
            row.bytes,
            row.dense_us,
            row.us,
            row.encoding
        ));
    }
    text
}

/// What a strategy fixes of tiles and packing, for people; empty if it fixes nothing.
#[must_use]
pub fn fixed_by(strategy: &str) -> &'static str {
    match strategy {
        "sparse-tiled" => {
            "Strategy sparse-tiled fixes two things. Layers around the peak whose active memory is above 0.4 of it \
             are made in 2 × 2 tiles, unless you choose another grid. Weights lie without their zeros wherever they \
             take fewer bytes so. It prunes nothing: the sparsity is your choice."
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use tilewright_report::WeightPacking;

    use super::*;
    use crate::message::SparsityLayer;
    use crate::view_model::fixture;

    fn pruned() -> (SparsityFacts, PlanFacts) {
        let mut plan = fixture::plan();
        let packing = |name: &str, bytes: i64, cycles: i64| {
            let (more_flash_bytes, saved_cycles) = (bytes.into(), cycles.into());
            Some(WeightPacking { name: name.to_owned(), more_flash_bytes, saved_cycles })
        };
        plan.report.layers[0].packing = packing("transformed", 100, 50);
        plan.report.layers[1].packing = packing("sparse", -200, 216);
        let layer = |node, name: &str, zeros| SparsityLayer {
            node,
            name: name.to_owned(),
            weights: 400,
            zeros_before: 3,
            zeros,
        };
        let layers = vec![layer(0, "a/first", 200), layer(3, "second", 300)];
        (SparsityFacts { sparsity: 500, layers, obstacle: String::new() }, plan)
    }

    #[test]
    fn dense_figures_are_those_of_the_plain_packing() {
        let (facts, plan) = pruned();
        let rows = rows(&facts, &plan);
        let [first, second] = rows.as_slice() else { panic!() };
        assert_eq!(
            (first.dense_bytes, first.bytes, first.encoding.as_str()),
            (44, 44, "transformed")
        );
        assert_eq!((second.dense_bytes, second.bytes, second.layer), (640, 440, Some(1)));
        assert!(second.is_sparse() && !first.is_sparse());
        assert!((second.us - 10.0).abs() < 1e-9 && (second.dense_us - 11.0).abs() < 1e-9);
        assert_eq!((sum(&rows).zeros, sum(&rows).bytes, sum(&rows).sparse), (500, 484, 1));
        assert!(csv(&rows).contains("\"second\",400,3,300,640,440,11.000,10.000,sparse"));
    }

    #[test]
    fn tiles_of_a_layer_are_one_row() {
        let (facts, mut plan) = pruned();
        // The second layer in two tiles: one names the weights, both have them packed.
        let mut row = plan.report.layers[1].clone();
        row.flash_bytes = tilewright_plan::Bytes(0).into();
        row.packing.as_mut().unwrap().more_flash_bytes = 0.into();
        plan.report.layers.push(row);
        plan.nodes.push(vec![3]);
        let second = &rows(&facts, &plan)[1];
        assert_eq!((second.dense_bytes, second.bytes), (640, 440));
        assert!((second.us - 20.0).abs() < 1e-9 && (second.dense_us - 22.0).abs() < 1e-9);
    }

    #[test]
    fn the_summary_says_what_is_zero_and_what_is_stored_so() {
        let (mut facts, mut plan) = pruned();
        let text = |facts: &SparsityFacts, plan: &PlanFacts| summary(facts, &rows(facts, plan));
        assert!(text(&facts, &plan).contains("% of the weights are zero"));
        assert!(text(&facts, &plan).contains("1 of 2 layers"));
        plan.report.layers[1].packing = None;
        assert!(text(&facts, &plan).contains("none of them"));
        facts.sparsity = 0;
        assert!(text(&facts, &plan).is_empty());
        assert!(fixed_by("sparse-tiled").contains("2 × 2") && fixed_by("resident").is_empty());
    }
}
