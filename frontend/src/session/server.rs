//! The server that runs plans: `api/` beside the page. Its OpenAPI description lies at
//! `api/openapi.json`.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use gloo::events::EventListener;
use gloo::timers::callback::Timeout;
use js_sys::{Array, JSON, Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::spawn_local;
use web_sys::{Blob, EventSource, FormData, MessageEvent, RequestInit, Response};
use yew::Callback;

use super::fetch;
use super::link::text_of;
use crate::message::{Recording, RunEvent, RunRequest, RunningOf, trouble};
use crate::state::Server;
use tilewright_report::{Diagnostic, Mode};

/// What a run says; at its end with its status and the outputs of its layers, unread.
pub type Said = (RunEvent, Vec<Uint8Array>);

/// A run under way. Dropping it stops listening.
pub struct Watched {
    id: Rc<RefCell<Option<String>>>,
    is_stopped: Rc<Cell<bool>>,
    source: Rc<RefCell<Option<Source>>>,
}

struct Source {
    source: EventSource,
    _listeners: Vec<EventListener>,
}

impl Drop for Source {
    fn drop(&mut self) {
        self.source.close();
    }
}

fn text(value: &JsValue, key: &str) -> String {
    Reflect::get(value, &key.into()).ok().and_then(|text| text.as_string()).unwrap_or_default()
}

fn number(value: &JsValue, key: &str) -> Option<f64> {
    Reflect::get(value, &key.into()).ok()?.as_f64()
}

/// A problem as the server describes it; nothing if the value is none.
pub(super) fn problem(value: &JsValue) -> Option<Diagnostic> {
    let what = text(value, "what");
    (!what.is_empty()).then(|| trouble(what, text(value, "where"), text(value, "what_to_do")))
}

/// Milliseconds after which a server that cannot run yet is asked again.
const AGAIN_MS: u32 = 5000;

/// Whether there is a server. It is said once, and again as long as the server lacks something: its
/// emulator may be built yet.
pub fn ask_health(answer: Callback<Server>) {
    spawn_local(async move {
        let health = async {
            let response = fetch::response("api/health", &RequestInit::new()).await?;
            if !response.ok() {
                return Err("no server".to_owned());
            }
            let health = fetch::json(&response).await?;
            // A host may answer anything, such as its own page, with success.
            let can_run = Reflect::get(&health, &"can_run".into()).ok().and_then(|b| b.as_bool());
            can_run.map(|can_run| (health, can_run)).ok_or_else(|| "another server".to_owned())
        };
        let server = match health.await {
            Ok((health, can_run)) => {
                let missing = Reflect::get(&health, &"missing".into()).unwrap_or_default();
                Server::Present {
                    engine: text(&health, "engine"),
                    missing: problem(&missing).filter(|_| !can_run),
                    kept: text(&health, "kept"),
                }
            }
            Err(_) => Server::Absent,
        };
        let is_incomplete = matches!(server, Server::Present { missing: Some(_), .. });
        answer.emit(server);
        if is_incomplete {
            Timeout::new(AGAIN_MS, move || ask_health(answer)).forget();
        }
    });
}

impl Watched {
    /// Starts a run of a plan image on an int8 input, with store images.
    pub fn start(
        body: &RunRequest,
        image: &Uint8Array,
        input: &Uint8Array,
        stores: &[Uint8Array],
        said: Callback<Said>,
    ) -> Self {
        let this = Self { id: Rc::default(), is_stopped: Rc::default(), source: Rc::default() };
        let form = form(body, image, input, stores);
        let is_sampled = body.mode == Mode::Sampled;
        let address = format!("api/runs?board={}", body.board);
        let (id, is_stopped) = (Rc::clone(&this.id), Rc::clone(&this.is_stopped));
        let source = Rc::clone(&this.source);
        spawn_local(async move {
            match accepted(&address, form).await {
                Ok(accepted) if is_stopped.get() => cancel(&accepted),
                Ok(accepted) => {
                    *id.borrow_mut() = Some(accepted.clone());
                    match listen(&accepted, is_sampled, &said) {
                        Ok(live) => *source.borrow_mut() = Some(live),
                        Err(detail) => said.emit((RunEvent::Failed(lost(&detail)), Vec::new())),
                    }
                }
                Err(trouble) => said.emit((RunEvent::Failed(trouble), Vec::new())),
            }
        });
        this
    }

    /// Stops listening and tells the server to end the run.
    pub fn stop(self) {
        self.is_stopped.set(true);
        self.source.borrow_mut().take();
        if let Some(id) = self.id.borrow_mut().take() {
            cancel(&id);
        }
    }
}

fn form(
    body: &RunRequest,
    image: &Uint8Array,
    input: &Uint8Array,
    stores: &[Uint8Array],
) -> Result<FormData, JsValue> {
    let blob = |bytes: &Uint8Array| Blob::new_with_u8_array_sequence(&Array::of1(bytes));
    let form = FormData::new()?;
    form.append_with_blob_and_filename("image", &blob(image)?, "image.plan")?;
    form.append_with_blob_and_filename("input", &blob(input)?, "input.bin")?;
    for (name, store) in body.stores.iter().zip(stores) {
        form.append_with_blob_and_filename(name, &blob(store)?, name)?;
    }
    form.append_with_str("watch", "layers")?;
    if let Some(limit) = body.limit_us {
        form.append_with_str("limit_us", &limit.to_string())?;
    }
    let is_sampled = body.mode == Mode::Sampled;
    form.append_with_str("mode", if is_sampled { "sampled" } else { "full" })?;
    Ok(form)
}

async fn accepted(address: &str, form: Result<FormData, JsValue>) -> Result<String, Diagnostic> {
    let form = form.map_err(|error| lost(&text_of(&error)))?;
    let init = RequestInit::new();
    init.set_method("POST");
    init.set_body(&form);
    let response = fetch::response(address, &init).await.map_err(|error| lost(&error))?;
    if !response.ok() {
        return Err(refused(&response).await);
    }
    let accepted = fetch::json(&response).await.map_err(|error| lost(&error))?;
    let id = text(&accepted, "id");
    if id.is_empty() { Err(lost("It gave the run no name.")) } else { Ok(id) }
}

async fn refused(response: &Response) -> Diagnostic {
    let said = fetch::json(response).await.ok().and_then(|value| problem(&value));
    said.unwrap_or_else(|| lost(&format!("It answers {}.", response.status())))
}

fn lost(detail: &str) -> Diagnostic {
    trouble(
        "The server could not be reached",
        detail.to_owned(),
        "Check that `cargo xtask serve` still runs, then press Run again.",
    )
}

fn cancel(id: &str) {
    let address = format!("api/runs/{id}");
    spawn_local(async move {
        let init = RequestInit::new();
        init.set_method("DELETE");
        // A run that nobody listens to is ended by the server in any case.
        let _ = fetch::response(&address, &init).await;
    });
}

fn listen(id: &str, is_sampled: bool, said: &Callback<Said>) -> Result<Source, String> {
    let source = EventSource::new(&format!("api/runs/{id}/events")).map_err(|e| text_of(&e))?;
    let mut listeners = Vec::new();
    let running = Rc::new(RefCell::new(RunningOf::default()));
    let mut on = |name: &'static str, handle: Box<dyn Fn(JsValue) -> Option<RunEvent>>| {
        let said = said.clone();
        listeners.push(EventListener::new(&source, name, move |event| {
            let data = event.dyn_ref::<MessageEvent>().and_then(|event| event.data().as_string());
            let value = data.and_then(|text| JSON::parse(&text).ok());
            if let Some(event) = value.and_then(&handle) {
                said.emit((event, Vec::new()));
            }
        }));
    };
    on("queued", Box::new(|value| Some(RunEvent::Queued(number(&value, "position")? as u32))));
    on("console", Box::new(|value| Some(RunEvent::Console(text(&value, "text")))));
    on("note", Box::new(|value| Some(RunEvent::Note(text(&value, "text")))));
    let shared = Rc::clone(&running);
    on(
        "progress",
        Box::new(move |value| {
            let mut running = shared.borrow_mut();
            running.instructions = number(&value, "instructions")? as u64;
            Some(RunEvent::Progress(running.clone()))
        }),
    );
    on(
        "step",
        Box::new(move |value| {
            let mut running = running.borrow_mut();
            running.layer = Some(number(&value, "layer")? as usize);
            Some(RunEvent::Progress(running.clone()))
        }),
    );
    for name in ["finished", "failed", "cancelled"] {
        let (said, id, closing) = (said.clone(), id.to_owned(), source.clone());
        listeners.push(EventListener::new(&source, name, move |_| {
            closing.close();
            let (said, id) = (said.clone(), id.clone());
            spawn_local(async move {
                said.emit(match result(&id, is_sampled).await {
                    Ok(said) => said,
                    Err(trouble) => (RunEvent::Failed(trouble), Vec::new()),
                });
            });
        }));
    }
    let (said, failing) = (said.clone(), source.clone());
    listeners.push(EventListener::new(&source, "error", move |_| {
        // The browser tries again by itself unless the server refused.
        if failing.ready_state() == EventSource::CLOSED {
            said.emit((RunEvent::Failed(lost("The connection ended.")), Vec::new()));
        }
    }));
    Ok(Source { source, _listeners: listeners })
}

/// The end of a run, with its status (JSON) and the outputs of its layers (nothing, if there are
/// none, as of a sampled run), unread.
async fn result(id: &str, is_sampled: bool) -> Result<Said, Diagnostic> {
    let get = RequestInit::new;
    let response =
        fetch::response(&format!("api/runs/{id}"), &get()).await.map_err(|error| lost(&error))?;
    if !response.ok() {
        return Err(refused(&response).await);
    }
    let status = fetch::body(&response).await.map_err(|error| lost(&error))?;
    let none = Uint8Array::new_with_length(0);
    if is_sampled {
        return Ok((RunEvent::Ended(Recording::default()), vec![status, none]));
    }
    let layers = match fetch::response(&format!("api/runs/{id}/layers"), &get()).await {
        Ok(response) if response.ok() => fetch::body(&response).await.unwrap_or_default(),
        _ => none,
    };
    Ok((RunEvent::Ended(Recording::default()), vec![status, layers]))
}
