//! The loop of a worker: requests in, replies out.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use gloo::timers::callback::Timeout;
use js_sys::{Array, Uint8Array};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent, Performance};

use crate::message::Reply;
use crate::wire;
use tilewright_report::Diagnostic;

/// A result with its buffers, or why there is none.
pub type Outcome<R> = Result<(R, Vec<Vec<u8>>), Diagnostic>;

/// What a worker that works in slices says after one.
pub enum Turn<R> {
    /// The request is answered.
    Done(Outcome<R>),
    /// There is more to do; what it does now.
    Working(String),
}

/// Answers requests in slices, so that the next one is heard while it works. Only one request is
/// worked on: a later one that takes its place leaves it without an answer.
pub trait Sliced: 'static {
    /// What it is asked.
    type Request: DeserializeOwned;
    /// What it answers.
    type Answer: Serialize + 'static;

    /// Begins with a request.
    fn begin(&mut self, request: Self::Request, buffers: &[Vec<u8>]) -> Turn<Self::Answer>;

    /// Works on the request that is not answered yet; nothing if there is none.
    fn go_on(&mut self) -> Option<Turn<Self::Answer>>;
}

/// Milliseconds between two words of progress: each makes the page draw.
const BETWEEN_WORDS_MS: f64 = 100.0;

/// When progress was told last.
#[derive(Default)]
struct Pace(Cell<f64>);

impl Pace {
    /// A request has begun: its first word goes out at once.
    fn restart(&self) {
        self.0.set(0.0);
    }

    /// Whether it is time for another word, which then counts as told.
    fn is_due(&self) -> bool {
        let now = js_sys::Date::now();
        // A clock that was set back holds up no more than one word.
        let is_due = !(0.0..BETWEEN_WORDS_MS).contains(&(now - self.0.get()));
        if is_due {
            self.0.set(now);
        }
        is_due
    }
}

/// A worker in slices, and the number of the request that it works on.
struct Slices<W> {
    worker: W,
    request: u32,
    is_called: bool,
    pace: Pace,
}

/// Answers every request with `worker`, one slice after the other. Returns at once; the worker goes
/// on.
pub fn serve_in_slices<W: Sliced>(worker: W) {
    let Ok(scope) = js_sys::global().dyn_into::<DedicatedWorkerGlobalScope>() else { return };
    say_last_words::<W::Answer>(&scope);
    let pace = Pace::default();
    let slices = Rc::new(RefCell::new(Slices { worker, request: 0, is_called: false, pace }));
    let to = scope.clone();
    let on_message = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
        let (request, body, buffers) = match wire::unpack::<W::Request>(event.data()) {
            Ok(message) => message,
            Err(error) => return post::<W::Answer>(&to, 0, &Reply::Crashed(error.0), &[]),
        };
        let buffers: Vec<_> = buffers.iter().map(Uint8Array::to_vec).collect();
        let turn = slices.borrow_mut().worker.begin(body, &buffers);
        if matches!(turn, Turn::Working(_)) {
            let mut slices = slices.borrow_mut();
            slices.request = request;
            slices.pace.restart();
        }
        answer(&to, request, turn, &slices);
    });
    scope.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
    on_message.forget();
    post::<W::Answer>(&scope, 0, &Reply::Ready, &[]);
}

/// Posts what a turn gave, and sees to it that a request that is not answered yet is gone on with
/// after the messages that wait.
fn answer<W: Sliced>(
    to: &DedicatedWorkerGlobalScope,
    request: u32,
    turn: Turn<W::Answer>,
    slices: &Rc<RefCell<Slices<W>>>,
) {
    match turn {
        Turn::Done(Ok((result, buffers))) => post(to, request, &Reply::Done(result), &buffers),
        Turn::Done(Err(trouble)) => post::<W::Answer>(to, request, &Reply::Failed(trouble), &[]),
        Turn::Working(text) => {
            if slices.borrow().pace.is_due() {
                post::<W::Answer>(to, request, &Reply::Progress(text), &[]);
            }
            if std::mem::replace(&mut slices.borrow_mut().is_called, true) {
                return;
            }
            let (to, slices) = (to.clone(), Rc::clone(slices));
            Timeout::new(0, move || {
                let (request, turn) = {
                    let mut slices = slices.borrow_mut();
                    slices.is_called = false;
                    (slices.request, slices.worker.go_on())
                };
                if let Some(turn) = turn {
                    answer(&to, request, turn, &slices);
                }
            })
            .forget();
        }
    }
}

