//! Carries out what the state asks for: workers, fetching, the server, the address.
//!
//! Buffers stay here as handles of the browser's memory and never enter the page's own.

mod address;
mod desk;
mod download;
pub mod fetch;
mod fetched;
pub mod link;
mod offline;
mod perfetto;
mod remember;
mod run;
mod sending;
pub mod serial;
mod server;
mod store;

use std::collections::BTreeMap;
use std::rc::Rc;

use gloo::timers::callback::Timeout;
use js_sys::Uint8Array;
use tilewright_desk::Circumstances;
use wasm_bindgen_futures::spawn_local;
use yew::Callback;

use crate::message::{
    FloatRequest, ImportReply, ImportRequest, PlanFacts, PlanReply, PlanRequest, Reply, RunEvent,
    ScheduleFile, SearchNews, SearchRequest,
};
use crate::state::{Beside, Effect, Event, FileKind, Kept, SWEEPERS, SearchEvent, State};
use crate::view_model::desk::measured;
use address::file_at;
use desk::{Subject, Talk};
use download::download;
pub use download::{Download, ObjectUrl, save};
use fetched::Asked;
pub use fetched::Fetched;
use link::{Answer, Link};
use perfetto::Perfetto;
pub use remember::{read_fragment, read_keeping, read_theme};
use remember::{remember_keeping, use_theme, write_fragment};
use run::Running;
use tilewright_report::{Diagnostic, FloatComparison};

const PLANNER: &str = "./planner-worker.js";
const IMPORTER: &str = "./importer-worker.js";
const FLOAT: &str = "./float-worker.js";
const SEARCH: &str = "./search-worker.js";
const EMULATOR: &str = "./emulator-worker.js";
/// Labelled images, if a person gives none.
const IMAGES: &str = "models/fashion-mobilenet.calibration.npy";
/// Number of what the page asks for on its own account: no task waits for it.
const REHEARSAL: u32 = 0;
/// How long the page rests before it is kept for times without a network: what a person asks for
/// first comes first.
const REST_MS: u32 = 1_000;

/// An event with the buffers that came with it.
pub struct Message {
    /// What happened.
    pub event: Event,
    pub buffers: Vec<Uint8Array>,
}

/// Workers and buffers.
pub struct Session {
    send: Callback<Message>,
    planner: Link<PlanReply>,
    importer: Link<ImportReply>,
    float: Link<FloatComparison>,
    search: Link<SearchNews>,
    emulator: Link<RunEvent>,
    /// Other importers, which plan rows of a sweep, and whether each has the model.
    sweepers: [(Link<ImportReply>, bool); SWEEPERS],
    planner_has_model: bool,
    importer_has_model: bool,
    /// Whether the importer was given the model back behind the request that opens another: it has the old one then.
    importer_was_given_back: bool,
    /// The int8 model.
    model: Option<Uint8Array>,
    /// The plan image.
    image: Option<Uint8Array>,
    /// The input as int8.
    input: Option<Uint8Array>,
    /// The run under way, or what is put aside for it.
    run: Running,
    /// The talk with the board on the desk, and the input that the board is sent.
    talk: Option<Talk>,
    talk_input: Option<Uint8Array>,
    /// Files by token, and the token that was given last.
    files: BTreeMap<u32, Uint8Array>,
    last_token: u32,
    /// Whether the page has come to rest once.
    has_rested: bool,
    /// Files for the board, and the plan image.
    downloads: Rc<Vec<Download>>,
    image_download: Option<Download>,
    /// The model's file in another order.
    reordered_download: Option<Download>,
    /// The picture that was chosen as input.
    picture: Option<Rc<ObjectUrl>>,
    /// Perfetto's page, which waits for a trace that is being made.
    perfetto_asked: Option<Perfetto>,
    /// The same once the trace is there.
    perfetto: Option<Perfetto>,
}

fn event_of<R>(
    answer: Answer<R>,
    script: &str,
    wrap: impl Fn(u32, Result<R, Diagnostic>) -> Event,
) -> Option<Message> {
    let (request, reply, buffers) = answer;
    let event = match reply {
        Reply::Ready => return None,
        Reply::Progress(text) => Event::Progress(request, text),
        Reply::Done(result) => wrap(request, Ok(result)),
        Reply::Failed(trouble) => wrap(request, Err(trouble)),
        Reply::Crashed(words) => wrap(request, Err(link::stopped(script, &words))),
    };
    Some(Message { event, buffers })
}

