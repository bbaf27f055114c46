//! Strategies in plain words.

use super::compare::{Column, ColumnPlan};
use super::figures;
use crate::message::PlanFacts;

/// A strategy, for somebody who has never heard of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About {
    pub name: &'static str,
    /// How it makes a model fit: goes on after "fits the board".
    pub by: &'static str,
    /// What it does.
    pub sentence: &'static str,
}

/// All that are known.
const ALL: [About; 9] = [
    About {
        name: "resident",
        by: "with all tensors in SRAM",
        sentence: "Activations stay in SRAM in the model's own order; the core reads weights in flash.",
    },
    About {
        name: "reordered",
        by: "with operators in another order",
        sentence: "Operators run in the order that needs least SRAM, and write over inputs that nobody needs.",
    },
    About {
        name: "ping-pong",
        by: "with two buffers by turns",
        sentence: "A chain of layers writes to one buffer and reads from the other; pools join their convolution.",
    },
    About {
        name: "external",
        by: "with tensors in external RAM",
        sentence: "Tensors lie in external RAM, weights in external flash; the core waits for each access.",
    },
    About {
        name: "overlay",
        by: "with tiles that DMA brings ahead of the core",
        sentence: "Tensors lie in external RAM; DMA brings the next tile to SRAM while the core computes this one.",
    },
    About {
        name: "swap",
        by: "with tiles swapped with the card",
        sentence: "Weights and activations lie on an SD card; tiles come to SRAM, are computed and go back.",
    },
    About {
        name: "stream",
        by: "with weights read ahead from the card",
        sentence: "Activations stay in SRAM, groups of layers run row by row; weights come from the card in time.",
    },
    About {
        name: "sparse-tiled",
        by: "in tiles, with weights without their zeros",
        sentence: "The layers at the memory peak are computed in tiles; weights are stored without their zeros.",
    },
    About {
        name: "auto",
        by: "with what the search found",
        sentence: "Looks through all of these and takes the fastest plan that fits, or the one of least memory.",
    },
];

/// What is to be said of a strategy.
#[must_use]
pub fn about(name: &str) -> Option<&'static About> {
    ALL.iter().find(|about| about.name == name)
}

/// How a plan makes the model fit; empty if there is nothing to say.
#[must_use]
pub fn by(plan: &PlanFacts) -> String {
    match plan.report.alternatives.first() {
        Some(chosen) => format!("with {}", chosen.words()),
        None => about(&plan.report.strategy).map_or_else(String::new, |about| about.by.to_owned()),
    }
}

/// What a strategy gives for the open model on this board, in a line; and whether it fits and runs.
#[must_use]
pub fn outcome(column: &Column) -> (String, bool) {
    match &column.plan {
        ColumnPlan::Pending | ColumnPlan::Old(_) => ("is still to be planned".to_owned(), false),
        ColumnPlan::None(why) => {
            (format!("not for this model: {} {}", why.place, why.what_to_do), false)
        }
        ColumnPlan::Planned(plan) => {
            let report = &plan.report;
            let sram = figures::binary(report.peak_sram_bytes.0);
            match (report.fits, report.no_program(), report.latency_us) {
                (false, ..) => (why_not(plan), false),
                (true, Some(_), _) => (format!("cannot run; would need {sram} of SRAM"), false),
                (true, None, Some(latency)) => {
                    (format!("{} a frame, {sram} of SRAM", figures::duration(latency.0)), true)
                }
                (true, None, None) => (format!("fits in {sram} of SRAM"), true),
            }
        }
    }
}

fn why_not(plan: &PlanFacts) -> String {
    plan.report.does_not_fit.as_ref().map_or_else(
        || "does not fit".to_owned(),
        |why| {
            let missing = (*why.needed_bytes - *why.available_bytes).0;
            format!("does not fit: {} of {} missing", figures::binary(missing), why.memory)
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_strategy_of_the_planner_is_explained() {
        for strategy in tilewright_planner::Strategy::ALL {
            assert!(about(strategy.name()).is_some(), "{}", strategy.name());
        }
        assert!(ALL.iter().all(|about| about.sentence.len() <= 110));
    }
}
