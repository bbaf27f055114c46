//! Models times boards times strategies and more: each combination is planned once.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::Arc;

use tilewright_board::{Board, Card};
use tilewright_model::Model;
use tilewright_plan::{Bytes, Hertz};
use tilewright_planner::{Options, PlanError, Planned, Stop, Strategy, plan};
use tilewright_report::{SweepKey, SweepPlan, SweepRow};

use crate::{Experiment, ExploreError};

/// A model of a sweep.
#[derive(Clone, Debug)]
pub enum SweepModel {
    /// A network of the zoo, by its name; built when its first row is due.
    Zoo(String),
    /// An int8 model, by the name that rows give it.
    Given(String, Arc<Model>),
}

impl SweepModel {
    fn name(&self) -> &str {
        match self {
            Self::Zoo(name) | Self::Given(name, _) => name,
        }
    }
}

/// What is combined with what. A list that is empty makes the sweep empty.
#[derive(Clone, Debug)]
pub struct Dimensions {
    /// Models.
    pub models: Vec<SweepModel>,
    /// Boards.
    pub boards: Vec<Board>,
    /// Strategies.
    pub strategies: Vec<Strategy>,
    /// Budgets of SRAM; nothing: all that the board has for tensors.
    pub budgets: Vec<Option<Bytes>>,
    /// Clocks; nothing: the board's.
    pub clocks: Vec<Option<Hertz>>,
    /// Cards in the slot; nothing: the one that goes with the board.
    pub cards: Vec<Option<Card>>,
    /// Frames that are computed one after the other.
    pub frames: Vec<NonZeroU32>,
}

impl Dimensions {
    /// Models on a board with a strategy, all else as usual.
    #[must_use]
    pub fn of(models: Vec<SweepModel>, board: Board, strategy: Strategy) -> Self {
        Self {
            models,
            boards: vec![board],
            strategies: vec![strategy],
            budgets: vec![None],
            clocks: vec![None],
            cards: vec![None],
            frames: vec![NonZeroU32::MIN],
        }
    }
}

/// Most rows of a sweep.
const MOST_ROWS: usize = 1_000_000;

/// All combinations of some dimensions, each once.
#[derive(Clone, Debug)]
pub struct Sweep(Dimensions);

impl Sweep {
    /// All combinations. What is given twice, a network by two names too, counts once.
    ///
    /// # Errors
    /// If the zoo does not have a network, or there is no combination, or there are more than a million.
    pub fn new(dimensions: Dimensions) -> Result<Self, ExploreError> {
        let canonical = |model: SweepModel| match model {
            SweepModel::Zoo(name) => tilewright_zoo::canonical(&name).map(SweepModel::Zoo),
            given => Ok(given),
        };
        let models = dimensions.models.into_iter().map(canonical).collect::<Result<Vec<_>, _>>()?;
        let sweep = Self(Dimensions {
            models: once(models, |model| model.name().to_owned()),
            boards: once(dimensions.boards, |board| board.id.clone()),
            strategies: once(dimensions.strategies, |strategy| strategy.name()),
            budgets: once(dimensions.budgets, |budget| *budget),
            clocks: once(dimensions.clocks, |clock| *clock),
            cards: once(dimensions.cards, |card| card.as_ref().map(|card| card.id.clone())),
            frames: once(dimensions.frames, |frames| *frames),
        });
        match sweep.counted() {
            Some(0) => Err(ExploreError::NoRows),
            Some(1..=MOST_ROWS) => Ok(sweep),
            _ => Err(ExploreError::TooManyRows { most: MOST_ROWS }),
        }
    }

    fn counted(&self) -> Option<usize> {
        let Dimensions { models, boards, strategies, budgets, clocks, cards, frames } = &self.0;
        let lengths = [
            models.len(),
            boards.len(),
            strategies.len(),
            budgets.len(),
            clocks.len(),
            cards.len(),
            frames.len(),
        ];
        lengths.into_iter().try_fold(1, usize::checked_mul)
    }

