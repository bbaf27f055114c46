//! Models times boards times strategies and more: each combination is planned once.

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use tilewright_board::{Board, Card};
use tilewright_plan::{Bytes, Hertz};
use tilewright_planner::{Options, PlanError, Planned, Stop, Strategy, plan};
use tilewright_report::{Energy, SweepKey, SweepPlan, SweepRow, Wear, sentence};

use crate::sweep_model::OpenModel;
use crate::{ExploreError, HeldModel, SweepModel};

/// What is combined with what. A list that is empty makes the sweep empty.
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
    /// Models on boards with strategies, all else as usual.
    #[must_use]
    pub fn of(models: Vec<SweepModel>, boards: Vec<Board>, strategies: Vec<Strategy>) -> Self {
        Self {
            models,
            boards,
            strategies,
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
pub struct Sweep(Dimensions);

impl Sweep {
    /// All combinations. What is given twice, a network by two names too, counts once.
    ///
    /// # Errors
    /// If there is no combination, or there are more than a million.
    pub fn new(dimensions: Dimensions) -> Result<Self, ExploreError> {
        let sweep = Self(Dimensions {
            models: once(dimensions.models, |model| model.name().to_owned()),
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

    /// Boards with strategies, in the order of the rows.
    pub(crate) fn targets(&self) -> impl Iterator<Item = (&Board, Strategy)> {
        let Dimensions { boards, strategies, .. } = &self.0;
        boards.iter().flat_map(|board| strategies.iter().map(move |strategy| (board, *strategy)))
    }

    /// What each row is of.
    pub fn keys(&self) -> impl Iterator<Item = SweepKey> {
        (0..self.counted().unwrap_or(0)).filter_map(|row| self.key(row))
    }

    /// The combination of a row: models change last, so that each is opened once.
    pub(crate) fn combination(&self, row: usize) -> Option<Combination<'_>> {
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
    pub(crate) fn key(&self, row: usize) -> Option<SweepKey> {
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

    /// Plans a row; of a model that cannot be opened the row says why. `held` keeps the model open for the next row.
    /// Nothing if there is no such row.
    ///
    /// # Errors
    /// If nobody waits any more.
    pub fn plan(
        &self,
        row: usize,
        held: &mut HeldModel,
        stop: &Stop,
    ) -> Result<Option<SweepRow>, ExploreError> {
        let (Some(combination), Some(key)) = (self.combination(row), self.key(row)) else {
            return Ok(None);
        };
        combination.row(key, held, stop).map(Some)
    }

    /// Plans all rows, one after the other.
    ///
    /// # Errors
    /// If nobody waits any more.
    pub fn all(&self, stop: &Stop) -> Result<Vec<SweepRow>, ExploreError> {
        let mut held = HeldModel::default();
        (0..).map_while(|row| self.plan(row, &mut held, stop).transpose()).collect()
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

impl SweepModel {
    /// The row that a key is of, of this model; what the key names and does not exist is the row's problem. `held`
    /// keeps the model open for the next row.
    ///
    /// # Errors
    /// If nobody waits any more.
    pub fn row(
        &self,
        key: &SweepKey,
        held: &mut HeldModel,
        stop: &Stop,
    ) -> Result<SweepRow, ExploreError> {
        let key = key.clone();
        let problem = |key, problem: String| {
            let problem = Some(sentence(&problem));
            Ok(SweepRow { key, macs: None, parameters: None, plan: None, problem })
        };
        let board = match tilewright_board::find(&key.board) {
            Ok(board) => board,
            Err(error) => return problem(key, error.to_string()),
        };
        let strategy = match key.strategy.parse() {
            Ok(strategy) => strategy,
            Err(error) => return problem(key, PlanError::to_string(&error)),
        };
        let card = match key.card.as_deref().map(tilewright_board::find_card).transpose() {
            Ok(card) => card,
            Err(error) => return problem(key, error.to_string()),
        };
        let combination = Combination {
            model: self,
            board: &board,
            strategy,
            budget: key.sram_budget_bytes.map(Bytes),
            clock: key.clock_hz.map(Hertz),
            card: card.as_ref(),
            frames: NonZeroU32::new(key.frames).unwrap_or(NonZeroU32::MIN),
        };
        combination.row(key, held, stop)
    }
}

pub(crate) struct Combination<'s> {
    pub model: &'s SweepModel,
    board: &'s Board,
    strategy: Strategy,
    budget: Option<Bytes>,
    clock: Option<Hertz>,
    card: Option<&'s Card>,
    frames: NonZeroU32,
}

impl Combination<'_> {
    fn row(
        self,
        key: SweepKey,
        held: &mut HeldModel,
        stop: &Stop,
    ) -> Result<SweepRow, ExploreError> {
        let opened = self.model.opened(held);
        let OpenModel { int8, macs, parameters } = match &*opened {
            Ok(model) => model,
            Err(_) if stop.after(0).is_err() => return Err(ExploreError::Stopped),
            Err(problem) => {
                let problem = Some(problem.clone());
                let row = SweepRow { key, macs: None, parameters: None, plan: None, problem };
                return Ok(row);
            }
        };
        let mut board = self.board.clone();
        if let Some(clock) = self.clock {
            board.core.clock.hertz = clock;
        }
        let options = Options {
            sram: self.budget,
            frames: self.frames,
            card: self.card.cloned(),
            stop: stop.clone(),
            ..Options::default()
        };
        let (plan, problem) = match plan(int8, &board, self.strategy, &options) {
            Ok(planned) => figures(&planned, &board, options.card_in(&board).as_ref()),
            Err(PlanError::Stopped) => return Err(ExploreError::Stopped),
            Err(error) => (None, Some(error.to_string())),
        };
        let (macs, parameters) = (Some((*macs).into()), Some((*parameters).into()));
        Ok(SweepRow { key, macs, parameters, plan, problem })
    }
}

/// A plan's figures, and why it cannot run.
fn figures(
    planned: &Planned,
    board: &Board,
    card: Option<&Card>,
) -> (Option<SweepPlan>, Option<String>) {
    let report = &planned.report;
    let problem = report.no_program().or_else(|| report.no_room()).map(|why| why.what);
    let energy = Energy::of(&planned.timeline, &planned.traffic, board, card, report.frames);
    let energy_uj = energy.ok().filter(|_| report.latency_us.is_some());
    let wear = card.and_then(|card| Wear::of(report, card, None));
    let years = wear.as_ref().and_then(|wear| wear.years);
    let plan = SweepPlan {
        fits: report.fits && problem.is_none(),
        latency_us: report.latency_us,
        sram_bytes: report.peak_sram_bytes,
        flash_bytes: report.flash_bytes,
        external_bytes: report.external_bytes,
        energy_uj: energy_uj.map(|energy| energy.middle_uj().into()),
        card_written_bytes: wear.map_or(0.0, |wear| wear.frame_written_bytes).into(),
        card_years: years.map(|[least, _]| least.into()),
    };
    (Some(plan), problem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tilewright_model::Model;

    fn vww() -> Model {
        tilewright_zoo::network("vww").unwrap().int8().unwrap()
    }

    fn rows(sweep: &Sweep) -> Vec<SweepRow> {
        sweep.all(&Stop::default()).unwrap()
    }

    fn boards(ids: &[&str]) -> Vec<Board> {
        ids.iter().map(|id| tilewright_board::find(id).unwrap()).collect()
    }

    fn sweep(names: &[&str], ids: &[&str], strategies: &[Strategy]) -> Dimensions {
        let models = names.iter().map(|name| SweepModel::zoo(name)).collect();
        Dimensions::of(models, boards(ids), strategies.to_vec())
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
        let sweep = Sweep::new(sweep).unwrap();
        let rows = rows(&sweep);
        assert!(sweep.keys().eq(rows.iter().map(|row| row.key.clone())));
        let mut keys: Vec<&SweepKey> = rows.iter().map(|row| &row.key).collect();
        assert_eq!(keys[1].sram_budget_bytes, Some(10_000));
        assert_eq!((&*keys[3].network, &*keys[3].board), ("mcunet-in0", "stm32f469i-disco"));
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), 8);
        for row in &rows {
            let is_small = row.key.sram_budget_bytes.is_some();
            assert_eq!(row.problem.is_some(), is_small, "{row:?}");
            assert_eq!(row.latency_us().is_none(), is_small, "{row:?}");
        }
    }

    #[test]
    fn a_key_is_planned_as_its_row_is_and_says_what_it_names_wrongly() {
        let sweep = Dimensions {
            budgets: vec![Some(Bytes(200_000))],
            ..sweep(&["vww"], &["stm32f746g-disco"], &[Strategy::Swap])
        };
        let [row] = rows(&Sweep::new(sweep).unwrap()).try_into().unwrap();
        let (model, mut held) = (SweepModel::zoo("vww"), HeldModel::default());
        let mut planned = |key: &SweepKey| model.row(key, &mut held, &Stop::default()).unwrap();
        assert_eq!(planned(&row.key), row);
        for wrong in [
            SweepKey { board: "no-board".to_owned(), ..row.key.clone() },
            SweepKey { strategy: "no-strategy".to_owned(), ..row.key.clone() },
            SweepKey { card: Some("no-card".to_owned()), ..row.key.clone() },
        ] {
            let problem = planned(&wrong).problem.unwrap();
            assert!(problem.contains("no-"), "{problem}");
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
        let rows = rows(&Sweep::new(sweep).unwrap());
        let times: Vec<f64> = rows.iter().filter_map(SweepRow::latency_us).collect();
        let [usual, two, slow, slow_two] = times[..] else { panic!("{times:?}") };
        assert!((two / usual - 2.0).abs() < 0.01 && (slow_two / slow - 2.0).abs() < 0.01);
        assert!(slow > 1.5 * usual, "{times:?}");
    }

    #[test]
    fn a_model_that_is_given_is_planned_like_the_network_that_it_is() {
        let sweep = Dimensions {
            models: vec![
                SweepModel::zoo("vww"),
                SweepModel::given("mine.onnx".to_owned(), || Ok(vww())),
            ],
            ..sweep(&[], &["stm32f746g-disco"], &[Strategy::Resident])
        };
        let rows = rows(&Sweep::new(sweep).unwrap());
        assert_eq!(rows[0].plan, rows[1].plan);
        assert_eq!(rows[1].key.network, "mine.onnx");
    }

    #[test]
    fn a_model_that_cannot_be_opened_is_rows_that_say_why() {
        let missing = || Err("There is no such file.".to_owned());
        let sweep = Dimensions {
            models: vec![
                SweepModel::given("missing.onnx".to_owned(), missing),
                SweepModel::zoo("mobilenet-v9"),
                SweepModel::zoo("vww"),
            ],
            ..sweep(&[], &["stm32f746g-disco", "stm32f469i-disco"], &[Strategy::Resident])
        };
        let rows = rows(&Sweep::new(sweep).unwrap());
        let why: Vec<Option<&str>> = rows.iter().map(SweepRow::not_opened).collect();
        let [missing, _, unknown, _, None, None] = why[..] else { panic!("{why:?}") };
        assert_eq!(missing, Some("There is no such file."));
        assert!(unknown.unwrap().contains("mobilenet-v9"), "{unknown:?}");
        assert_eq!((why[1], why[3]), (missing, unknown));
        assert!(rows[..4].iter().all(|row| row.plan.is_none() && row.parameters.is_none()));
    }

    #[test]
    fn a_model_is_open_as_long_as_rows_of_it_are_planned() {
        let times = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&times);
        let opened = move || {
            counted.fetch_add(1, Ordering::Relaxed);
            Ok(vww())
        };
        let sweep = Dimensions {
            models: vec![
                SweepModel::given("mine.onnx".to_owned(), opened),
                SweepModel::zoo("mcunet-in0"),
            ],
            ..sweep(&[], &["stm32f746g-disco", "stm32f469i-disco"], &[Strategy::Resident])
        };
        let sweep = Sweep::new(sweep).unwrap();
        let planned = |row, held: &mut HeldModel| sweep.plan(row, held, &Stop::default()).unwrap();
        let [mut one, mut other] = [HeldModel::default(), HeldModel::default()];
        // Two threads share it, the first goes on to another model, the second still has it.
        assert!(planned(0, &mut one).is_some() && planned(1, &mut other).is_some());
        assert!(planned(2, &mut one).is_some() && planned(1, &mut other).is_some());
        assert_eq!(times.load(Ordering::Relaxed), 1);
        // Nobody has it any more.
        assert!(planned(3, &mut other).is_some() && planned(0, &mut one).is_some());
        assert_eq!(times.load(Ordering::Relaxed), 2);
        assert!(planned(4, &mut one).is_none());
    }

    #[test]
    fn a_network_without_a_plan_is_a_row_that_says_why() {
        // This board has no memory outside of the chip.
        let sweep = sweep(&["mcunet-in0"], &["paper-sparse-f767"], &[Strategy::Overlay]);
        let rows = rows(&Sweep::new(sweep).unwrap());
        let [row] = &rows[..] else { panic!("{rows:?}") };
        assert!(row.problem.is_some() && row.not_opened().is_none(), "{row:?}");
        assert!(row.latency_us().is_none(), "{row:?}");
    }

    #[test]
    fn nobody_waiting_ends_it_whether_models_open_or_not() {
        for models in [
            SweepModel::zoo("mcunet-in0"),
            SweepModel::given("slow.onnx".to_owned(), || Err("It was cancelled.".to_owned())),
        ] {
            let models = vec![models];
            let sweep =
                Dimensions { models, ..sweep(&[], &["stm32f746g-disco"], &[Strategy::Auto]) };
            let all = Sweep::new(sweep).unwrap().all(&Stop::when(|_| true));
            assert!(matches!(all, Err(ExploreError::Stopped)));
        }
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
