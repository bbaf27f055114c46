//! Networks from external memory, beside the tables of Sadiq's thesis (chapter 4).

use serde::Serialize;
use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_plan::Bytes;
use tilewright_planner::{Options, Overlaid, Strategy};
use tilewright_report::Energy;

/// Table 4.5: board, network, latency in milliseconds with internal memory, external memory and
/// TinyOps.
const INTERNAL: [(&str, &str, [u32; 3]); 3] = [
    ("paper-tinyops-l552", "proxylessnas-thesis-w0.1-r192", [855, 2963, 977]),
    ("paper-tinyops-f469", "proxylessnas-thesis-w0.3-r144", [1089, 2411, 1131]),
    ("paper-tinyops-f746", "proxylessnas-thesis-w0.3-r176", [685, 1004, 772]),
];

/// Table 4.6: networks that fit no internal memory.
const LARGE: [(&str, &str, [u32; 2]); 5] = [
    ("paper-tinyops-l552", "mnasnet-thesis-w0.5-r224", [20058, 8134]),
    ("paper-tinyops-f469", "mnasnet-thesis-w0.75-r224", [13139, 6220]),
    ("paper-tinyops-f469", "proxylessnas-thesis-w0.75-r224", [14660, 7008]),
    ("paper-tinyops-f746", "mnasnet-thesis-w1-r224", [5278, 3890]),
    ("paper-tinyops-f746", "proxylessnas-thesis-w0.75-r224", [4353, 3123]),
];

/// The budget of figure 4.8, of the network of the F469 in table 4.5.
pub const SMALL_BUDGET: Bytes = Bytes(102 * 1024);

/// A network on a board.
#[derive(Debug, Serialize)]
pub struct Row {
    pub board: &'static str,
    pub network: &'static str,
    pub macs: u64,
    /// Budget of SRAM that overlaying was given; nothing: the board's.
    pub budget_bytes: Option<u64>,
    /// Milliseconds of the thesis: internal, external, TinyOps.
    pub paper_ms: [Option<u32>; 3],
    /// Milliseconds here (modelled): `resident`, `external`, `overlay`, `overlay` with staged outputs.
    pub ms: [f64; 4],
    /// Millijoules of a frame of the first three (modelled), middles of ranges; nothing where no source
    /// says what the board draws.
    pub mj: [Option<f64>; 3],
    /// SRAM of `resident`, and of `overlay` without and with staged outputs.
    pub sram_bytes: [u64; 3],
    /// Core waiting for transfers, milliseconds, with `overlay`.
    stall_ms: f64,
}

const STRATEGIES: [(Strategy, Overlaid); 4] = [
    (Strategy::Resident, Overlaid::THESIS),
    (Strategy::External, Overlaid::THESIS),
    (Strategy::Overlay, Overlaid::THESIS),
    (Strategy::Overlay, Overlaid::ALL),
];

/// Plans the networks of both tables.
///
/// # Errors
/// If one cannot be built or planned.
pub fn rows() -> Result<Vec<Row>, String> {
    let small = ("paper-tinyops-f469", "proxylessnas-thesis-w0.3-r144", [1089, 2411, 1184]);
    let internal = INTERNAL.into_iter().map(|row| (row, None));
    let internal = internal.chain([(small, Some(SMALL_BUDGET))]);
    let internal =
        internal.map(|((board, network, ms), budget)| (board, network, ms.map(Some), budget));
    let large = LARGE.into_iter().map(|(board, network, [external, overlay])| {
        (board, network, [None, Some(external), Some(overlay)], None)
    });
    let mut all = Vec::new();
    for (board, network, paper_ms, budget) in internal.chain(large) {
        let found = tilewright_board::find(board).map_err(|e| e.to_string())?;
        let model = tilewright_zoo::network(network).map_err(|e| e.to_string())?;
        let model = model.int8().map_err(|e| e.to_string())?;
        all.push(row((board, &found), (network, &model), paper_ms, budget)?);
    }
    Ok(all)
}

fn row(
    (name, board): (&'static str, &Board),
    (network, model): (&'static str, &Model),
    paper_ms: [Option<u32>; 3],
    budget: Option<Bytes>,
) -> Result<Row, String> {
    let (mut ms, mut sram, mut stall_ms) = ([0.0; 4], [0; 4], 0.0);
    let mut mj = [None; 3];
    let mut macs = 0;
    for (index, (strategy, overlaid)) in STRATEGIES.into_iter().enumerate() {
        let options = Options { sram: budget, overlaid, ..Options::default() };
        let planned = tilewright_planner::plan(model, board, strategy, &options)
            .map_err(|e| format!("{network}, {strategy}: {e}"))?;
        if let Some(mj) = mj.get_mut(index) {
            let energy = Energy::of(&planned.timeline, &planned.traffic, board, None, 1);
            *mj = energy.ok().map(|energy| energy.middle_uj() / 1e3);
        }
        let report = planned.report;
        let millis = |us: Option<tilewright_plan::Micros>| us.map_or(0.0, |us| us.0 / 1e3);
        ms[index] = millis(report.latency_us.map(|figure| *figure));
        sram[index] = report.peak_sram_bytes.0;
        macs = *report.macs;
        if (strategy, overlaid) == (Strategy::Overlay, Overlaid::THESIS) {
            stall_ms = millis(report.stall_us.map(|figure| *figure));
        }
    }
    Ok(Row {
        board: name,
        network,
        macs,
        budget_bytes: budget.map(|budget| budget.0),
        paper_ms,
        ms,
        mj,
        sram_bytes: [sram[0], sram[2], sram[3]],
        stall_ms,
    })
}

/// Prints a table: milliseconds and their ratios, the thesis' beside.
pub fn print(rows: &[Row]) {
    println!(
        "{:18} {:30} {:>7} | {:>8} {:>8} {:>8} {:>8} | {:>7} {:>7} | {:>7} {:>7} | {:>8} {:>8} {:>7}",
        "board",
        "network",
        "M MACs",
        "internal",
        "external",
        "overlay",
        "staged",
        "ov:int",
        "thesis",
        "ext:ov",
        "thesis",
        "SRAM KiB",
        "overlay",
        "stall"
    );
    let ratio = |above: f64, below: f64| if below > 0.0 { above / below } else { f64::NAN };
    for row in rows {
        let [internal, external, overlay, staged] = row.ms;
        let paper = |above: Option<u32>, below: Option<u32>| match (above, below) {
            (Some(above), Some(below)) => format!("{:.2}", f64::from(above) / f64::from(below)),
            _ => "-".to_owned(),
        };
        let [paper_internal, paper_external, paper_overlay] = row.paper_ms;
        let kib = |bytes: u64| bytes as f64 / 1024.0;
        println!(
            "{:18} {:30} {:>7.1} | {:>8.0} {:>8.0} {:>8.0} {:>8.0} | {:>7.3} {:>7} | {:>7.2} {:>7} | {:>8.0} {:>8.0} {:>7.1}",
            row.board,
            row.network,
            row.macs as f64 / 1e6,
            internal,
            external,
            overlay,
            staged,
            ratio(overlay, internal),
            paper(paper_overlay, paper_internal),
            ratio(external, overlay),
            paper(paper_external, paper_overlay),
            kib(row.sram_bytes[0]),
            kib(row.sram_bytes[1]),
            row.stall_ms,
        );
    }
}
