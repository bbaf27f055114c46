//! From a model and options to a proved plan: the package's words for what the application does.

use std::sync::Arc;

use js_sys::{ArrayBuffer, Uint8Array};
use tilewright_app::{
    Asked, Bounds, Diagnostic, PlanFile, PlanView, Prepared, Resolved, SampleFile, Samples, Silent,
    Use, checked_plan, checks, find_remedies, import, plan_file, prepare, zoo,
};
use tilewright_formats::ModelFile;
use tilewright_model::{Model, Store};
use tilewright_plan::Micros;
use tilewright_planner::Planned;
use tilewright_report::Blame;
use wasm_bindgen::{JsCast, JsValue};

use crate::objects::object;
use crate::options::{FileOptions, Wishes};

/// A model, a board and choices, ready to be planned.
pub struct Ready {
    asked: Resolved,
    prepared: Prepared,
    network: Option<zoo::Network>,
    period: Option<Micros>,
}

/// The model of a file or of the zoo, float or int8.
///
/// # Errors
/// What is wrong with it.
pub fn model(source: &JsValue, options: &FileOptions) -> Result<Model, Diagnostic> {
    if let Some(name) = source.as_string() {
        return zoo::network(&name).map(|network| network.float().clone());
    }
    if !source.is_instance_of::<Uint8Array>() && !source.is_instance_of::<ArrayBuffer>() {
        return Err(Diagnostic::new(
            Blame::BadInput,
            "The model is neither bytes nor a name of the zoo.",
            "model",
            "Give a Uint8Array, an ArrayBuffer or \"zoo:NAME\".",
        ));
    }
    let data = |path: &str| {
        let name = last(path);
        let found = options.data.iter().find(|(known, _)| last(known) == name);
        Ok(found.map(|(_, bytes)| Arc::new(bytes.to_vec()) as Arc<dyn Store>))
    };
    let bytes = Arc::new(Uint8Array::new(source).to_vec());
    let file = ModelFile { name: &options.name, bytes, beside: &data };
    let dims: Vec<_> = options.dims.iter().map(|(dim, size)| (dim.clone(), *size)).collect();
    import(&file, &dims, &Silent::default())
}

/// A path's last name.
fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

impl Ready {
    /// Opens and quantises the model. A float file is quantised on the samples that were given, else on
    /// random ones; a network of the zoo without samples has analytic scales.
    ///
    /// # Errors
    /// What is wrong with the model, the samples or the board.
    pub fn of(source: &JsValue, wishes: Wishes) -> Result<Self, Diagnostic> {
        let asked = wishes.resolved()?;
        let options = wishes.file;
        let host = &Silent::default();
        let bounds = Bounds::default();
        let name = source.as_string().filter(|_| options.samples.is_none());
        let network = name.map(|name| zoo::network(&name)).transpose()?;
        let prepared = match &network {
            Some(network) => zoo::analytic(network, &bounds, host)?,
            None => {
                let model = model(source, &options)?;
                let samples = match &options.samples {
                    Some(bytes) => {
                        Samples::Files(vec![SampleFile { name: "options.samples", bytes }])
                    }
                    None => Samples::Random,
                };
                prepare(model, samples, &options.quantising()?, &bounds, host)?
            }
        };
        Ok(Self { asked, prepared, network, period: options.period()? })
    }

    /// The plan, proved if it fits.
    ///
    /// # Errors
    /// If there is none whatever the memory.
    pub fn planned(&self) -> Result<Planned, Diagnostic> {
        let Resolved { board, strategy, options } = &self.asked;
        let host = &Silent::default();
        let planned = checked_plan(&self.prepared.model, board, *strategy, options, host)?;
        if options.integrity.keeps() {
            checks(&planned, board)?;
        }
        Ok(planned)
    }

    /// The plan's report, with what would help if it does not fit.
    ///
    /// # Errors
    /// As [`Self::planned`].
    pub fn report(&self) -> Result<JsValue, Diagnostic> {
        let Self { asked: Resolved { board, options, .. }, prepared, network, period } = self;
        let mut planned = self.planned()?;
        let asked = Asked { model: &prepared.model, network: network.as_ref(), board, options };
        find_remedies(&asked, &mut [&mut planned], &Silent::default())?;
        let used = Use::new(board, options, *period);
        object(&PlanView::of(&planned, prepared, &used.of_plan(&planned)))
    }

    /// The plan image with its stores.
    ///
    /// # Errors
    /// As [`Self::planned`]; if the plan does not fit or cannot run on its board.
    pub fn image(&self) -> Result<PlanFile, Diagnostic> {
        let Resolved { board, options, .. } = &self.asked;
        let (planned, host) = (self.planned()?, Silent::default());
        plan_file(&planned, &self.prepared.model, board, options.integrity, &host)
    }
}