/// Answers every request with `handle`, which may say in between what it does. Returns at once;
/// the worker goes on.
pub fn serve<Q, R>(mut handle: impl FnMut(Q, Vec<Vec<u8>>, &dyn Fn(&str)) -> Outcome<R> + 'static)
where
    Q: DeserializeOwned,
    R: Serialize + 'static,
{
    listen(move |to: &DedicatedWorkerGlobalScope, request, body, buffers| {
        let pace = Pace::default();
        let say = |text: &str| {
            if pace.is_due() {
                post::<R>(to, request, &Reply::Progress(text.to_owned()), &[]);
            }
        };
        handle(body, buffers.iter().map(Uint8Array::to_vec).collect(), &say)
    });
}

/// A clock: milliseconds as the browser counts them since the worker began.
pub fn clock() -> Rc<dyn Fn() -> Duration> {
    let scope = js_sys::global().dyn_into::<DedicatedWorkerGlobalScope>();
    let performance = scope.ok().and_then(|scope| scope.performance());
    Rc::new(move || {
        let now_ms = performance.as_ref().map_or(0.0, Performance::now);
        Duration::try_from_secs_f64(now_ms / 1e3).unwrap_or_default()
    })
}

/// Takes news that are not the last.
pub type Tell<R> = Rc<dyn Fn(&R)>;

/// Answers every request with what `handle` tells, one after the other, and gives last. Returns at
/// once; the worker goes on.
pub fn serve_news<Q, R>(mut handle: impl FnMut(Q, Vec<Uint8Array>, Tell<R>) -> Outcome<R> + 'static)
where
    Q: DeserializeOwned,
    R: Clone + Serialize + 'static,
{
    listen(move |to: &DedicatedWorkerGlobalScope, request, body, buffers| {
        let to = to.clone();
        let tell = move |news: &R| post(&to, request, &Reply::Done(news.clone()), &[]);
        handle(body, buffers, Rc::new(tell))
    });
}

fn listen<Q, R>(
    mut handle: impl FnMut(&DedicatedWorkerGlobalScope, u32, Q, Vec<Uint8Array>) -> Outcome<R> + 'static,
) where
    Q: DeserializeOwned,
    R: Serialize + 'static,
{
    let Ok(scope) = js_sys::global().dyn_into::<DedicatedWorkerGlobalScope>() else { return };
    say_last_words::<R>(&scope);
    let to = scope.clone();
    let on_message = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
        let (request, body, buffers) = match wire::unpack::<Q>(event.data()) {
            Ok(message) => message,
            Err(error) => return post::<R>(&to, 0, &Reply::Crashed(error.0), &[]),
        };
        match handle(&to, request, body, buffers) {
            Ok((result, buffers)) => post(&to, request, &Reply::Done(result), &buffers),
            Err(trouble) => post::<R>(&to, request, &Reply::Failed(trouble), &[]),
        }
    });
    scope.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
    on_message.forget();
    post::<R>(&scope, 0, &Reply::Ready, &[]);
}

fn post<R: Serialize>(
    to: &DedicatedWorkerGlobalScope,
    request: u32,
    reply: &Reply<R>,
    buffers: &[Vec<u8>],
) {
    let buffers: Vec<_> = buffers.iter().map(|b| Uint8Array::from(b.as_slice())).collect();
    let packed = wire::pack(request, reply, &buffers)
        .or_else(|error| wire::pack(request, &Reply::<R>::Crashed(error.0), &[]));
    if let Ok((message, transfer)) = packed {
        // The page is the only one who could be told that it cannot be told anything.
        let _ = to.post_message_with_transfer(&message, &transfer.unchecked_into::<Array>());
    }
}

/// A panic stops a worker at once: its message is sent before.
fn say_last_words<R: Serialize + 'static>(scope: &DedicatedWorkerGlobalScope) {
    thread_local! {
        static SCOPE: RefCell<Option<DedicatedWorkerGlobalScope>> = const { RefCell::new(None) };
    }
    SCOPE.with(|cell| *cell.borrow_mut() = Some(scope.clone()));
    std::panic::set_hook(Box::new(|info| {
        SCOPE.with(|cell| {
            if let Ok(scope) = cell.try_borrow()
                && let Some(scope) = scope.as_ref()
            {
                post::<R>(scope, 0, &Reply::Crashed(info.to_string()), &[]);
            }
        });
    }));
}
