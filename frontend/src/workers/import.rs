//! Importing, quantising, preparing inputs, packaging, judging runs: what the importer worker does.

use tilewright_app::{Silent, random_inputs, read_inputs};
use tilewright_model::{Data, Model, int8};
use tilewright_plan::Space;
use tilewright_report::sentence;

use super::host::WorkerHost;
use super::judge::judge;
use super::plan::{load, no_model, ours};
use super::reorder::reorder;
use super::sweep::Sweeper;
use super::{
    Outcome, cells, exits, graph, listen, open, package, papers, saved_files, tiles, what_fits,
};
use crate::message::{
    Calibrating, GraphFacts, ImportReply, ImportRequest, ModelSource, ReferenceFacts, TiledRegion,
    trouble,
};
use tilewright_report::Diagnostic;

/// A network of the zoo that is quickly quantised on samples.
const REHEARSED: &str = "lenet5";

/// The importer between requests.
#[derive(Default)]
pub struct Importer {
    /// The int8 model.
    model: Option<Model>,
    sweeper: Sweeper,
}

impl Importer {
    /// Answers a request; `say` takes what is done in between.
    ///
    /// # Errors
    /// What went wrong, where, and what to do.
    pub fn answer(
        &mut self,
        request: ImportRequest,
        buffers: Vec<Vec<u8>>,
        say: &dyn Fn(&str),
    ) -> Outcome<ImportReply> {
        let host = &WorkerHost::new(say);
        let buffer = |index: usize| buffers.get(index).map_or(&[][..], Vec::as_slice);
        match request {
            ImportRequest::Open(source, calibrating) => {
                let (model, facts) = open::open(&source, &calibrating, buffers, host)?;
                let bytes = postcard::to_stdvec(&model).map_err(|error| ours("model", &error))?;
                self.model = Some(model);
                Ok((ImportReply::Opened(facts), vec![bytes]))
            }
            ImportRequest::Rehearse => {
                let source = ModelSource::Zoo(REHEARSED.to_owned());
                let calibrating = Calibrating { is_random: true, ..Calibrating::default() };
                let (model, _) = open::open(&source, &calibrating, Vec::new(), &Silent::default())?;
                let bytes = postcard::to_stdvec(&model).map_err(|error| ours("model", &error))?;
                Ok((ImportReply::Rehearsed, vec![bytes]))
            }
            ImportRequest::Load => {
                self.sweeper.forget();
                self.model = Some(load(&buffers)?);
                Ok((ImportReply::Loaded, Vec::new()))
            }
            ImportRequest::Examine(source, calibrating) => {
                let facts = open::examine(&source, &calibrating, buffers, host)?;
                Ok((ImportReply::Examined(Box::new(facts)), Vec::new()))
            }
            ImportRequest::Zoo => Ok((ImportReply::Zoo(tilewright_app::zoo::list()?), Vec::new())),
            ImportRequest::ZooSize(name) => {
                Ok((ImportReply::ZooSize(tilewright_app::zoo::size(&name)?), Vec::new()))
            }
            ImportRequest::CellChoices => {
                Ok((ImportReply::CellChoices(cells::choices()), Vec::new()))
            }
            ImportRequest::Cells(draft) => {
                Ok((ImportReply::Cells(Box::new(cells::facts(draft)?)), Vec::new()))
            }
            ImportRequest::Fit => {
                Ok((ImportReply::Fit(Box::new(what_fits::fit(say)?)), Vec::new()))
            }
            ImportRequest::Papers => Ok((ImportReply::Papers(papers::list()), Vec::new())),
            ImportRequest::Paper(id, part) => {
                let report = papers::part(&id, part, say)?;
                Ok((ImportReply::Paper(Box::new(report)), Vec::new()))
            }
            ImportRequest::Sweep(keys, name) => {
                let rows = self.sweeper.rows(&keys, (&name, self.model.as_ref()))?;
                Ok((ImportReply::Swept(rows.into_iter().map(Into::into).collect()), Vec::new()))
            }
            ImportRequest::Graph(tiled) => {
                let facts = graph(self.model()?, tiled)?;
                Ok((ImportReply::Graph(Box::new(facts)), Vec::new()))
            }
            ImportRequest::SaveTiled(source, calibrating, grid) => {
                let (file, bytes) = open::tiled(&source, &calibrating, &grid, buffers, host)?;
                Ok((ImportReply::Saved(file), vec![bytes]))
            }
            ImportRequest::Input { name } => {
                let model = self.model()?;
                if tilewright_formats::input::sound::is_sound(buffer(0)) {
                    return listen::listen(model, name, buffer(0), say);
                }
                let data = read_inputs(model, &name, buffer(0))?;
                reference(model, name, data)
            }
            ImportRequest::RandomInput => {
                let model = self.model()?;
                reference(model, "a made-up input".to_owned(), random_inputs(model)?)
            }
            ImportRequest::Judge(settings) => {
                let model = self.model()?;
                let (result, comparison) =
                    judge(model, &settings, [buffer(0), buffer(1), buffer(2)], host)?;
                Ok((ImportReply::Judged(Box::new(result), comparison), Vec::new()))
            }
            ImportRequest::Exits(settings) => {
                let report = exits::exits(self.model()?, &settings, &buffers, say)?;
                Ok((ImportReply::Exits(settings, Box::new(report)), Vec::new()))
            }
            ImportRequest::Package { settings, model, has_stores } => {
                let stored = if has_stores { Some(self.model()?) } else { None };
                package::package(&settings, &model, stored, [buffer(0), buffer(1), buffer(2)])
            }
            ImportRequest::Library { settings, model, has_stores } => {
                let stored = if has_stores { Some(self.model()?) } else { None };
                package::library(&settings, &model, stored, [buffer(0), buffer(1)])
            }
            ImportRequest::Stores(settings) => {
                let stores = package::store_images(&settings, self.model()?, buffer(0))?;
                let part = |space: Space| match space {
                    Space::Card => "card",
                    _ => "external_flash",
                };
                let names = stores.iter().map(|(space, _)| part(*space).to_owned()).collect();
                let images = stores.into_iter().map(|(_, bytes)| bytes).collect();
                Ok((ImportReply::Stores(names), images))
            }
            ImportRequest::Schedule(file, again) => saved_files::file(file, buffer(0), &again),
            ImportRequest::Record => saved_files::record(buffer(0), buffer(1)),
            ImportRequest::Recipe(settings) => saved_files::recipe(self.model()?, &settings),
            ImportRequest::Reorder { name } => reorder(&name, buffer(0), host),
        }
    }

