//! Carries out what the state asks for: workers, fetching, the server, the address.
//!
//! Buffers stay here as handles of the browser's memory and never enter the page's own.

mod fetch;
pub mod link;
mod server;

use std::collections::BTreeMap;
use std::rc::Rc;

use js_sys::{Array, Uint8Array};
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::spawn_local;
use web_sys::{Blob, BlobPropertyBag, Url};
use yew::Callback;

use crate::message::{ImportReply, ImportRequest, PlanReply, PlanRequest, PlanSettings, Reply};
use crate::state::{Effect, Event, RunEvent, State, Theme};
use link::{Answer, Link};
use server::Watched;

const PLANNER: &str = "./planner-worker.js";
const IMPORTER: &str = "./importer-worker.js";
/// Where the theme is remembered.
const THEME_KEY: &str = "tilewright.theme";

/// An event with the buffers that came with it.
pub struct Message {
    /// What happened.
    pub event: Event,
    /// Its buffers.
    pub buffers: Vec<Uint8Array>,
}

/// A file that can be downloaded.
#[derive(Clone, Debug, PartialEq)]
pub struct Download {
    /// Name.
    pub name: String,
    /// Address of its bytes; good as long as this lives.
    pub address: Rc<ObjectUrl>,
}

/// An address of bytes in the browser's memory, given back when it is dropped.
#[derive(Debug, PartialEq, Eq)]
pub struct ObjectUrl(pub String);

impl Drop for ObjectUrl {
    fn drop(&mut self) {
        let _ = Url::revoke_object_url(&self.0);
    }
}

impl ObjectUrl {
    /// An address of `bytes`.
    ///
    /// # Errors
    /// If the browser has no room.
    pub fn new(bytes: &JsValue, media: &str) -> Result<Self, JsValue> {
        let options = BlobPropertyBag::new();
        options.set_type(media);
        let blob = Blob::new_with_buffer_source_sequence_and_options(&Array::of1(bytes), &options)?;
        Url::create_object_url_with_blob(&blob).map(Self)
    }
}

/// What the state had before an event: tells which buffers belong to what it took.
pub struct Before {
    model: Option<Rc<crate::state::OpenModel>>,
    plan: Option<Rc<crate::message::PlanFacts>>,
    reference: Option<Rc<crate::message::ReferenceFacts>>,
    package: Option<Rc<crate::message::Package>>,
}

impl Before {
    /// Of this state.
    pub fn of(state: &State) -> Self {
        Self {
            model: state.model.clone(),
            plan: state.plan.clone(),
            reference: state.input.reference.clone(),
            package: state.package.clone(),
        }
    }
}

/// Workers and buffers.
pub struct Session {
    send: Callback<Message>,
    planner: Link<PlanReply>,
    importer: Link<ImportReply>,
    /// Request that the planner works on, and the one that waits for it.
    planning: Option<u32>,
    next_plan: Option<(u32, PlanSettings)>,
    planner_has_model: bool,
    importer_has_model: bool,
    /// The int8 model.
    model: Option<Uint8Array>,
    /// The plan image.
    image: Option<Uint8Array>,
    /// The input as int8.
    input: Option<Uint8Array>,
    /// The input of the run under way; its status and the outputs of its layers once it has ended.
    run_input: Option<Uint8Array>,
    run_result: Vec<Uint8Array>,
    run: Option<Watched>,
    /// Dropped files by token.
    files: BTreeMap<u32, Uint8Array>,
    /// Files for the board, and the plan image.
    downloads: Rc<Vec<Download>>,
    image_download: Option<Download>,
    /// The picture that was chosen as input.
    picture: Option<Rc<ObjectUrl>>,
}

fn same<T>(a: Option<&Rc<T>>, b: Option<&Rc<T>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => Rc::ptr_eq(a, b),
        (None, None) => true,
        _ => false,
    }
}