impl Session {
    /// Nothing runs yet; `send` takes what happens.
    pub fn new(send: Callback<Message>) -> Self {
        let to = send.clone();
        let planner = Link::new(
            PLANNER,
            Callback::from(move |answer: Answer<PlanReply>| {
                event_of(answer, PLANNER, Event::Planned).into_iter().for_each(|m| to.emit(m));
            }),
        );
        let importer = || {
            let to = send.clone();
            let tell = move |answer: Answer<ImportReply>| {
                event_of(answer, IMPORTER, Event::Imported).into_iter().for_each(|m| to.emit(m));
            };
            Link::new(IMPORTER, Callback::from(tell))
        };
        let sweepers = std::array::from_fn(|_| (importer(), false));
        let importer = importer();
        let to = send.clone();
        let float = Link::new(
            FLOAT,
            Callback::from(move |answer: Answer<FloatComparison>| {
                event_of(answer, FLOAT, Event::FloatCompared).into_iter().for_each(|m| to.emit(m));
            }),
        );
        let to = send.clone();
        let search = Link::new(
            SEARCH,
            Callback::from(move |answer: Answer<SearchNews>| {
                let wrap = |request, reply| Event::Search(SearchEvent::Answered(request, reply));
                event_of(answer, SEARCH, wrap).into_iter().for_each(|m| to.emit(m));
            }),
        );
        let to = send.clone();
        let emulator = Link::new(
            EMULATOR,
            Callback::from(move |answer: Answer<RunEvent>| {
                let wrap = |request, said: Result<RunEvent, Diagnostic>| {
                    Event::Board(request, said.unwrap_or_else(RunEvent::Failed))
                };
                event_of(answer, EMULATOR, wrap).into_iter().for_each(|m| to.emit(m));
            }),
        );
        Self {
            send,
            planner,
            importer,
            float,
            search,
            emulator,
            sweepers,
            planner_has_model: false,
            importer_has_model: false,
            importer_was_given_back: false,
            model: None,
            image: None,
            input: None,
            run: Running::default(),
            talk: None,
            talk_input: None,
            files: BTreeMap::new(),
            last_token: 0,
            has_rested: false,
            downloads: Rc::default(),
            image_download: None,
            reordered_download: None,
            picture: None,
            perfetto_asked: None,
            perfetto: None,
        }
    }

    /// Files for the board, and the plan image.
    pub fn downloads(&self) -> Rc<Vec<Download>> {
        Rc::clone(&self.downloads)
    }

    /// The plan image as a file.
    pub fn image_download(&self) -> Option<Download> {
        self.image_download.clone()
    }

    /// The model's file in another order.
    pub fn reordered_download(&self) -> Option<Download> {
        self.reordered_download.clone()
    }

    /// The picture that was chosen as input.
    pub fn picture(&self) -> Option<Rc<ObjectUrl>> {
        self.picture.clone()
    }

    /// Keeps a file's bytes under a new token.
    pub fn keep_file(&mut self, bytes: Uint8Array) -> u32 {
        self.last_token += 1;
        self.files.insert(self.last_token, bytes);
        self.last_token
    }

    /// Forgets files that the state does not name any more, and does in advance what makes later
    /// requests fast, once nothing is under way.
    pub fn settle(&mut self, state: &State) {
        self.files.retain(|token, _| state.names_file(*token));
        if state.reordered.is_none() {
            self.reordered_download = None;
        }
        if state.package.is_none() {
            self.downloads = Rc::default();
        }
        if !self.has_rested && state.tasks.is_empty() && !state.boards.is_empty() {
            self.has_rested = true;
            if !offline::spares_data() && state.model.is_none() {
                self.importer.ask(REHEARSAL, &ImportRequest::Rehearse, &[]);
            }
            Timeout::new(REST_MS, offline::install).forget();
        }
        self.warm_emulator(state);
    }

