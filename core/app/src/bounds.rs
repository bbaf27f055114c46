//! What interpreting a model on this computer may cost. The emulator runs in processes that can be
//! killed; the interpreters run in this one and must be asked.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tilewright_model::Model;

use crate::host::Host;
use tilewright_report::{Blame, Diagnostic};

/// Bounds of quantising; nothing stands for no bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    /// Multiply-accumulates of all samples together.
    pub macs: Option<u64>,
    /// Values held at a time: the weights that each layer reads, and each layer's output.
    pub values: Option<u64>,
    /// Time.
    pub wall: Option<Duration>,
}

impl Bounds {
    /// Refuses a model that is beyond the bounds before any time is spent on it.
    ///
    /// # Errors
    /// [`Blame::TooLarge`] with both numbers.
    pub(super) fn admit(&self, model: &Model, samples: usize) -> Result<(), Diagnostic> {
        let once = model.nodes.iter().map(|node| model.macs(node)).fold(0, u64::saturating_add);
        let macs = once.saturating_mul(samples as u64);
        if let Some(limit) = self.macs.filter(|limit| macs > *limit) {
            let fewer = limit.checked_div(once).unwrap_or(0);
            let what_to_do = if fewer > 0 {
                format!("Give at most {fewer} samples, or quantise it on the command line.")
            } else {
                "Plan this model on the command line: `tilewright plan`.".to_owned()
            };
            let error = format!(
                "Quantising on {samples} samples takes {macs} MACs ({once} for each), more than \
                 the {limit} that are spent here."
            );
            return Err(Diagnostic::new(Blame::TooLarge, error, model.name.clone(), what_to_do));
        }
        let values = values(model);
        if let Some(limit) = self.values.filter(|limit| values > *limit) {
            let error = format!(
                "Quantising holds {values} values, the weights and outputs of all layers, more \
                 than the {limit} that are held here."
            );
            let what_to_do = "Plan this model on the command line: `tilewright plan`.";
            return Err(Diagnostic::new(Blame::TooLarge, error, model.name.clone(), what_to_do));
        }
        Ok(())
    }
}

/// Elements of what the nodes read as constants and of what they make, each node for itself.
fn values(model: &Model) -> u64 {
    let read = model.nodes.iter().flat_map(|node| &node.inputs);
    let constants = read.filter(|id| model.tensor(**id).is_constant());
    let made = model.nodes.iter().flat_map(|node| &node.outputs);
    let sizes = constants.chain(made).map(|id| model.tensor(*id).shape.elements());
    sizes.map(|size| size.map_or(u64::MAX, |size| size as u64)).fold(0, u64::saturating_add)
}

/// When an interpreter is to stop: someone asked, or its time is over.
pub(super) struct Until<'h> {
    host: &'h dyn Host,
    wall: Option<Duration>,
    started: Duration,
}

impl<'h> Until<'h> {
    /// Time runs from now on.
    pub(super) fn new(host: &'h dyn Host, wall: Option<Duration>) -> Self {
        Self { host, wall, started: host.clock() }
    }

    /// Whether to stop.
    pub(super) fn is_over(&self) -> bool {
        let elapsed = || self.host.clock().saturating_sub(self.started);
        self.host.cancel().is_cancelled() || self.wall.is_some_and(|wall| elapsed() > wall)
    }

    /// Why it stopped; `what` took its time, "Quantising".
    pub(super) fn problem(&self, what: &str, what_to_do: &str) -> Diagnostic {
        if let Err(problem) = self.host.cancel().check() {
            return problem;
        }
        let seconds = self.wall.unwrap_or_default().as_secs_f64();
        let error = format!("{what} took longer than the {seconds} s that it may.");
        Diagnostic::new(Blame::TooLarge, error, "reference interpreter", what_to_do)
    }
}
