//! What `auto` compared: of each technique the best plan, so that the chosen one can be seen beside the others.

use crate::recipe::Made;
use crate::{Objective, Options, Planned};
use tilewright_board::Board;
use tilewright_plan::{CyclePoint, Hertz, Micros, Space};
use tilewright_report::Alternative;

/// Of each technique the best.
pub struct Alternatives {
    objective: Objective,
    clock: Hertz,
    all: Vec<Alternative>,
}

impl Alternatives {
    /// Begins with a plan by some technique, and what was compared with it.
    pub fn of(planned: &Planned, technique: &str, board: &Board, objective: Objective) -> Self {
        let report = &planned.report;
        let clock = board.core.clock.hertz;
        let mut alternatives = Self { objective, clock, all: report.alternatives.clone() };
        if let (true, Some(latency)) = (alternatives.all.is_empty(), report.latency_us) {
            alternatives.keep(Alternative {
                technique: technique.to_owned(),
                weights_in_sram: !planned.recipe.weights_in_sram.is_empty(),
                sram_bytes: report.peak_sram_bytes,
                latency_us: (Micros(latency.0 / f64::from(report.frames.max(1)))).into(),
                fits: report.fits,
            });
        }
        alternatives
    }

    /// A plan by some technique whose frames, those of the options, end then.
    pub fn note(
        &mut self,
        technique: &str,
        made: &Made,
        (end, fits): (CyclePoint, bool),
        options: &Options,
    ) {
        let all = end.since(CyclePoint::default()).at(self.clock);
        self.keep(Alternative {
            technique: technique.to_owned(),
            weights_in_sram: !made.recipe.weights_in_sram.is_empty(),
            sram_bytes: made.plan.space(Space::Arena).into(),
            latency_us: (Micros(all.0 / f64::from(options.frames.get()))).into(),
            fits,
        });
    }

    fn keep(&mut self, new: Alternative) {
        let is_same = |known: &&mut Alternative| {
            (&known.technique, known.weights_in_sram) == (&new.technique, new.weights_in_sram)
        };
        match self.all.iter_mut().find(is_same) {
            Some(known) if is_better(&new, known, self.objective) => *known = new,
            Some(_) => {}
            None => self.all.push(new),
        }
    }

    /// All of them, the chosen one first; of equal ones the first that was noted.
    pub fn told(self, technique: &str, chosen: &Made) -> Vec<Alternative> {
        let Self { objective, mut all, .. } = self;
        let weights_in_sram = !chosen.recipe.weights_in_sram.is_empty();
        let is_chosen = |one: &Alternative| {
            one.technique == technique && one.weights_in_sram == weights_in_sram
        };
        let order = |a: &Alternative, b: &Alternative| {
            is_chosen(b).cmp(&is_chosen(a)).then_with(|| compared(a, b, objective))
        };
        all.sort_by(order);
        let figures = |one: &Alternative| (one.sram_bytes, one.latency_us, one.fits);
        all.dedup_by(|later, earlier| figures(later) == figures(earlier));
        all
    }
}

/// Which is better.
fn compared(a: &Alternative, b: &Alternative, objective: Objective) -> std::cmp::Ordering {
    let [fits, bytes] = [b.fits.cmp(&a.fits), a.sram_bytes.cmp(&b.sram_bytes)];
    let time = a.latency_us.0.total_cmp(&b.latency_us.0);
    match objective {
        Objective::Latency => fits.then(time).then(bytes),
        Objective::Memory => fits.then(bytes).then(time),
    }
}

fn is_better(a: &Alternative, b: &Alternative, objective: Objective) -> bool {
    compared(a, b, objective).is_lt()
}