    /// Keeps the buffers that came with a result that the state took.
    fn keep(&mut self, kept: Kept, mut buffers: Vec<Uint8Array>, state: &State) {
        match kept {
            Kept::Model => {
                self.model = buffers.pop();
                self.planner_has_model = false;
                self.importer_has_model = !self.importer_was_given_back;
                for (_, has_model) in &mut self.sweepers {
                    *has_model = false;
                }
                self.image = None;
                self.input = None;
            }
            Kept::Input => self.input = buffers.pop(),
            Kept::Image => {
                self.image = buffers.pop();
                self.image_download = self.image.as_ref().and_then(|image| {
                    // As the text that comes with all files calls it.
                    let report = &state.plan.as_ref()?.report;
                    download(&format!("{}-{}.plan", report.model, report.board), image)
                });
            }
            Kept::Package(names) => {
                let files = names.iter().zip(&buffers);
                let files = files.filter_map(|(name, bytes)| download(name, bytes));
                self.downloads = Rc::new(files.collect());
            }
            Kept::Reordered(name) => {
                let bytes = buffers.pop();
                self.reordered_download = bytes.and_then(|bytes| download(&name, &bytes));
            }
            Kept::Saved(name) => {
                let bytes = buffers.pop();
                if name.ends_with(ScheduleFile::InPerfetto.ending())
                    && let (Some(asked), Some(trace)) = (self.perfetto_asked.take(), &bytes)
                {
                    asked.hand(&name, trace);
                    self.perfetto = Some(asked);
                    return;
                }
                let address =
                    bytes.and_then(|bytes| ObjectUrl::new(&bytes, "application/octet-stream").ok());
                if let Some(address) = address {
                    save(&name, address);
                }
            }
            Kept::Stores => self.run.stores = buffers,
        }
    }