    /// How many rows there are.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.counted().unwrap_or(0)
    }

    /// The combination of a row: models change last, so that each is built once.
    fn combination(&self, row: usize) -> Option<Combination<'_>> {
        let Dimensions { models, boards, strategies, budgets, clocks, cards, frames } = &self.0;
        let (row, frames) = part(row, frames)?;
        let (row, card) = part(row, cards)?;
        let (row, clock) = part(row, clocks)?;
        let (row, budget) = part(row, budgets)?;
        let (row, strategy) = part(row, strategies)?;
        let (row, board) = part(row, boards)?;
        Some(Combination {
            model: models.get(row)?,
            board,
            strategy: *strategy,
            budget: *budget,
            clock: *clock,
            card: card.as_ref(),
            frames: *frames,
        })
    }

    /// What a row is of; nothing if there is no such row.
    #[must_use]
    pub fn key(&self, row: usize) -> Option<SweepKey> {
        let Combination { model, board, strategy, budget, clock, card, frames } =
            self.combination(row)?;
        Some(SweepKey {
            network: model.name().to_owned(),
            board: board.id.clone(),
            strategy: strategy.name().to_owned(),
            sram_budget_bytes: budget.map(|bytes| bytes.0),
            clock_hz: clock.map(|clock| clock.0),
            card: card.map(|card| card.id.clone()),
            frames: frames.get(),
        })
    }

    /// Plans a row; `built` holds the model of the row before. Nothing if there is no such row.
    ///
    /// # Errors
    /// If a network cannot be built, or nobody waits any more.
    pub fn plan(
        &self,
        row: usize,
        built: &mut Option<BuiltModel>,
        stop: &Stop,
    ) -> Result<Option<SweepRow>, ExploreError> {
        let (Some(combination), Some(key)) = (self.combination(row), self.key(row)) else {
            return Ok(None);
        };
        if built.as_ref().is_none_or(|built| built.name != key.network) {
            *built = Some(BuiltModel::of(combination.model)?);
        }
        let Some(BuiltModel { int8, macs, parameters, .. }) = built.as_ref() else {
            return Ok(None);
        };
        let mut board = combination.board.clone();
        if let Some(clock) = combination.clock {
            board.core.clock.hertz = clock;
        }
        let options = Options {
            sram: combination.budget,
            frames: combination.frames,
            card: combination.card.cloned(),
            stop: stop.clone(),
            ..Options::default()
        };
        let (plan, problem) = match plan(int8, &board, combination.strategy, &options) {
            Ok(planned) => figures(&planned),
            Err(PlanError::Stopped) => return Err(ExploreError::Stopped),
            Err(error) => (None, Some(error.to_string())),
        };
        let (macs, parameters) = ((*macs).into(), (*parameters).into());
        Ok(Some(SweepRow { key, macs, parameters, plan, problem }))
    }
}

/// The item that `row` stands for, and what is left of it.
fn part<T>(row: usize, items: &[T]) -> Option<(usize, &T)> {
    Some((row.checked_div(items.len())?, items.get(row.checked_rem(items.len())?)?))
}

/// Items, without those whose key stands before.
fn once<T, K: Ord>(items: Vec<T>, key: impl Fn(&T) -> K) -> Vec<T> {
    let mut known = BTreeSet::new();
    items.into_iter().filter(|item| known.insert(key(item))).collect()
}

struct Combination<'s> {
    model: &'s SweepModel,
    board: &'s Board,
    strategy: Strategy,
    budget: Option<Bytes>,
    clock: Option<Hertz>,
    card: Option<&'s Card>,
    frames: NonZeroU32,
}

/// The model that rows are made of at present.
#[derive(Debug)]
pub struct BuiltModel {
    name: String,
    int8: Arc<Model>,
    macs: u64,
    parameters: u64,
}

impl BuiltModel {
    fn of(model: &SweepModel) -> Result<Self, ExploreError> {
        let name = model.name().to_owned();
        match model {
            SweepModel::Zoo(network) => {
                let found = tilewright_zoo::network(network)?;
                let (macs, parameters) = (found.macs(), found.parameters_of_model());
                Ok(Self { name, int8: Arc::new(found.int8()?), macs, parameters })
            }
            SweepModel::Given(_, int8) => Ok(Self {
                name,
                int8: Arc::clone(int8),
                macs: int8.nodes.iter().map(|node| int8.macs(node)).sum(),
                parameters: int8.parameters(),
            }),
        }
    }
}

/// A sweep under way, row by row.
pub struct Sweeping {
    sweep: Sweep,
    stop: Stop,
    built: Option<BuiltModel>,
    rows: Vec<SweepRow>,
}

impl Sweeping {
    /// Begins a sweep; planning asks `stop` whether anybody still waits.
    #[must_use]
    pub const fn new(sweep: Sweep, stop: Stop) -> Self {
        Self { sweep, stop, built: None, rows: Vec::new() }
    }

    /// The rows so far, in the order of the sweep.
    #[must_use]
    pub fn rows(&self) -> &[SweepRow] {
        &self.rows
    }
}

impl Experiment for Sweeping {
    fn steps(&self) -> usize {
        self.sweep.rows()
    }

    fn done(&self) -> usize {
        self.rows.len()
    }

    fn last(&self) -> Option<String> {
        let SweepKey { network, board, strategy, .. } = &self.rows.last()?.key;
        Some(format!("{network}, {board}, {strategy}"))
    }

    fn advance(&mut self) -> Result<bool, ExploreError> {
        let row = self.sweep.plan(self.rows.len(), &mut self.built, &self.stop)?;
        Ok(row.map(|row| self.rows.push(row)).is_some())
    }
}

