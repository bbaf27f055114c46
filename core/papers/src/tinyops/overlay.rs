//! Networks from external memory, beside the tables of Sadiq's thesis (chapter 4).

use tilewright_plan::Bytes;
use tilewright_planner::{Options, Overlaid, Stop, Strategy};
use tilewright_report::Energy;

/// A network on a board of the thesis.
#[derive(Clone, Copy, Debug)]
pub struct Printed {
    pub board: &'static str,
    pub network: &'static str,
    /// Milliseconds with internal memory, external memory and TinyOps.
    pub ms: [Option<u32>; 3],
    /// Budget of SRAM that overlaying was given; nothing: the board's.
    pub budget: Option<Bytes>,
}

const fn inside(board: &'static str, network: &'static str, ms: [u32; 3]) -> Printed {
    let [internal, external, overlay] = ms;
    Printed { board, network, ms: [Some(internal), Some(external), Some(overlay)], budget: None }
}

const fn outside(board: &'static str, network: &'static str, ms: [u32; 2]) -> Printed {
    let [external, overlay] = ms;
    Printed { board, network, ms: [None, Some(external), Some(overlay)], budget: None }
}

/// Table 4.5, and its network of the F469 in the budget of figure 4.8; then table 4.6, networks that fit no internal
/// memory.
pub const PRINTED: [Printed; 9] = [
    inside("paper-tinyops-l552", "proxylessnas-thesis-w0.1-r192", [855, 2963, 977]),
    inside("paper-tinyops-f469", "proxylessnas-thesis-w0.3-r144", [1089, 2411, 1131]),
    inside("paper-tinyops-f746", "proxylessnas-thesis-w0.3-r176", [685, 1004, 772]),
    Printed {
        budget: Some(SMALL_BUDGET),
        ..inside("paper-tinyops-f469", "proxylessnas-thesis-w0.3-r144", [1089, 2411, 1184])
    },
    outside("paper-tinyops-l552", "mnasnet-thesis-w0.5-r224", [20058, 8134]),
    outside("paper-tinyops-f469", "mnasnet-thesis-w0.75-r224", [13139, 6220]),
    outside("paper-tinyops-f469", "proxylessnas-thesis-w0.75-r224", [14660, 7008]),
    outside("paper-tinyops-f746", "mnasnet-thesis-w1-r224", [5278, 3890]),
    outside("paper-tinyops-f746", "proxylessnas-thesis-w0.75-r224", [4353, 3123]),
];

/// The budget of figure 4.8, of the network of the F469 in table 4.5.
pub const SMALL_BUDGET: Bytes = Bytes(102 * 1024);

/// What comes out of it here.
#[derive(Debug)]
pub struct Row {
    pub printed: Printed,
    /// Milliseconds (modelled) of `resident`, `external` and `overlay`.
    pub ms: [f64; 3],
    /// Millijoules of a frame (modelled), middles of ranges; nothing where no source says what the board draws.
    pub mj: [Option<f64>; 3],
}

/// What stands for the thesis' three ways.
pub const STRATEGIES: [Strategy; 3] = [Strategy::Resident, Strategy::External, Strategy::Overlay];

/// Plans the networks of both tables.
///
/// # Errors
/// If one cannot be built or planned.
pub fn rows(stop: &Stop) -> Result<Vec<Row>, String> {
    PRINTED.into_iter().map(|printed| row(printed, stop)).collect()
}

fn row(printed: Printed, stop: &Stop) -> Result<Row, String> {
    let (board, model) = (crate::board(printed.board)?, crate::model(printed.network)?);
    let (mut ms, mut mj) = ([0.0; 3], [None; 3]);
    for (index, strategy) in STRATEGIES.into_iter().enumerate() {
        let options = Options {
            sram: printed.budget,
            overlaid: Overlaid::THESIS,
            stop: stop.clone(),
            ..Options::default()
        };
        let planned = crate::planned(&model, &board, strategy, &options)?;
        let energy = Energy::of(&planned.timeline, &planned.traffic, &board, None, 1);
        mj[index] = energy.ok().map(|energy| energy.middle_uj() / 1e3);
        ms[index] = planned.report.latency_us.map_or(0.0, |us| us.0 / 1e3);
    }
    Ok(Row { printed, ms, mj })
}
