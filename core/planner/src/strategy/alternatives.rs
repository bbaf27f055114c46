//! What `auto` compared: of each technique the best plan, so that the chosen one can be seen beside the others.

use super::merit::{Judged, Merit};
use crate::recipe::{Made, Recipe};
use crate::{Objective, Options, Planned};
use tilewright_board::Board;
use tilewright_report::Alternative;

/// Of each technique the best.
pub struct Alternatives {
    objective: Objective,
    all: Vec<Alternative>,
}

impl Alternatives {
    /// Begins with a plan by some technique, and what was compared with it.
    pub fn of(planned: &Planned, technique: &str, board: &Board, options: &Options) -> Self {
        let Planned { report, recipe, .. } = planned;
        let mut all = Self { objective: options.objective, all: report.alternatives.clone() };
        if all.all.is_empty() && report.latency_us.is_some() {
            all.note(technique, recipe, &Judged::told(planned, board, options).merit);
        }
        all
    }

    /// A plan by some technique.
    pub fn note(&mut self, technique: &str, recipe: &Recipe, merit: &Merit) {
        let new = Alternative {
            technique: technique.to_owned(),
            weights_in_sram: !recipe.weights_in_sram.is_empty(),
            sram_bytes: merit.arena.into(),
            latency_us: merit.latency.into(),
            energy_uj: merit.energy_uj.map(Into::into),
            card_written_bytes: merit.card_written_bytes.map(Into::into),
            fits: merit.fits,
        };
        let is_same = |known: &&mut Alternative| {
            (&known.technique, known.weights_in_sram) == (&new.technique, new.weights_in_sram)
        };
        match self.all.iter_mut().find(is_same) {
            Some(known) if merit.is_better(&(&*known).into(), self.objective) => *known = new,
            Some(_) => {}
            None => self.all.push(new),
        }
    }

    /// All of them, the chosen one first; of equal ones the first that was noted.
    pub fn told(self, technique: &str, chosen: &Made) -> Vec<Alternative> {
        let Self { objective, mut all } = self;
        let weights_in_sram = !chosen.recipe.weights_in_sram.is_empty();
        let is_chosen = |one: &Alternative| {
            one.technique == technique && one.weights_in_sram == weights_in_sram
        };
        let order = |a: &Alternative, b: &Alternative| {
            let merit = Merit::from(a).compared(&b.into(), objective);
            is_chosen(b).cmp(&is_chosen(a)).then(merit)
        };
        all.sort_by(order);
        all.dedup_by(|later, earlier| Merit::from(&*later) == Merit::from(&*earlier));
        all
    }
}
