//! From a model and options to a proved plan: the package's words for what the application does.

use std::sync::Arc;

use tilewright_app::{
    Asked, Bounds, Diagnostic, PlanFile, PlanView, Prepared, SampleFile, Samples, Silent, Use,
    checked_plan, checks, find_remedies, import, plan_file, prepare, zoo,
};
use tilewright_board::Board;
use tilewright_formats::ModelFile;
use tilewright_model::{Model, Store};
use tilewright_planner::{Options, Planned};
use tilewright_report::{Blame, sentence};
use wasm_bindgen::JsValue;

use crate::objects::object;
use crate::options::{Value, Wishes};

/// A model, a board and choices, ready to be planned.
pub struct Ready {
    board: Board,
    prepared: Prepared,
    network: Option<zoo::Network>,
    choices: Options,
    wishes: Wishes,
}

/// The model of a file or of the zoo, float or int8.
///
/// # Errors
/// What is wrong with it.
pub fn model(source: &JsValue, wishes: &Wishes) -> Result<Model, Diagnostic> {
    match Value::of(source) {
        Value::Text(name) => zoo::network(&name).map(|network| network.float().clone()),
        Value::Bytes(bytes) => of_file(bytes, wishes),
        _ => Err(Diagnostic::new(
            Blame::BadInput,
            "The model is neither bytes nor a name of the zoo.",
            "model",
            "Give a Uint8Array, an ArrayBuffer or \"zoo:NAME\".",
        )),
    }
}

fn of_file(bytes: Vec<u8>, wishes: &Wishes) -> Result<Model, Diagnostic> {
    let data = |path: &str| {
        let name = last(path);
        let found = wishes.data.iter().find(|(known, _)| last(known) == name);
        Ok(found.map(|(_, bytes)| Arc::new(bytes.clone()) as Arc<dyn Store>))
    };
    let file = ModelFile { name: &wishes.name, bytes: Arc::new(bytes), beside: &data };
    import(&file, &wishes.dims, &Silent::default())
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
        let board = wishes.board()?;
        let choices = wishes.choices(&board)?;
        let host = &Silent::default();
        let bounds = Bounds::default();
        let name = source.as_string().filter(|_| wishes.samples.is_none());
        let network = name.map(|name| zoo::network(&name)).transpose()?;
        let prepared = match &network {
            Some(network) => zoo::analytic(network, &bounds, host)?,
            None => {
                let model = model(source, &wishes)?;
                let samples = match &wishes.samples {
                    Some(bytes) => {
                        Samples::Files(vec![SampleFile { name: "options.samples", bytes }])
                    }
                    None => Samples::Random,
                };
                prepare(model, samples, &wishes.quantising(), &bounds, host)?
            }
        };
        Ok(Self { board, prepared, network, choices, wishes })
    }

    /// The plan, proved if it fits.
    ///
    /// # Errors
    /// If there is none whatever the memory.
    pub fn planned(&self) -> Result<Planned, Diagnostic> {
        let Self { board, prepared, choices, wishes, .. } = self;
        let planned =
            checked_plan(&prepared.model, board, wishes.strategy, choices, &Silent::default())?;
        if choices.integrity.keeps() {
            checks(&planned, board)?;
        }
        Ok(planned)
    }

    /// The plan's report, with what would help if it does not fit.
    ///
    /// # Errors
    /// As [`Self::planned`].
    pub fn report(&self) -> Result<JsValue, Diagnostic> {
        let Self { board, prepared, network, choices, wishes } = self;
        let mut planned = self.planned()?;
        let asked =
            Asked { model: &prepared.model, network: network.as_ref(), board, options: choices };
        find_remedies(&asked, &mut [&mut planned], &Silent::default())?;
        let used = Use::new(board, choices, wishes.period).checked(choices.integrity);
        object(&PlanView::of(&planned, prepared, &used.of_plan(&planned)))
    }

    /// The plan image with its stores.
    ///
    /// # Errors
    /// As [`Self::planned`]; if the plan does not fit or cannot run on its board.
    pub fn image(&self) -> Result<PlanFile, Diagnostic> {
        let (planned, host) = (self.planned()?, Silent::default());
        plan_file(&planned, &self.prepared.model, &self.board, self.choices.integrity, &host)
    }
}

/// A problem of one option.
pub fn wrong(option: &str, what: &str, what_to_do: &str) -> Diagnostic {
    Diagnostic::new(Blame::BadInput, sentence(what), format!("options.{option}"), what_to_do)
}
