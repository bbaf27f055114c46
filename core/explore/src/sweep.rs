//! Networks times boards times strategies times budgets: each combination is planned once, a step each.

use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_plan::Bytes;
use tilewright_planner::{Options, PlanError, Planned, Stop, Strategy, plan};
use tilewright_report::{SweepKey, SweepPlan, SweepRow};

use crate::{Experiment, ExploreError};

/// What is combined with what. Nothing stands in it twice.
#[derive(Clone, Debug)]
pub struct Sweep {
    networks: Vec<String>,
    boards: Vec<Board>,
    strategies: Vec<Strategy>,
    budgets: Vec<Option<Bytes>>,
}

impl Sweep {
    /// All combinations. What is given twice, a network by two names too, counts once.
    ///
    /// # Errors
    /// If the zoo does not have a network.
    pub fn new(
        networks: &[String],
        boards: &[Board],
        strategies: &[Strategy],
        budgets: &[Option<Bytes>],
    ) -> Result<Self, ExploreError> {
        let names: Vec<String> = networks
            .iter()
            .map(|name| tilewright_zoo::canonical(name))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            networks: once(&names, |name| name.clone()),
            boards: once(boards, |board| board.id.clone()),
            strategies: once(strategies, |strategy| *strategy),
            budgets: once(budgets, |budget| *budget),
        })
    }

    /// How many rows there are.
    fn len(&self) -> usize {
        self.networks.len() * self.boards.len() * self.strategies.len() * self.budgets.len()
    }

    /// The combination of a row: networks change last, so that each is built once.
    fn combination(&self, row: usize) -> Option<Combination<'_>> {
        let (row, budget) = part(row, &self.budgets)?;
        let (row, strategy) = part(row, &self.strategies)?;
        let (row, board) = part(row, &self.boards)?;
        let network = self.networks.get(row)?;
        Some(Combination { network, board, strategy: *strategy, budget: *budget })
    }
}

/// The item that `row` stands for, and what is left of it.
fn part<T>(row: usize, items: &[T]) -> Option<(usize, &T)> {
    Some((row.checked_div(items.len())?, items.get(row.checked_rem(items.len())?)?))
}

/// Items, without those whose key stands before.
fn once<T: Clone, K: PartialEq>(items: &[T], key: impl Fn(&T) -> K) -> Vec<T> {
    let mut found: Vec<(K, T)> = Vec::new();
    for item in items {
        let its = key(item);
        if found.iter().all(|(known, _)| *known != its) {
            found.push((its, item.clone()));
        }
    }
    found.into_iter().map(|(_, item)| item).collect()
}

struct Combination<'s> {
    network: &'s str,
    board: &'s Board,
    strategy: Strategy,
    budget: Option<Bytes>,
}

/// The network that rows are made of at present.
struct Built {
    network: String,
    int8: Model,
    macs: u64,
    parameters: u64,
}

/// A sweep under way.
pub struct Sweeping {
    sweep: Sweep,
    stop: Stop,
    built: Option<Built>,
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
        self.sweep.len()
    }

    fn done(&self) -> usize {
        self.rows.len()
    }

    fn last(&self) -> Option<String> {
        let SweepKey { network, board, strategy, .. } = &self.rows.last()?.key;
        Some(format!("{network}, {board}, {strategy}"))
    }

    fn advance(&mut self) -> Result<bool, ExploreError> {
        let Some(combination) = self.sweep.combination(self.rows.len()) else {
            return Ok(false);
        };
        let Combination { network, board, strategy, budget } = combination;
        if self.built.as_ref().is_none_or(|built| built.network != network) {
            let found = tilewright_zoo::network(network)?;
            let (macs, parameters) = (found.macs(), found.parameters_of_model());
            let int8 = found.int8()?;
            self.built = Some(Built { network: network.to_owned(), int8, macs, parameters });
        }
        let Some(built) = &self.built else { return Ok(false) };
        let options = Options { sram: budget, stop: self.stop.clone(), ..Options::default() };
        let key = SweepKey {
            network: network.to_owned(),
            board: board.id.clone(),
            strategy: strategy.name().to_owned(),
            sram_budget_bytes: budget.map(|bytes| bytes.0),
        };
        let (plan, problem) = match plan(&built.int8, board, strategy, &options) {
            Ok(planned) => figures(&planned),
            Err(PlanError::Stopped) => return Err(ExploreError::Stopped),
            Err(error) => (None, Some(error.to_string())),
        };
        let (macs, parameters) = (built.macs, built.parameters);
        self.rows.push(SweepRow { key, macs, parameters, plan, problem });
        Ok(true)
    }
}

/// A plan's figures, and why it cannot run.
fn figures(planned: &Planned) -> (Option<SweepPlan>, Option<String>) {
    let report = &planned.report;
    let problem = report.no_program().or_else(|| report.no_room()).map(|why| why.what);
    let plan = SweepPlan {
        fits: report.fits && problem.is_none(),
        latency_us: report.latency_us.map(|latency| latency.0),
        sram_bytes: report.peak_sram_bytes.0,
        flash_bytes: report.flash_bytes.0,
        external_bytes: report.external_bytes.0,
    };
    (Some(plan), problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boards(ids: &[&str]) -> Vec<Board> {
        ids.iter().map(|id| tilewright_board::find(id).unwrap()).collect()
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn each_combination_is_planned_once() {
        let sweep = Sweep::new(
            &names(&["mcunet-in0", "MCUNET-in0-r48", "vww"]),
            &boards(&["stm32f746g-disco", "stm32f469i-disco", "stm32f746g-disco"]),
            &[Strategy::Resident, Strategy::Resident],
            &[None, Some(Bytes(10_000))],
        );
        let mut sweeping = Sweeping::new(sweep.unwrap(), Stop::default());
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
    fn a_network_without_a_plan_is_a_row_that_says_why() {
        let networks = names(&["mcunet-in0"]);
        let board = boards(&["paper-sparse-f767"]);
        // This board has no memory outside of the chip.
        let sweep = Sweep::new(&networks, &board, &[Strategy::Overlay], &[None]).unwrap();
        let mut sweeping = Sweeping::new(sweep, Stop::default());
        assert!(sweeping.advance().unwrap() && !sweeping.advance().unwrap());
        let row = &sweeping.rows()[0];
        assert!(row.problem.is_some() && row.latency_us().is_none(), "{row:?}");
    }

    #[test]
    fn nobody_waiting_ends_it_between_rows() {
        let sweep = Sweep::new(
            &names(&["mcunet-in0", "vww"]),
            &boards(&["stm32f746g-disco"]),
            &[Strategy::Auto],
            &[None],
        );
        let mut sweeping = Sweeping::new(sweep.unwrap(), Stop::when(|_| true));
        assert!(matches!(sweeping.advance(), Err(ExploreError::Stopped)));
        assert_eq!(sweeping.done(), 0);
    }

    #[test]
    fn a_sweep_of_nothing_has_no_rows() {
        let sweep = Sweep::new(&[], &[], &[], &[]).unwrap();
        assert!(!Sweeping::new(sweep, Stop::default()).advance().unwrap());
    }
}
