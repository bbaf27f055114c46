//! Campaigns: networks that nobody tuned for, under every strategy and many options. Each plan that is proved
//! runs, and each run gives what the reference interpreter gives, or the campaign says which did not.

mod case;
mod opened;
mod ran;
mod repeat;
mod shrink;

use std::time::Instant;

use fastrand::Rng;
use tilewright_app::Cancel;
use tilewright_model::Model;
use tilewright_planner::{Objective, Strategy};

pub use case::{Case, Input, Kernels};
pub use opened::{Opened, open};
pub use ran::{Engine, Lab, Verdict, Way};
pub use repeat::Failure;
pub use shrink::shrunk;

/// How much a campaign does.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Cases that are drawn for each network, behind every strategy on every board as it is by default.
    pub drawn: usize,
    /// Multiply-accumulates of the largest network that runs in the emulator; larger ones run on the host, by the
    /// firmware's runtime with portable kernels.
    pub emulated_macs: u64,
}

/// What came of one case.
#[derive(Debug)]
pub struct Outcome {
    pub case: Case,
    /// Where it ran.
    pub engine: Engine,
    /// What came of it.
    pub verdict: Verdict,
}

/// The cases of a network: each strategy on each board, `auto` for the least memory too, then drawn ones. The same network has the same ones.
#[must_use]
pub fn cases(model: &Model, seed: u64, drawn: usize) -> Vec<Case> {
    let mut rng = Rng::with_seed(seed);
    let boards = super::emulated::boards();
    let mut cases = Vec::new();
    for board in &boards {
        cases.extend(Strategy::ALL.map(|strategy| Case::usual(&board.id, strategy)));
        let smallest = Case::usual(&board.id, Strategy::Auto);
        cases.push(Case { objective: Objective::Memory, ..smallest });
    }
    let macs = macs(model);
    for _ in 0..drawn {
        let board = &boards[rng.usize(..boards.len())];
        cases.push(Case::drawn(board, macs, &mut rng));
    }
    cases
}

/// Multiply-accumulates of one inference.
#[must_use]
pub fn macs(model: &Model) -> u64 {
    model.nodes.iter().map(|node| model.macs(node)).fold(0, u64::saturating_add)
}

/// Runs a network's cases one after the other, and tells each outcome with the seconds that it took.
pub fn run(
    lab: &Lab,
    model: &Model,
    seed: u64,
    effort: &Effort,
    tell: &mut dyn FnMut(Outcome, f64),
) {
    let macs = macs(model);
    for case in cases(model, seed, effort.drawn) {
        let engine = match macs.saturating_mul(case.frames.get().into()) {
            macs if macs <= effort.emulated_macs => Engine::Emulator,
            _ => Engine::Host,
        };
        let start = Instant::now();
        let verdict = lab.run(model, &case, engine, &Cancel::default());
        tell(Outcome { case, engine, verdict }, start.elapsed().as_secs_f64());
    }
}