fn event_of<R>(
    answer: Answer<R>,
    script: &str,
    wrap: impl Fn(u32, Result<R, crate::message::Trouble>) -> Event,
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
        let to = send.clone();
        let importer = Link::new(
            IMPORTER,
            Callback::from(move |answer: Answer<ImportReply>| {
                event_of(answer, IMPORTER, Event::Imported).into_iter().for_each(|m| to.emit(m));
            }),
        );
        Self {
            send,
            planner,
            importer,
            planning: None,
            next_plan: None,
            planner_has_model: false,
            importer_has_model: false,
            model: None,
            image: None,
            input: None,
            run_input: None,
            run_result: Vec::new(),
            run: None,
            files: BTreeMap::new(),
            downloads: Rc::default(),
            image_download: None,
            picture: None,
        }
    }

    /// Sends the plan that waits once the one under way has been answered.
    pub fn note_answer(&mut self, event: &Event) {
        if let Event::Planned(request, _) = event
            && self.planning == Some(*request)
        {
            self.planning = None;
            if let Some((request, settings)) = self.next_plan.take() {
                self.planning = Some(request);
                self.ask_planner(request, &PlanRequest::Plan(settings), &[]);
            }
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

    /// The picture that was chosen as input.
    pub fn picture(&self) -> Option<Rc<ObjectUrl>> {
        self.picture.clone()
    }

    /// Keeps a file's bytes under a token.
    pub fn keep_file(&mut self, token: u32, bytes: Uint8Array) {
        self.files.insert(token, bytes);
    }

    /// Keeps those of an event's buffers that belong to what the state took from it.
    pub fn adopt(&mut self, before: &Before, state: &State, mut buffers: Vec<Uint8Array>) {
        if !same(before.model.as_ref(), state.model.as_ref()) {
            self.model = buffers.pop();
            self.planner_has_model = false;
            self.importer_has_model = true;
            self.next_plan = None;
            self.image = None;
            self.input = None;
        } else if !same(before.reference.as_ref(), state.input.reference.as_ref())
            && state.input.reference.is_some()
        {
            self.input = buffers.pop();
        } else if !same(before.plan.as_ref(), state.plan.as_ref()) {
            self.image = buffers.pop();
            self.image_download = self.image.as_ref().and_then(|image| {
                let model = state.plan.as_ref()?.report.model.clone();
                download(&format!("{model}.twpi"), image)
            });
        } else if !same(before.package.as_ref(), state.package.as_ref())
            && let Some(package) = &state.package
        {
            let files = package.files.iter().zip(&buffers);
            let files = files.filter_map(|(file, bytes)| download(&file.name, bytes));
            self.downloads = Rc::new(files.collect());
        }
        if state.package.is_none() {
            self.downloads = Rc::default();
        }
    }

    fn fail(&self, request: u32, trouble: crate::message::Trouble) {
        let event = Event::NotFetched(request, trouble);
        self.send.emit(Message { event, buffers: Vec::new() });
    }

    /// Carries out what the state asks for.
    pub fn carry_out(&mut self, effect: Effect, link: &Callback<Fetched>) {
        match effect {
            Effect::OpenExample(request, example) => {
                let name = example.file.rsplit('/').next().unwrap_or(example.file).to_owned();
                let body = ImportRequest::Open { name, dims: Vec::new() };
                let paths = vec![example.file.to_owned(), example.calibration.to_owned()];
                self.fetch_for(request, paths, body, link);
            }
            Effect::OpenFile { request, token, name, calibration, dims } => {
                let tokens = std::iter::once(token).chain(calibration);
                // Copies: a file is kept, so that it can be opened again with other samples.
                let buffers: Vec<_> = tokens
                    .filter_map(|t| self.files.get(&t))
                    .map(|f| f.slice(0, f.length()))
                    .collect();
                self.importer_has_model = false;
                self.importer.ask(request, &ImportRequest::Open { name, dims }, &buffers);
            }
            Effect::PrepareSample(request, path) => {
                self.picture = None;
                let name = path.rsplit('/').next().unwrap_or(path).to_owned();
                let body = ImportRequest::Input { name };
                self.fetch_for(request, vec![path.to_owned()], body, link);
            }
            Effect::PrepareFile { request, token, name } => {
                let Some(bytes) = self.files.remove(&token) else { return };
                self.picture = ObjectUrl::new(&bytes, "image/png").ok().map(Rc::new);
                self.ask_importer(request, &ImportRequest::Input { name }, &[bytes]);
            }
            Effect::Plan(request, settings) => {
                // While the planner is busy only the newest settings wait.
                if self.planning.is_some() {
                    self.next_plan = Some((request, settings));
                } else {
                    self.planning = Some(request);
                    self.ask_planner(request, &PlanRequest::Plan(settings), &[]);
                }
            }
            Effect::Package { request, board, model } => {
                let path = format!("firmware/{board}.elf");
                let body = ImportRequest::Package { board, model };
                self.fetch_for(request, vec![path], body, link);
            }
            Effect::Judge(request, settings) => {
                let mut buffers = std::mem::take(&mut self.run_result);
                buffers.extend(self.run_input.take());
                self.ask_importer(request, &ImportRequest::Judge(settings), &buffers);
            }
            Effect::StartRun(request, board) => self.start_run(request, &board),
            Effect::StopRun => {
                if let Some(run) = self.run.take() {
                    run.stop();
                }
            }
            Effect::StartImporter => self.importer.warm(),
            Effect::EndImporter => {
                self.importer.end();
                self.importer_has_model = false;
            }
            Effect::EndPlanner => {
                self.planner.end();
                self.planning = None;
                self.next_plan = None;
                self.planner_has_model = false;
            }
            Effect::AskBoards(request) => self.planner.ask(request, &PlanRequest::Boards, &[]),
            Effect::AskServer => {
                let send = self.send.clone();
                server::ask_health(Callback::from(move |server| {
                    send.emit(Message { event: Event::Server(server), buffers: Vec::new() });
                }));
            }
            Effect::WriteFragment(text) => write_fragment(&text),
            Effect::UseTheme(theme) => use_theme(theme),
        }
    }

    fn fetch_for(
        &self,
        request: u32,
        paths: Vec<String>,
        body: ImportRequest,
        link: &Callback<Fetched>,
    ) {
        let link = link.clone();
        spawn_local(async move {
            let mut buffers = Vec::new();
            for path in paths {
                match fetch::file(&path).await {
                    Ok(bytes) => buffers.push(bytes),
                    Err(trouble) => {
                        return link.emit(Fetched { request, body, buffers: Err(trouble) });
                    }
                }
            }
            link.emit(Fetched { request, body, buffers: Ok(buffers) });
        });
    }

    /// Goes on once files have been fetched. `is_awaited`: whether the request still is.
    pub fn fetched(&mut self, fetched: Fetched, is_awaited: bool) {
        let Fetched { request, body, buffers } = fetched;
        if !is_awaited {
            return;
        }
        match (&body, buffers) {
            (_, Err(trouble)) => self.fail(request, trouble),
            (ImportRequest::Open { .. }, Ok(buffers)) => {
                self.importer_has_model = false;
                self.importer.ask(request, &body, &buffers);
            }
            (ImportRequest::Package { .. }, Ok(firmware)) => {
                let Some(image) = &self.image else { return };
                let mut buffers = vec![image.slice(0, image.length())];
                buffers.extend(firmware);
                self.ask_importer(request, &body, &buffers);
            }
            (_, Ok(buffers)) => self.ask_importer(request, &body, &buffers),
        }
    }

    fn ask_importer(&mut self, request: u32, body: &ImportRequest, buffers: &[Uint8Array]) {
        if !(self.importer_has_model && self.importer.is_live()) {
            let Some(model) = &self.model else { return };
            let copy = model.slice(0, model.length());
            self.importer.ask(0, &ImportRequest::Load, &[copy]);
            self.importer_has_model = true;
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

    fn start_run(&mut self, request: u32, board: &str) {
        let (Some(image), Some(input)) = (&self.image, &self.input) else { return };
        self.run_input = Some(input.slice(0, input.length()));
        self.run_result = Vec::new();
        let send = self.send.clone();
        let said = Callback::from(move |(event, buffers): server::Said| {
            send.emit(Message { event: Event::Board(request, event), buffers });
        });
        self.run = Some(Watched::start(board, image, input, said));
    }

    /// Keeps what came with the end of a run.
    pub fn keep_result(&mut self, event: &Event, buffers: &[Uint8Array]) {
        if let Event::Board(_, RunEvent::Ended | RunEvent::Failed(_)) = event {
            self.run = None;
            self.run_result = buffers.to_vec();
        }
    }
}

/// Files that were fetched, or not.
pub struct Fetched {
    /// Number of the request.
    pub request: u32,
    body: ImportRequest,
    buffers: Result<Vec<Uint8Array>, crate::message::Trouble>,
}

fn download(name: &str, bytes: &Uint8Array) -> Option<Download> {
    let address = ObjectUrl::new(bytes, "application/octet-stream").ok()?;
    Some(Download { name: name.to_owned(), address: Rc::new(address) })
}

fn write_fragment(text: &str) {
    let Some(window) = web_sys::window() else { return };
    let address = if text.is_empty() { " ".to_owned() } else { format!("#{text}") };
    if let Ok(history) = window.history() {
        let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(address.trim()));
    }
}

/// The fragment of the address.
pub fn read_fragment() -> String {
    web_sys::window().and_then(|window| window.location().hash().ok()).unwrap_or_default()
}

/// The theme that was chosen last.
pub fn read_theme() -> Theme {
    let storage = web_sys::window().and_then(|window| window.local_storage().ok().flatten());
    let word = storage.and_then(|storage| storage.get_item(THEME_KEY).ok().flatten());
    Theme::from_word(&word.unwrap_or_default())
}

fn use_theme(theme: Theme) {
    let Some(window) = web_sys::window() else { return };
    if let Some(root) = window.document().and_then(|document| document.document_element()) {
        let _ = root.set_attribute("data-theme", theme.word());
    }
    if let Ok(Some(storage)) = window.local_storage() {
        let _ = storage.set_item(THEME_KEY, theme.word());
    }
}
