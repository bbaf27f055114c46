//! From an upload to a result: open, plan, prove, package, run, compare, in a process of its own whose memory and time are limited,
//! so that nothing that a client sends can end the server or fill its memory.

mod child;
mod same_process;
mod separate_process;

use serde::{Deserialize, Serialize};
use tilewright_app::{Blame, Cancel, Diagnostic, Done, Progress, RunResult, encoded_layers};
use tilewright_protocol::bytes;
use tilewright_runner::Dist;

use crate::config::Config;
use crate::runs::fault_problem;
use crate::upload::{Part, Upload};

pub use child::run_for_server;
pub use same_process::SameProcess;
pub use separate_process::{SeparateProcess, this_program};

/// What is to be seen.
#[derive(Debug)]
pub struct Errand {
    /// Limits.
    pub config: Config,
    /// Where built things lie.
    pub dist: Dist,
    /// Board id.
    pub board: String,
    pub upload: Upload<Part>,
}

/// From an upload to a result; blocks.
pub trait Pipeline: Send + Sync + 'static {
    /// Runs an upload, and leaves no process behind.
    ///
    /// # Errors
    /// Why there is no result; [`Diagnostic::cancelled`] soon after `cancel` was asked. A fault of the
    /// emulated board is a result.
    fn run(
        &self,
        errand: Errand,
        progress: &mut dyn FnMut(Progress),
        cancel: &Cancel,
    ) -> Result<Left, Diagnostic>;
}

/// What a run leaves: texts and bytes as clients get them, so that whoever keeps them need not
/// know what is in them.
#[derive(Debug, Serialize, Deserialize)]
pub struct Left {
    /// What emulated: name and version.
    pub engine: String,
    /// Data of the event that tells the end.
    pub summary: String,
    /// What the board's fault means, if it had one.
    pub fault: Option<Diagnostic>,
    /// The result as JSON.
    #[serde(with = "bytes")]
    pub result: Vec<u8>,
    /// The outputs of all layers, if asked for.
    pub layers: Option<LayerFile>,
    /// The plan image that ran.
    #[serde(with = "bytes")]
    pub plan: Vec<u8>,
}

/// The outputs of all layers, as they are downloaded.
#[derive(Debug, Serialize, Deserialize)]
pub struct LayerFile(#[serde(with = "bytes")] pub Vec<u8>);

impl Left {
    /// What is left of a run, if it is no more than a server keeps.
    fn of(done: &Done, config: &Config) -> Result<Self, Diagnostic> {
        let ours = |error: serde_json::Error| Diagnostic::ours(format!("{error}."), "result");
        let result = serde_json::to_vec(&done.result).map_err(ours)?;
        within("The result takes", result.len(), config)?;
        let layers = done.layers.as_ref().map(|layers| LayerFile(encoded_layers(layers)));
        let layer_bytes = layers.as_ref().map_or(0, |file| file.0.len());
        within("The outputs of all layers take", layer_bytes, config)?;
        Ok(Self {
            engine: done.result.engine.clone(),
            summary: summary(&done.result),
            fault: done.result.fault.as_ref().map(fault_problem),
            result,
            layers,
            plan: done.package.plan().to_vec(),
        })
    }
}

fn within(what: &str, bytes: usize, config: &Config) -> Result<(), Diagnostic> {
    if bytes <= config.result_bytes {
        return Ok(());
    }
    Err(Diagnostic::new(
        Blame::TooLarge,
        format!(
            "{what} {bytes} bytes, more than the {} that are kept of a run.",
            config.result_bytes
        ),
        "result",
        "Run without `watch=layers`, or on the command line, which has no such limit.",
    ))
}

fn summary(result: &RunResult) -> String {
    serde_json::json!({
        "verified": result.verified,
        "instructions": result.instructions,
        "cycles": result.cycles,
        "latency_us": result.latency_us,
        "top1": result.top1,
        "top1_label": result.top1_label,
    })
    .to_string()
}
