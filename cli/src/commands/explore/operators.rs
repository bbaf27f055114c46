//! `tilewright explore operators`: what each operator of many networks takes on a core, or on several.

mod said;

use tilewright_app::{Blame, Cancel, Diagnostic, zoo};
use tilewright_board::{Board, Support};
use tilewright_explore::{OPERATORS_BACKBONES, Operators, OperatorsTarget};
use tilewright_report::{OperatorKey, OperatorRow, WithKinds};

use super::emulation::Emulation;
use super::rows::{Row, Rows};
use super::take_steps;
use crate::all_cores::on_all_cores;
use crate::args::explore::ExploreOperators;
use crate::experiment::{End, apart, stop, told};
use crate::{Said, interrupt, load};

/// The word that stands for a board of each chip that runs plans.
const ALL: &str = "all";

/// Runs the benchmark.
pub fn operators(options: &ExploreOperators) -> Result<Said, Diagnostic> {
    let cancel = interrupt::cancelled_by_ctrl_c()?;
    apart(&options.out, &[&options.rows], &[])?;
    let targets = targets(options)?;
    let backbones: Vec<String> = match options.backbones.as_slice() {
        [] => OPERATORS_BACKBONES.map(str::to_owned).to_vec(),
        given => given.iter().map(|name| name.trim_start_matches(zoo::PREFIX).to_owned()).collect(),
    };
    let mut rows = Rows::open(options.rows.as_deref())?;
    let experiment = Operators::new(&backbones, targets, stop(&cancel));
    let mut experiment = experiment.map_err(|error| {
        Diagnostic::new(
            Blame::BadInput,
            format!("{error}."),
            backbones.join(","),
            "Give networks with widths from 0.1 to 1 and resolutions from 48 to 224.",
        )
    })?;
    let mut end = take_steps(&mut experiment, &cancel, &options.board.join(","))?;
    if let (End::Whole, Some(most_macs)) = (end, options.emulate) {
        end = emulate(&experiment, most_macs, &mut rows, &cancel)?;
    }
    known(&mut experiment, &rows);
    let record = WithKinds::of(experiment.report());
    told(
        &options.out,
        end,
        &record,
        &said::columns(),
        &said::rows(&record.report),
        |record| said::words(&record.report),
        |record| said::scatter(&record.report).svg(),
    )
}

/// The cores that are asked for, each once.
fn targets(options: &ExploreOperators) -> Result<Vec<OperatorsTarget>, Diagnostic> {
    let mut boards: Vec<Board> = Vec::new();
    for name in &options.board {
        let named = if name == ALL { one_a_chip() } else { vec![load::board_of(name)?] };
        for board in named {
            if boards.iter().all(|known| known.id != board.id) {
                boards.push(board);
            }
        }
    }
    let of_board = |board: &Board| {
        let off = options.without_data_cache.then(|| OperatorsTarget::without_data_cache(board));
        [Some(OperatorsTarget::of(board)), off.flatten()]
    };
    Ok(boards.iter().flat_map(of_board).flatten().collect())
}

/// A board of each chip that runs plans and that somebody can buy.
fn one_a_chip() -> Vec<Board> {
    let mut boards = tilewright_board::all();
    boards.retain(|board| board.support == Support::Firmware);
    boards.sort_by_key(|board| {
        (board.core.kind.id(), board.chip.clone(), board.id != tilewright_explore::OPERATORS_BOARD)
    });
    boards.dedup_by_key(|board| board.chip.clone());
    boards
}

impl Row for OperatorRow {
    type Key = OperatorKey;

    const EXPERIMENT: &'static str = "a benchmark of operators";

    fn key(&self) -> OperatorKey {
        self.of.clone()
    }
}

/// An operator on a target.
#[derive(Clone, Copy)]
struct Place {
    target: usize,
    operator: usize,
}

/// All operators on all targets, target by target.
fn places(experiment: &Operators) -> impl Iterator<Item = Place> + '_ {
    let operators = 0..experiment.distinct();
    let targets = 0..experiment.targets().len();
    targets
        .flat_map(move |target| operators.clone().map(move |operator| Place { target, operator }))
}

/// Where a number comes in an order of which any beginning is spread evenly over all numbers: multiples of the golden
/// ratio (Knuth, volume 3, 6.4). So what there was time for says something of all operators.
const fn spread(number: usize) -> u64 {
    (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Runs each operator that a board holds and that was not run yet, unless it has more multiply-accumulates, and
/// compares it with the reference; a process for each core of this computer.
fn emulate(
    experiment: &Operators,
    most_macs: u64,
    rows: &mut Rows<'_, OperatorRow>,
    cancel: &Cancel,
) -> Result<End, Diagnostic> {
    let is_missing = |place: &Place| {
        let Place { target, operator } = *place;
        experiment.runnable(target, operator, most_macs).is_some()
            && experiment.key(target, operator).is_some_and(|key| rows.get(&key).is_none())
    };
    let mut missing: Vec<Place> = places(experiment).filter(is_missing).collect();
    missing.sort_by_key(|place| spread(place.operator));
    if missing.is_empty() {
        return Ok(End::Whole);
    }
    let boards: Vec<&Board> = experiment.targets().iter().map(OperatorsTarget::board).collect();
    let emulation = Emulation::on(&boards, cancel)?;
    on_all_cores(
        missing.len(),
        cancel,
        "operators emulated",
        |_: &mut (), piece| {
            let Place { target, operator } = missing[piece];
            let board = experiment.targets().get(target).map(OperatorsTarget::board);
            let (Some(model), Some(board), Some(of)) = (
                experiment.runnable(target, operator, most_macs),
                board,
                experiment.key(target, operator),
            ) else {
                return Ok(None);
            };
            let emulated = emulation.run(model, board)?;
            Ok(emulated.ran.ok().map(|ran| OperatorRow { of, run: ran.kernels }))
        },
        |_, row| rows.add(row),
    )
}

/// Notes all runs that are known, those of an earlier benchmark too.
fn known(experiment: &mut Operators, rows: &Rows<'_, OperatorRow>) {
    for Place { target, operator } in places(experiment).collect::<Vec<_>>() {
        let key = experiment.key(target, operator);
        if let Some(row) = key.and_then(|key| rows.get(&key)) {
            experiment.ran(target, operator, row.run);
        }
    }
}