/// A plan's figures, and why it cannot run.
fn figures(planned: &Planned) -> (Option<SweepPlan>, Option<String>) {
    let report = &planned.report;
    let problem = report.no_program().or_else(|| report.no_room()).map(|why| why.what);
    let plan = SweepPlan {
        fits: report.fits && problem.is_none(),
        latency_us: report.latency_us,
        sram_bytes: report.peak_sram_bytes,
        flash_bytes: report.flash_bytes,
        external_bytes: report.external_bytes,
    };
    (Some(plan), problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boards(ids: &[&str]) -> Vec<Board> {
        ids.iter().map(|id| tilewright_board::find(id).unwrap()).collect()
    }

    fn sweep(names: &[&str], ids: &[&str], strategies: &[Strategy]) -> Dimensions {
        let models = names.iter().map(|name| SweepModel::Zoo((*name).to_owned())).collect();
        let board = tilewright_board::find("stm32f746g-disco").unwrap();
        Dimensions {
            boards: boards(ids),
            strategies: strategies.to_vec(),
            ..Dimensions::of(models, board, Strategy::Resident)
        }
    }

    #[test]
    fn each_combination_is_planned_once() {
        let sweep = Dimensions {
            budgets: vec![None, Some(Bytes(10_000))],
            ..sweep(
                &["mcunet-in0", "MCUNET-in0-r48", "vww"],
                &["stm32f746g-disco", "stm32f469i-disco", "stm32f746g-disco"],
                &[Strategy::Resident, Strategy::Resident],
            )
        };
        let mut sweeping = Sweeping::new(Sweep::new(sweep).unwrap(), Stop::default());
        assert_eq!(sweeping.steps(), 8);
        while sweeping.advance().unwrap() {}
        let rows = sweeping.rows();
        let mut keys: Vec<&SweepKey> = rows.iter().map(|row| &row.key).collect();
        assert_eq!(keys[1].sram_budget_bytes, Some(10_000));
        assert_eq!((&*keys[3].network, &*keys[3].board), ("mcunet-in0", "stm32f469i-disco"));
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), 8);
        for row in rows {
            let is_small = row.key.sram_budget_bytes.is_some();
            assert_eq!(row.problem.is_some(), is_small, "{row:?}");
            assert_eq!(row.latency_us().is_none(), is_small, "{row:?}");
        }
    }

    #[test]
    fn clocks_and_frames_change_the_time() {
        let clock = Hertz(108_000_000);
        let sweep = Dimensions {
            clocks: vec![None, Some(clock)],
            frames: [1, 2].map(|frames| NonZeroU32::new(frames).unwrap()).to_vec(),
            ..sweep(&["vww"], &["stm32f746g-disco"], &[Strategy::Resident])
        };
        let mut sweeping = Sweeping::new(Sweep::new(sweep).unwrap(), Stop::default());
        while sweeping.advance().unwrap() {}
        let times: Vec<f64> = sweeping.rows().iter().filter_map(SweepRow::latency_us).collect();
        let [usual, two, slow, slow_two] = times[..] else { panic!("{times:?}") };
        assert!((two / usual - 2.0).abs() < 0.01 && (slow_two / slow - 2.0).abs() < 0.01);
        assert!(slow > 1.5 * usual, "{times:?}");
    }

    #[test]
    fn a_model_that_is_given_is_planned_like_the_network_that_it_is() {
        let int8 = tilewright_zoo::network("vww").unwrap().int8().unwrap();
        let models = vec![
            SweepModel::Zoo("vww".to_owned()),
            SweepModel::Given("mine.onnx".to_owned(), Arc::new(int8)),
        ];
        let board = tilewright_board::find("stm32f746g-disco").unwrap();
        let sweep = Sweep::new(Dimensions::of(models, board, Strategy::Resident)).unwrap();
        let rows: Vec<SweepRow> = (0..sweep.rows())
            .map(|row| sweep.plan(row, &mut None, &Stop::default()).unwrap().unwrap())
            .collect();
        assert_eq!(rows[0].plan, rows[1].plan);
        assert_eq!(rows[1].key.network, "mine.onnx");
    }

    #[test]
    fn a_network_without_a_plan_is_a_row_that_says_why() {
        // This board has no memory outside of the chip.
        let sweep = sweep(&["mcunet-in0"], &["paper-sparse-f767"], &[Strategy::Overlay]);
        let mut sweeping = Sweeping::new(Sweep::new(sweep).unwrap(), Stop::default());
        assert!(sweeping.advance().unwrap() && !sweeping.advance().unwrap());
        let row = &sweeping.rows()[0];
        assert!(row.problem.is_some() && row.latency_us().is_none(), "{row:?}");
    }

    #[test]
    fn nobody_waiting_ends_it_between_rows() {
        let sweep = sweep(&["mcunet-in0", "vww"], &["stm32f746g-disco"], &[Strategy::Auto]);
        let mut sweeping = Sweeping::new(Sweep::new(sweep).unwrap(), Stop::when(|_| true));
        assert!(matches!(sweeping.advance(), Err(ExploreError::Stopped)));
        assert_eq!(sweeping.done(), 0);
    }

    #[test]
    fn sweeps_of_nothing_and_of_too_much_are_refused() {
        let nothing = sweep(&[], &["stm32f746g-disco"], &[Strategy::Resident]);
        assert!(matches!(Sweep::new(nothing), Err(ExploreError::NoRows)));
        let much = Dimensions {
            budgets: (0..1_000_001).map(|bytes| Some(Bytes(bytes))).collect(),
            ..sweep(&["vww"], &["stm32f746g-disco"], &[Strategy::Resident])
        };
        assert!(matches!(Sweep::new(much), Err(ExploreError::TooManyRows { .. })));
    }
}
