//! The pipeline in this process.

use std::io;
use std::sync::Arc;
use tilewright_app::{
    Blame, Cancel, Diagnostic, Done, Host, PlanFile, Prepared, Progress, RunOptions, SampleFile,
    Samples,
};
use tilewright_report::sentence;
use tilewright_runner::{Dist, Emulator, Execute, Native};

use tilewright_board::Board;
use tilewright_formats::ModelFile;
use tilewright_model::Store;
use tilewright_model::quantise::{QuantiseOptions, UnknownRule};
use tilewright_planner::{Options, Strategy};
use tilewright_protocol::Mode;

use super::{Errand, Left, Pipeline};
use crate::config::Config;
use crate::upload::Upload;

/// Walks in this process, which is then not safe from what is uploaded.
pub struct SameProcess(Arc<dyn Execute>);

impl SameProcess {
    /// Jobs are run by `executor`.
    #[must_use]
    pub fn new(executor: Arc<dyn Execute>) -> Self {
        Self(executor)
    }
}

impl Pipeline for SameProcess {
    fn run(
        &self,
        errand: Errand,
        progress: &mut dyn FnMut(Progress),
        cancel: &Cancel,
    ) -> Result<Left, Diagnostic> {
        let Errand { config, dist, board, upload } = errand;
        let read = |error: io::Error| Diagnostic::ours(format!("{error}."), "upload");
        let upload = upload.map(|part| part.whole()).map_err(read)?;
        let pipeline = Stages { config: &config, dist: &dist, executor: self.0.as_ref() };
        pipeline.run(&board, upload, progress, cancel)
    }
}

/// What the stages need.
pub(super) struct Stages<'w> {
    pub(super) config: &'w Config,
    pub(super) dist: &'w Dist,
    pub(super) executor: &'w dyn Execute,
}

impl Stages<'_> {
    /// Walks from `upload` to what is left of its run on a board.
    pub(super) fn run(
        &self,
        board: &str,
        upload: Upload<Vec<u8>>,
        progress: &mut dyn FnMut(Progress),
        cancel: &Cancel,
    ) -> Result<Left, Diagnostic> {
        let board = tilewright_board::find(board)
            .map_err(|error| Diagnostic::ours(sentence(&error.to_string()), "board"))?;
        let emulator =
            Emulator { dist: self.dist, executor: self.executor, limits: self.config.worker };
        let host = Native::new(progress, cancel).with(emulator);
        let done = if upload.image.is_some() {
            self.image(&board, upload, &host)
        } else {
            self.model(&board, upload, &host)
        };
        Left::of(&done?, self.config)
    }

    fn image(
        &self,
        board: &Board,
        upload: Upload<Vec<u8>>,
        host: &dyn Host,
    ) -> Result<Done, Diagnostic> {
        let file = PlanFile::read(&upload.image.unwrap_or_default(), board)?;
        let file = file.with_brought_stores(upload.external_flash, upload.card)?;
        let payload = file.payload("input", &upload.input.unwrap_or_default())?;
        let limits: Vec<u32> = upload.limit_us.into_iter().collect();
        let options = RunOptions { limits: &limits, ..self.run_options(upload.mode) };
        tilewright_app::run_image(&options, board, &file, &payload, upload.layers, host)
    }

    fn model(
        &self,
        board: &Board,
        mut upload: Upload<Vec<u8>>,
        host: &dyn Host,
    ) -> Result<Done, Diagnostic> {
        let prepared = self.prepared(&mut upload, host)?;
        let inputs = match &upload.input {
            Some(input) => prepared.input("input", input)?,
            None => prepared.first.clone(),
        };
        let (model, strategy, options) = (&prepared.model, Strategy::Resident, Options::default());
        let planned = tilewright_app::checked_plan(model, board, strategy, &options, host)?;
        let run_options = self.run_options(upload.mode);
        let mut done =
            tilewright_app::run_plan(&run_options, board, model, &planned, &inputs, host)?;
        if !upload.layers {
            done.layers = None;
        }
        Ok(done)
    }

    fn prepared(
        &self,
        upload: &mut Upload<Vec<u8>>,
        host: &dyn Host,
    ) -> Result<Prepared, Diagnostic> {
        let bounds = &self.config.quantising;
        let mut options = QuantiseOptions::default();
        if let Some(rule) = &upload.calibration {
            let ours = |error: UnknownRule| Diagnostic::ours(format!("{error}."), "calibration");
            options.rule = rule.parse().map_err(ours)?;
        }
        let given = upload.samples.as_deref();
        let given = given.map(|bytes| Samples::Files(vec![SampleFile { name: "samples", bytes }]));
        let (mut model, given) =
            match upload.zoo.as_deref().map(tilewright_app::zoo::network).transpose()? {
                Some(network) => match given {
                    None => return tilewright_app::zoo::analytic(&network, bounds, host),
                    Some(given) => (network.float().clone(), given),
                },
                None => {
                    let bytes = upload.model.take().unwrap_or_default();
                    let data = std::mem::take(&mut upload.data);
                    let name = upload.model_name.as_deref().unwrap_or("model.onnx");
                    let model = imported(name, bytes, data, &upload.dims, host)?;
                    if model.is_int8() && upload.calibration.is_some() {
                        return Err(int8_already(&model.name));
                    }
                    let needs_none = model.is_int8() || model.opaque_in_words().is_some();
                    let given = given.or_else(|| needs_none.then_some(Samples::Random));
                    (model, given.ok_or_else(no_samples)?)
                }
            };
        if let Some(range) = &upload.pixels {
            tilewright_app::take_pixels(&mut model, range)?;
        }
        tilewright_app::prepare(model, given, &options, bounds, host)
    }

    fn run_options(&self, mode: Mode) -> RunOptions<'_> {
        RunOptions {
            comparing: Some(self.config.worker.wall),
            instructions: self.config.instructions,
            console_bytes: self.config.console_bytes,
            mode,
            ..RunOptions::default()
        }
    }
}

fn imported(
    name: &str,
    bytes: Vec<u8>,
    data: Vec<(String, Vec<u8>)>,
    dims: &[(String, usize)],
    host: &dyn Host,
) -> Result<tilewright_model::Model, Diagnostic> {
    let data: Vec<(String, Arc<dyn Store>)> =
        data.into_iter().map(|(name, bytes)| (name, Arc::new(bytes) as Arc<dyn Store>)).collect();
    let beside = |path: &str| Ok(named(&data, path));
    let file = ModelFile { name, bytes: Arc::new(bytes), beside: &beside };
    tilewright_app::import(&file, dims, host)
}

/// The file of this path from the model's folder; an upload's parts have no folders.
fn named(data: &[(String, Arc<dyn Store>)], path: &str) -> Option<Arc<dyn Store>> {
    let last = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let file = data.iter().find(|(name, _)| last(name) == last(path));
    file.map(|(_, bytes)| Arc::clone(bytes))
}

fn int8_already(name: &str) -> Diagnostic {
    Diagnostic::new(
        Blame::BadInput,
        "The model is int8 already: nothing is calibrated.",
        name,
        "Leave the part `calibration` out, or upload the float model with `samples`.",
    )
}

fn no_samples() -> Diagnostic {
    Diagnostic::new(
        Blame::BadInput,
        "A float model is quantised on samples of its input, but none came.",
        "samples",
        "Add the part `samples`: a .npy file of some dozen inputs. Or plan the model in the page, \
         and upload the plan image.",
    )
}