    /// Carries out what the state asks for; `buffers` came with the event that it asks after.
    pub fn carry_out(
        &mut self,
        effect: Effect,
        buffers: &mut Vec<Uint8Array>,
        state: &State,
        link: &Callback<Fetched>,
    ) {
        match effect {
            Effect::Keep(kept) => self.keep(kept, std::mem::take(buffers), state),
            Effect::Open(request, origin, quantising) => {
                let ask = |source, how| Asked::Importer(ImportRequest::Open(source, how));
                self.send_model(request, origin, &quantising, ask, link);
            }
            Effect::Examine(request, origin, quantising) => {
                let ask = |source, how| Asked::Importer(ImportRequest::Examine(source, how));
                self.send_model(request, origin, &quantising, ask, link);
            }
            Effect::CompareFloat(request, origin, quantising) => {
                let ask = |source, calibrating| Asked::Float(FloatRequest { source, calibrating });
                self.send_model(request, origin, &quantising, ask, link);
            }
            Effect::SaveTiled(request, origin, quantising, grid) => {
                let ask =
                    |source, how| Asked::Importer(ImportRequest::SaveTiled(source, how, grid));
                self.send_model(request, origin, &quantising, ask, link);
            }
            Effect::ListPapers(request) => self.importer.ask(request, &ImportRequest::Papers, &[]),
            Effect::ComputePaper(request, id, part) => {
                self.importer.ask(request, &ImportRequest::Paper(id, part), &[]);
            }
            Effect::ExploreFit(request) => self.importer.ask(request, &ImportRequest::Fit, &[]),
            Effect::ListZoo(request) => self.importer.ask(request, &ImportRequest::Zoo, &[]),
            Effect::ListCellChoices(request) => {
                self.importer.ask(request, &ImportRequest::CellChoices, &[]);
            }
            Effect::SizeCells(request, draft) => {
                let draft = Rc::unwrap_or_clone(draft);
                self.importer.ask(request, &ImportRequest::Cells(draft), &[]);
            }
            Effect::BeginSearch(request, settings, images) => {
                self.send_images(
                    request,
                    &images,
                    Asked::Search(SearchRequest::Begin(settings)),
                    link,
                );
            }
            Effect::StudyExits(request, settings, images) => {
                self.send_images(
                    request,
                    &images,
                    Asked::Importer(ImportRequest::Exits(settings)),
                    link,
                );
            }
            Effect::Sweep { request, worker, keys, open } => {
                let Some((link, has_model)) = self.sweepers.get_mut(worker) else { return };
                if !(*has_model && link.is_live())
                    && let Some(model) = &self.model
                {
                    let copy = model.slice(0, model.length());
                    link.ask(0, &ImportRequest::Load, &[copy]);
                    *has_model = true;
                }
                link.ask(request, &ImportRequest::Sweep(keys, open), &[]);
            }
            Effect::EndSweepers => self.sweepers.iter_mut().for_each(|(link, _)| link.end()),
            Effect::GoOnSearching(request, known) => {
                self.search.ask(request, &SearchRequest::GoOn { known }, &[]);
            }
            Effect::SizeZoo(request, name) => {
                self.importer.ask(request, &ImportRequest::ZooSize(name), &[]);
            }
            Effect::AskStored => self.tell_stored(async { Ok(()) }),
            Effect::Store(file, stored) => {
                let mut files = self.files_of(&file).cloned();
                let Some(model) = files.next() else { return };
                let samples = files.next();
                self.tell_stored(async move { store::put(&stored, model, samples).await });
            }
            Effect::Forget => self.tell_stored(store::forget()),
            Effect::ReadStored(request) => {
                let link = link.clone();
                spawn_local(async move {
                    let read = async {
                        let facts = store::facts().await?.unwrap_or_default();
                        store::files().await.map(|(model, samples)| (facts, model, samples))
                    };
                    link.emit(Fetched::Stored(request, read.await));
                });
            }
            Effect::FetchModel(request, file) => {
                let link = link.clone();
                spawn_local(async move {
                    let bytes = file_at(file.address.as_deref().unwrap_or_default()).await;
                    link.emit(Fetched::Model { request, file, bytes });
                });
            }
            Effect::RememberKeeping(keeps) => remember_keeping(keeps),
            Effect::PrepareSample(request, path) => {
                self.picture = None;
                let name = path.rsplit('/').next().unwrap_or(path).to_owned();
                let body = Asked::Importer(ImportRequest::Input { name });
                self.fetch_for(request, vec![path.to_owned()], Vec::new(), body, link);
            }
            Effect::PrepareRandom(request) => {
                self.picture = None;
                self.ask_importer(request, &ImportRequest::RandomInput, &[]);
            }
            Effect::PrepareFile { request, token, name } => {
                let Some(bytes) = self.files.remove(&token) else { return };
                let address = || ObjectUrl::new(&bytes, "image/png").ok().map(Rc::new);
                self.picture = (FileKind::of(&name) == FileKind::Picture).then(address).flatten();
                self.ask_importer(request, &ImportRequest::Input { name }, &[bytes]);
            }
            Effect::Plan(request, settings) => {
                // The planner gives up an older plan for it.
                self.ask_planner(request, &PlanRequest::Plan(settings), &[]);
            }
            Effect::Compare(request, settings, way) => {
                let asked = match way {
                    Beside::Strategy => PlanRequest::Compare(settings),
                    Beside::Remedy => PlanRequest::TryOut(settings),
                };
                self.ask_planner(request, &asked, &[]);
            }
            Effect::DrawGraph(request, tiled) => {
                self.ask_importer(request, &ImportRequest::Graph(tiled), &[]);
            }
            Effect::Package { request, settings, model, has_stores } => {
                let path = format!("firmware/{}.elf", settings.board_id());
                let body = Asked::Importer(ImportRequest::Package { settings, model, has_stores });
                self.fetch_for(request, vec![path], Vec::new(), body, link);
            }
            Effect::SaveLibrary { request, settings, model, has_stores, core } => {
                let path = format!("library/libtilewright-{core}.a");
                let body = Asked::Importer(ImportRequest::Library { settings, model, has_stores });
                self.fetch_for(request, vec![path], Vec::new(), body, link);
            }
            Effect::Reorder(request, file) => {
                let Some(bytes) = self.files_of(&file).next() else { return };
                let copy = bytes.slice(0, bytes.length());
                let body = ImportRequest::Reorder { name: file.name };
                self.importer.ask(request, &body, &[copy]);
            }
            Effect::SaveSchedule { request, file, plan, run } => {
                // A browser opens windows at clicks only.
                let is_handed = file == ScheduleFile::InPerfetto;
                self.perfetto_asked = is_handed.then(Perfetto::open).flatten();
                let run = run.as_ref().map(|run| &run.result.timeline);
                let PlanFacts { report, memory, timeline, occupancy, accesses, tensors, .. } =
                    &*plan;
                let facts = (report, memory, timeline, occupancy, run, accesses, tensors);
                let Ok(bytes) = postcard::to_stdvec(&facts) else { return };
                let bytes = Uint8Array::from(bytes.as_slice());
                let again = web_sys::window().and_then(|window| window.location().href().ok());
                let again = again.unwrap_or_default();
                self.importer.ask(request, &ImportRequest::Schedule(file, again), &[bytes]);
            }
            Effect::SaveRecipe(request, settings) => {
                self.ask_importer(request, &ImportRequest::Recipe(settings), &[]);
            }
            Effect::Judge(request, settings) => {
                let buffers = self.run.judged();
                self.ask_importer(request, &ImportRequest::Judge(settings), &buffers);
            }
            Effect::HoldRun => self.hold_run(),
            Effect::MakeStores(request, settings) => {
                let Some(image) = &self.run.image else { return };
                let copy = image.slice(0, image.length());
                self.ask_importer(request, &ImportRequest::Stores(settings), &[copy]);
            }
            Effect::StartRun(request, place, body) => self.start_run(request, place, body, link),
            Effect::StopRun => self.stop_run(),
            Effect::Talk { request, board, boards, predicted_us } => {
                let (Some(image), Some(input)) = (&self.image, &self.input) else { return };
                let (board, boards) = (board.as_str(), boards.as_slice());
                let subject = Subject { board, boards, image, input, predicted_us };
                let send = self.send.clone();
                let tell = Callback::from(move |event| {
                    send.emit(Message { event: Event::Desk(request, event), buffers: Vec::new() });
                });
                self.talk = Some(Talk::start(&subject, tell));
                self.talk_input = Some(input.slice(0, input.length()));
            }
            Effect::SaveRecord { request, measurement, run, model_sha256, revision } => {
                let Some(input) = &self.talk_input else { return };
                let record = measured(&measurement, run.as_deref()).record(Circumstances {
                    port: measurement.heard.port.clone(),
                    date_utc: desk::now_utc(),
                    board_revision: revision,
                    plan_id: measurement.plan_id(),
                    model_sha256,
                    input_sha256: String::new(),
                });
                let Ok(bytes) = postcard::to_stdvec(&record) else { return };
                let buffers = [bytes.as_slice().into(), input.slice(0, input.length())];
                self.importer.ask(request, &ImportRequest::Record, &buffers);
            }
            Effect::HangUp => {
                if let Some(talk) = self.talk.take() {
                    talk.hang_up();
                }
            }
            Effect::StartImporter => self.importer.warm(),
            Effect::EndImporter => {
                self.importer.end();
                self.importer_has_model = false;
            }
            Effect::EndFloat => self.float.end(),
            Effect::EndSearch => self.search.end(),
            Effect::EndPlanner => {
                self.planner.end();
                self.planner_has_model = false;
            }
            Effect::AskBoards(request) => self.planner.ask(request, &PlanRequest::Boards, &[]),
            Effect::AskServer => {
                let send = self.send.clone();
                server::ask_health(Callback::from(move |server| {
                    send.emit(Message { event: Event::Server(server), buffers: Vec::new() });
                }));
            }
            Effect::WriteFragment { text, is_step } => write_fragment(&text, is_step),
            Effect::UseTheme(theme) => use_theme(theme),
        }
    }

