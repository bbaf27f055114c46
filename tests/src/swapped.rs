//! Runs that swap to a card, or stream from it, on the boards whose firmware drives one.

use tilewright_board::Board;
use tilewright_model::{Model, int8};
use tilewright_plan::{Instruction, LaneKind, Plan, Space, Step};
use tilewright_planner::{Integrity, Options, Strategy};
use tilewright_protocol::{CardFault, CardProblem, Job, RunOutcome};

use crate::random_model::random_inputs;
use crate::{emulated, host};

/// A plan of a model that swaps, ready to run.
#[derive(Clone)]
pub struct Swapped {
    pub plan: Plan,
    /// The job that runs it.
    pub job: Job,
    /// What the console must say of its outputs.
    pub expected: Vec<String>,
}

impl Swapped {
    /// A plan of `model`, which swaps, on inputs that follow from `seed`.
    ///
    /// # Errors
    /// What went wrong on the way.
    pub fn new(
        board: &Board,
        model: &Model,
        seed: u64,
        integrity: Integrity,
    ) -> Result<Self, String> {
        Self::by(Strategy::Swap, board, model, seed, integrity)
    }

    /// The same by another strategy.
    ///
    /// # Errors
    /// What went wrong on the way.
    pub fn by(
        strategy: Strategy,
        board: &Board,
        model: &Model,
        seed: u64,
        integrity: Integrity,
    ) -> Result<Self, String> {
        let options = Options { integrity, ..Options::default() };
        Self::with(strategy, board, model, seed, &options)
    }

    /// The same with these options.
    ///
    /// # Errors
    /// What went wrong on the way.
    pub fn with(
        strategy: Strategy,
        board: &Board,
        model: &Model,
        seed: u64,
        options: &Options,
    ) -> Result<Self, String> {
        let inputs = random_inputs(model, seed);
        let (plan, job) = emulated::job_with(model, board, strategy, &inputs, options)?;
        let outputs = int8::run(model, &inputs, &mut |_, _| {}).map_err(|e| e.to_string())?;
        let line = |(index, output)| {
            let digits: String =
                host::bytes(output).iter().map(|byte| format!("{byte:02x}")).collect();
            format!("output {index} {digits}")
        };
        Ok(Self { plan, job, expected: outputs.iter().enumerate().map(line).collect() })
    }

    /// Runs it with something going wrong.
    ///
    /// # Errors
    /// What kept it from an outcome.
    pub fn run_with(&self, transfer: u64, problem: CardProblem) -> Result<RunOutcome, String> {
        let mut job = self.job.clone();
        let card = job.card.as_mut().ok_or("it uses no card")?;
        card.faults = vec![CardFault { transfer, every: 0, problem }];
        emulated::run_job(job)
    }

    /// What the card's lane does.
    fn transfers(&self) -> &[Step] {
        self.plan.main.as_ref().map_or(&[], |program| &program.lanes[1].steps)
    }

    /// Of each transfer since reset whether it reads, if none is tried again: the first is that of the
    /// store's header.
    #[must_use]
    pub fn reads(&self) -> Vec<bool> {
        let reads = |step: &Step| match step.instruction {
            Instruction::Copy { source, .. } => {
                self.plan.spans[source as usize].space() == Some(Space::Card)
            }
            _ => false,
        };
        let steps = self.transfers().iter().map(reads);
        std::iter::once(true).chain(steps).collect()
    }

    /// What came of a bit that turned over on the card with a transfer: of what the program wrote the right
    /// outputs, behind what was computed for nothing; of the image what is wrong with it.
    ///
    /// # Panics
    /// If it was neither.
    pub fn is_mended_or_told(&self, outcome: &RunOutcome, what: &str) {
        let said = console(outcome);
        match &outcome.finish.fault {
            None => {
                assert!(self.is_said(outcome), "{what}: {said}");
                let lost = outcome.given_up.as_slice();
                assert!(lost.len() == 1 && lost[0] > 0, "{what}: {lost:?}, {said}");
                assert!(said.contains("again ") && said.contains("at sector"), "{what}: {said}");
                let copies = self.transfers().len();
                assert_eq!(outcome.copies.len(), copies, "{what}: copies of one run");
            }
            Some(fault) => {
                let told = &fault.message;
                assert!(told.contains("for layer") && told.contains("its image holds"), "{told}");
                assert!(!self.is_said(outcome) && outcome.given_up.is_empty(), "{told}");
            }
        }
    }

    /// Whether the console gave the right outputs.
    #[must_use]
    pub fn is_said(&self, outcome: &RunOutcome) -> bool {
        says_all(outcome, &self.expected)
    }
}

/// Boards whose firmware drives a card.
#[must_use]
pub fn boards() -> Vec<Board> {
    let mut boards = emulated::boards();
    boards.retain(|board| board.drives(LaneKind::Card));
    assert!(boards.len() >= 2);
    boards
}

/// What the console said.
#[must_use]
pub fn console(outcome: &RunOutcome) -> String {
    String::from_utf8_lossy(&outcome.console).into_owned()
}

/// Whether it said all of these lines.
#[must_use]
pub fn says_all(outcome: &RunOutcome, expected: &[String]) -> bool {
    let console = console(outcome);
    expected.iter().all(|line| console.lines().any(|said| said.trim_end() == line))
}