    fn model(&self) -> Result<&Model, Diagnostic> {
        self.model.as_ref().ok_or_else(no_model)
    }
}

/// The drawing of a model, or of the same with layers in tiles.
fn graph(model: &Model, tiled: Option<TiledRegion>) -> Result<GraphFacts, Diagnostic> {
    let Some(region) = tiled else { return Ok(graph::graph(model)) };
    let found = tiles::again(model, &region).map_err(|error| ours("tiles", &error))?;
    Ok(GraphFacts { tiled: Some(region), ..graph::graph(&found.model) })
}

/// Runs the reference on inputs.
fn reference(model: &Model, name: String, inputs: Vec<Data>) -> Outcome<ImportReply> {
    let values = inputs.iter().flat_map(|data| data.as_i8().unwrap_or_default());
    let payload = values.map(|v| v.cast_unsigned()).collect();
    let outputs = int8::run(model, &inputs, &mut |_, _| {}).map_err(|error| {
        let detail = sentence(&error.to_string());
        trouble(format!("The reference does not take {name}"), detail, "Choose another input.")
    })?;
    let outputs = outputs.iter().map(|data| data.as_i8().unwrap_or_default().to_vec()).collect();
    Ok((
        ImportReply::Input(ReferenceFacts { name, outputs, ..ReferenceFacts::default() }),
        vec![payload],
    ))
}

/// A model's name as part of a file's.
pub(super) fn file_stem(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    name.chars().map(plain).collect()
}