    /// Tells what the browser's storage holds after this, or why it was not done.
    fn tell_stored(&self, first: impl Future<Output = Result<(), Diagnostic>> + 'static) {
        let send = self.send.clone();
        spawn_local(async move {
            let stored = match first.await {
                Ok(()) => store::facts().await,
                Err(trouble) => Err(trouble),
            };
            send.emit(Message { event: Event::Stored(stored), buffers: Vec::new() });
        });
    }

    fn ask_importer(&mut self, request: u32, body: &ImportRequest, buffers: &[Uint8Array]) {
        if !(self.importer_has_model && self.importer.is_live()) {
            let Some(model) = &self.model else { return };
            let copy = model.slice(0, model.length());
            self.importer.ask(0, &ImportRequest::Load, &[copy]);
            (self.importer_has_model, self.importer_was_given_back) = (true, true);
        }
        self.importer.ask(request, body, buffers);
    }

    fn ask_planner(&mut self, request: u32, body: &PlanRequest, buffers: &[Uint8Array]) {
        if !(self.planner_has_model && self.planner.is_live()) {
            let Some(model) = &self.model else { return };
            let copy = model.slice(0, model.length());
            self.planner.ask(0, &PlanRequest::Load, &[copy]);
            self.planner_has_model = true;
        }
        self.planner.ask(request, body, buffers);
    }

    /// The planner rehearses with what the importer rehearsed, unless somebody needs it by now.
    pub fn rehearse(&mut self, event: &Event, buffers: &mut Vec<Uint8Array>, state: &State) {
        if let Event::Imported(REHEARSAL, Ok(ImportReply::Rehearsed)) = event
            && state.tasks.is_empty()
            && state.model.is_none()
        {
            let request = PlanRequest::Rehearse(state.settings.now().clone());
            self.planner.ask(REHEARSAL, &request, &std::mem::take(buffers));
        }
    }
}
