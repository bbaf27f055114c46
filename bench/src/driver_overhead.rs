//! What the core takes between steps and around copies, counted on the emulated boards: the figures that board
//! files hold, and how far off predictions are of whole frames.

mod file;

use std::fs;

use serde::Serialize;
use tilewright_board::Board;
use tilewright_model::Data;
use tilewright_plan::{Bytes, CyclePoint, Instruction, LaneKind, Plan};
use tilewright_planner::simulate::{self, CopyOverhead};
use tilewright_planner::{Options, Overlaid, Strategy};
use tilewright_tests::emulated;

use crate::calibrate::least_squares;

/// Pieces of copies but their first ones that programs of a board must have for what one takes to be told: the least
/// squares give a few to whatever else the same programs have.
const PIECES: u64 = 100;

const BOARDS: [&str; 2] = ["stm32f746g-disco", "stm32f469i-disco"];

/// A network, its strategy, its budget in SRAM, and what is overlaid.
const CASES: [(&str, Strategy, Option<u64>, Overlaid); 14] = [
    ("resnet8", Strategy::Resident, None, Overlaid::THESIS),
    ("ds-cnn", Strategy::Resident, None, Overlaid::THESIS),
    ("mobilenet-v1-w0.25-r128", Strategy::Resident, None, Overlaid::THESIS),
    ("mobilenet-v1-w0.25-r128", Strategy::Auto, Some(49_152), Overlaid::THESIS),
    ("mobilenet-v1-w0.25-r128", Strategy::Overlay, Some(49_152), Overlaid::THESIS),
    ("mobilenet-v1-w0.25-r128", Strategy::Overlay, Some(49_152), Overlaid::ALL),
    ("mobilenet-v2-w0.35-r96", Strategy::Auto, Some(69_120), Overlaid::THESIS),
    ("mobilenet-v2-w0.35-r96", Strategy::Overlay, Some(69_120), Overlaid::ALL),
    ("lenet5", Strategy::Swap, None, Overlaid::THESIS),
    ("resnet8", Strategy::Swap, None, Overlaid::THESIS),
    ("mobilenet-v1-w0.25-r128", Strategy::Swap, None, Overlaid::THESIS),
    ("resnet8", Strategy::Stream, None, Overlaid::THESIS),
    ("mobilenet-v1-w0.25-r128", Strategy::Stream, None, Overlaid::THESIS),
    ("ds-cnn", Strategy::Stream, None, Overlaid::THESIS),
];

/// A frame of a program.
#[derive(Debug, Serialize)]
pub struct Row {
    board: &'static str,
    network: &'static str,
    strategy: String,
    /// Steps that compute, copies by DMA and by the card.
    steps: u64,
    dma_copies: u64,
    card_copies: u64,
    /// Pieces of the copies but their first ones, and lines of the cache that are maintained.
    pieces: u64,
    lines: u64,
    /// Cycles of the whole frame (modelled): predicted, and of the emulated board.
    predicted: u64,
    emulated: u64,
    /// Of these cycles of the core between kernels, in interrupts, and asleep.
    between: u64,
    interrupts: u64,
    asleep: u64,
}

/// What a board's file says: cycles of a step, of a copy, of each piece but the first, of a line of the
/// cache, and of a copy of the card but for its lines, in thousandths. Where programs have too few pieces to tell
/// what one takes there is nothing.
#[derive(Debug, Serialize)]
struct Found {
    board: &'static str,
    step: u64,
    copy: u64,
    piece: Option<u64>,
    line: u64,
    card_copy: u64,
}

/// Runs all programs and prints them, and what follows from them.
///
/// # Errors
/// If a network cannot be planned or run, what a board cannot run being left out; if a file cannot be written.
pub fn driver_overhead(write: bool, json: bool) -> Result<(), String> {
    let mut rows = Vec::new();
    for id in BOARDS {
        let board = tilewright_board::find(id).map_err(|error| error.to_string())?;
        for case in CASES {
            if let Some(row) = row(&board, id, case)? {
                if !json {
                    print(&row);
                }
                rows.push(row);
            }
        }
    }
    let found: Vec<Found> = BOARDS.iter().map(|id| found(id, &rows)).collect();
    for found in found.iter().filter(|_| write) {
        let path = emulated::project().join("boards").join(found.board).with_extension("toml");
        let name = path.display().to_string();
        let text = fs::read_to_string(&path).map_err(|error| format!("{name}: {error}"))?;
        let text = file::with(&text, found).map_err(|error| format!("{name}: {error}"))?;
        fs::write(&path, text).map_err(|error| format!("{name}: {error}"))?;
    }
    if json {
        let text = serde_json::to_string_pretty(&(rows, found)).map_err(|e| e.to_string())?;
        println!("{text}");
    } else {
        for Found { board, step, copy, piece, line, card_copy } in found {
            println!(
                "  {board:17} a step {}, a copy {}, a piece more {}, a line {:.3}, a copy of the card {} \
                 cycles",
                step / 1000,
                copy / 1000,
                piece.map_or("unknown".to_owned(), |piece| (piece / 1000).to_string()),
                line as f64 / 1000.0,
                card_copy / 1000
            );
        }
    }
    Ok(())
}

