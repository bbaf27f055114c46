//! A web worker as the application's host: it says what it does, and runs nothing.

use tilewright_app::{Cancel, Diagnostic, Host, Progress, Stage};

use crate::view_model::figures;

/// A worker, for one request; whoever wants an end to it ends the worker.
pub struct WorkerHost<'s> {
    say: &'s dyn Fn(&str),
    cancel: Cancel,
}

impl<'s> WorkerHost<'s> {
    /// `say` takes what is done, in words.
    pub fn new(say: &'s dyn Fn(&str)) -> Self {
        Self { say, cancel: Cancel::default() }
    }
}

impl Host for WorkerHost<'_> {
    fn tell(&self, news: Progress) {
        if let Some(words) = words(&news) {
            (self.say)(&words);
        }
    }

    fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    fn fill_random(&self, bytes: &mut [u8]) -> Result<(), Diagnostic> {
        getrandom::fill(bytes)
            .map_err(|error| Diagnostic::ours(format!("No random numbers: {error}."), "key"))
    }
}

/// What news says to a person; nothing of what is told elsewhere.
pub fn words(news: &Progress) -> Option<String> {
    Some(match news {
        Progress::Stage(stage) => match stage {
            Stage::Importing => "Reading the model",
            Stage::Quantising => "Quantising",
            Stage::Planning => "Planning",
            Stage::Checking => "Checking the plan",
            Stage::Packaging => "Putting the image together",
            Stage::Running => "Running",
            Stage::Comparing => "Comparing with the reference",
        }
        .to_owned(),
        Progress::Sample { seen, of } => format!("Quantising: sample {} of {of}", seen + 1),
        Progress::Layer { seen, of } => {
            format!("Quantising layers alone: {} %", seen * 100 / of.max(&1))
        }
        Progress::Compared { seen, of } => {
            format!("Comparing: sample {} of {of}", (seen + 1).min(*of))
        }
        Progress::Planning { arena, bound, ways } => {
            let bound = figures::binary(bound.0);
            match (ways, arena) {
                (Some([tried, all]), _) => format!("Planning: beyond SRAM, {tried} of {all} ways"),
                (None, Some(arena)) => {
                    format!("Planning: {}, none below {bound}", figures::binary(arena.0))
                }
                (None, None) => format!("Planning: none below {bound}"),
            }
        }
        Progress::Running { .. } | Progress::Console(_) | Progress::Step(_) => return None,
    })
}
