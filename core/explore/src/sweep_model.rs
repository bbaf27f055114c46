//! A model of a sweep, which is opened when its first row is due.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use tilewright_model::Model;
use tilewright_report::sentence;
use tilewright_zoo::ZooError;

/// A model of a sweep. Whoever plans rows of it at the same time shares it.
#[derive(Clone)]
pub struct SweepModel(Arc<Source>);

struct Source {
    /// The name that rows give it.
    name: String,
    is_of_zoo: bool,
    open: Box<dyn Fn() -> Opened + Send + Sync>,
    opened: Mutex<Weak<Opened>>,
}

/// The model, or why it cannot be opened.
pub(crate) type Opened = Result<OpenModel, String>;

/// An int8 model with what rows say of it.
pub(crate) struct OpenModel {
    pub int8: Model,
    pub macs: u64,
    pub parameters: u64,
}

/// Keeps the model open that rows are planned of at present.
#[derive(Default)]
pub struct HeldModel(Option<Arc<Opened>>);

impl SweepModel {
    /// A network of the zoo, by any of its names.
    #[must_use]
    pub fn zoo(name: &str) -> Self {
        let name = tilewright_zoo::canonical(name).unwrap_or_else(|_| name.to_owned());
        let network = name.clone();
        let built = move || -> Result<OpenModel, ZooError> {
            let found = tilewright_zoo::network(&network)?;
            let (macs, parameters) = (found.macs(), found.parameters_of_model());
            Ok(OpenModel { int8: found.int8()?, macs, parameters })
        };
        Self::new(name, true, move || built().map_err(|error| sentence(&error.to_string())))
    }

    /// The int8 model that `open` gives, or why it gives none; by the name that rows give it.
    #[must_use]
    pub fn given(
        name: String,
        open: impl Fn() -> Result<Model, String> + Send + Sync + 'static,
    ) -> Self {
        Self::new(name, false, move || {
            let int8 = open()?;
            let macs = int8.nodes.iter().map(|node| int8.macs(node)).sum();
            let parameters = int8.parameters();
            Ok(OpenModel { int8, macs, parameters })
        })
    }

    fn new(
        name: String,
        is_of_zoo: bool,
        open: impl Fn() -> Opened + Send + Sync + 'static,
    ) -> Self {
        let opened = Mutex::new(Weak::new());
        Self(Arc::new(Source { name, is_of_zoo, open: Box::new(open), opened }))
    }

    /// Whether its name says all of it.
    pub(crate) fn is_of_zoo(&self) -> bool {
        self.0.is_of_zoo
    }

    /// The name that rows give it.
    pub(crate) fn name(&self) -> &str {
        &self.0.name
    }

    /// The model, opened unless anybody holds it; `held` lets go of the one that it held, and holds this one.
    pub(crate) fn opened(&self, held: &mut HeldModel) -> Arc<Opened> {
        let mut opened = self.0.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let model = opened.upgrade().unwrap_or_else(|| {
            held.0 = None;
            let model = Arc::new((self.0.open)());
            *opened = Arc::downgrade(&model);
            model
        });
        held.0 = Some(Arc::clone(&model));
        model
    }
}