/// Least squares over the programs of a board that use no card; copies of the card, which interrupt several
/// times each, take what is left in the programs that use it.
fn found(board: &'static str, rows: &[Row]) -> Found {
    let of_board = rows.iter().filter(|row| row.board == board);
    let (carded, rows): (Vec<&Row>, Vec<&Row>) = of_board.partition(|row| row.card_copies > 0);
    let features: Vec<Vec<u64>> =
        rows.iter().map(|row| vec![row.steps, row.dma_copies, row.pieces, row.lines]).collect();
    let values: Vec<u64> = rows.iter().map(|row| row.between + row.interrupts).collect();
    let found = least_squares::coefficients(&features, &values);
    let [step, copy, piece, line] = [0, 1, 2, 3].map(|at| found.get(at).copied().unwrap_or(0));
    let pieces: u64 = rows.iter().map(|row| row.pieces).sum();
    let piece = (pieces >= PIECES).then_some(piece);
    let left = carded.iter().map(|row| {
        let known = row.steps * step + row.lines * line;
        (row.between + row.interrupts).saturating_sub(known / 1000)
    });
    let copies: Vec<Vec<u64>> = carded.iter().map(|row| vec![row.card_copies]).collect();
    let card = least_squares::coefficients(&copies, &left.collect::<Vec<u64>>());
    Found { board, step, copy, piece, line, card_copy: card.first().copied().unwrap_or(0) }
}

fn row(
    board: &Board,
    id: &'static str,
    (network, strategy, sram, overlaid): (&'static str, Strategy, Option<u64>, Overlaid),
) -> Result<Option<Row>, String> {
    let model = tilewright_zoo::network(network).map_err(|error| error.to_string())?;
    let model = model.int8().map_err(|error| error.to_string())?;
    let options = Options { sram: sram.map(Bytes), overlaid, ..Options::default() };
    let planned = tilewright_planner::plan(&model, board, strategy, &options)
        .map_err(|error| error.to_string())?;
    if !planned.report.fits || planned.plan.main.is_none() {
        return Ok(None);
    }
    let mut rng = fastrand::Rng::with_seed(7);
    let elements = model.inputs.first().and_then(|id| model.tensor(*id).shape.elements());
    let inputs = [Data::I8((0..elements.unwrap_or(0)).map(|_| rng.i8(..)).collect())];
    let (_, job) = emulated::job_with(&model, board, strategy, &inputs, &options)?;
    let outcome = emulated::run_job(job)?;
    if let Some(fault) = outcome.finish.fault {
        return Err(format!("{network}, {strategy}, {id}: {:?}", fault.message));
    }
    let counts = outcome.finish.invoke;
    let count = |kind, is: fn(&Instruction) -> bool| counted(&planned.plan, kind, is);
    let is_copy = |instruction: &Instruction| matches!(instruction, Instruction::Copy { .. });
    let [pieces, lines] = handled(&planned.plan, board);
    Ok(Some(Row {
        board: id,
        pieces,
        lines,
        network,
        strategy: strategy.to_string(),
        steps: count(LaneKind::Core, |i| matches!(i, Instruction::Compute { .. })),
        dma_copies: count(LaneKind::Dma, is_copy),
        card_copies: count(LaneKind::Card, is_copy),
        predicted: planned.timeline.end().since(CyclePoint::default()).0,
        emulated: counts.cycles().0,
        between: counts.dispatch_cycles.0,
        interrupts: counts.interrupt_cycles.0,
        asleep: counts.wait_cycles.0,
    }))
}

/// Steps of a lane of the program that runs for each frame.
fn counted(plan: &Plan, kind: LaneKind, is: fn(&Instruction) -> bool) -> u64 {
    let program = plan.main.as_ref();
    let lanes = program.iter().flat_map(|program| &program.lanes);
    let steps = lanes.filter(|lane| lane.kind == kind).flat_map(|lane| &lane.steps);
    steps.filter(|step| is(&step.instruction)).count() as u64
}

/// Pieces of the copies but their first ones, and lines of the cache.
fn handled(plan: &Plan, board: &Board) -> [u64; 2] {
    let program = plan.main.as_ref();
    let lanes = program.iter().flat_map(|program| &program.lanes);
    let written = simulate::written(plan);
    let mut sums = [0, 0];
    for lane in lanes.filter(|lane| lane.kind != LaneKind::Core) {
        for step in &lane.steps {
            let Instruction::Copy { source, destination, .. } = step.instruction else { continue };
            let span = |at: u32| plan.spans.get(at as usize);
            let Some((source, destination)) = span(source).zip(span(destination)) else { continue };
            let CopyOverhead { pieces, lines_before, lines_behind } =
                simulate::copy_overhead(board, &written, lane.kind, [source, destination]);
            sums = [sums[0] + pieces - 1, sums[1] + lines_before + lines_behind];
        }
    }
    sums
}

fn print(row: &Row) {
    let Row { board, network, strategy, steps, dma_copies, card_copies, .. } = row;
    let Row { predicted, emulated, between, interrupts, asleep, .. } = row;
    let error = (*predicted as f64 / *emulated as f64 - 1.0) * 100.0;
    println!(
        "  {board:17} {network:24} {strategy:15} {steps:5} steps, {dma_copies:4} + \
         {card_copies:4} copies: predicted {predicted:11}, emulated {emulated:11} cycles ({error:+.1} \
         %), between kernels {between:8}, interrupts {interrupts:8}, asleep {asleep:9}"
    );
}
