//! A web worker as the page sees it: started when first needed, ended to cancel, started again.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use js_sys::Uint8Array;
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{ErrorEvent, MessageEvent, Worker};
use yew::Callback;

use super::offline::of_this_build;
use crate::message::{Reply, trouble};
use crate::wire;
use tilewright_report::Diagnostic;

/// A reply with the number of its request and its buffers.
pub type Answer<R> = (u32, Reply<R>, Vec<Uint8Array>);

/// A worker, running or not.
pub struct Link<R: 'static> {
    script: &'static str,
    answers: Callback<Answer<R>>,
    live: Option<Live>,
}

struct Live {
    worker: Worker,
    shared: Rc<RefCell<Shared>>,
    _on_message: Closure<dyn FnMut(MessageEvent)>,
    _on_error: Closure<dyn FnMut(ErrorEvent)>,
}

#[derive(Default)]
struct Shared {
    is_ready: bool,
    /// Messages that wait until the worker listens.
    waiting: VecDeque<(JsValue, JsValue)>,
    /// Request that was sent last: a crash belongs to it.
    last: u32,
    /// What the worker said before it stopped.
    last_words: Option<String>,
    /// It has stopped by itself.
    is_gone: bool,
}

impl<R: DeserializeOwned + 'static> Link<R> {
    /// A worker that is started by its loader `script`, which lies beside the page.
    pub fn new(script: &'static str, answers: Callback<Answer<R>>) -> Self {
        Self { script, answers, live: None }
    }

    /// Whether the worker has been started, and has not ended since.
    pub fn is_live(&self) -> bool {
        self.live.as_ref().is_some_and(|live| !live.shared.borrow().is_gone)
    }

    /// Starts the worker if it does not run. One that cannot start says so when it is asked.
    pub fn warm(&mut self) {
        if !self.is_live() {
            self.end();
            self.live = self.start().ok();
        }
    }

    /// Ends the worker, whatever it does.
    pub fn end(&mut self) {
        if let Some(live) = self.live.take() {
            live.worker.terminate();
        }
    }

    /// Asks the worker, which is started if it does not run. The buffers are gone afterwards.
    pub fn ask<Q: Serialize>(&mut self, request: u32, body: &Q, buffers: &[Uint8Array]) {
        if !self.is_live() {
            self.end();
        }
        let started = match self.live.take() {
            Some(live) => Ok(live),
            None => self.start(),
        };
        let sent = started.and_then(|live| {
            let (message, transfer) = wire::pack(request, body, buffers).map_err(|e| e.0)?;
            let mut shared = live.shared.borrow_mut();
            shared.last = request;
            if shared.is_ready {
                post(&live.worker, &message, &transfer)?;
            } else {
                shared.waiting.push_back((message, transfer));
            }
            drop(shared);
            self.live = Some(live);
            Ok(())
        });
        if let Err(detail) = sent {
            let failed = Reply::Failed(stopped(self.script, &detail));
            self.answers.emit((request, failed, Vec::new()));
        }
    }

    fn start(&self) -> Result<Live, String> {
        let worker = Worker::new(&of_this_build(self.script)).map_err(|error| text_of(&error))?;
        let shared = Rc::new(RefCell::new(Shared::default()));
        let (answers, state, to) = (self.answers.clone(), Rc::clone(&shared), worker.clone());
        let script = self.script;
        let on_message =
            Closure::<dyn FnMut(MessageEvent)>::new(
                move |event: MessageEvent| match wire::unpack::<Reply<R>>(event.data()) {
                    Ok((_, Reply::Ready, _)) => {
                        state.borrow_mut().is_ready = true;
                        let waiting = std::mem::take(&mut state.borrow_mut().waiting);
                        for (message, transfer) in waiting {
                            if let Err(detail) = post(&to, &message, &transfer) {
                                let request = state.borrow().last;
                                let failed = Reply::Failed(stopped(script, &detail));
                                answers.emit((request, failed, Vec::new()));
                            }
                        }
                    }
                    Ok((_, Reply::Crashed(words), _)) => {
                        state.borrow_mut().last_words = Some(words)
                    }
                    Ok(answer) => answers.emit(answer),
                    Err(error) => {
                        let failed = Reply::Failed(stopped(script, &error.0));
                        let request = state.borrow().last;
                        answers.emit((request, failed, Vec::new()));
                    }
                },
            );
        let (answers, state) = (self.answers.clone(), Rc::clone(&shared));
        let on_error = Closure::<dyn FnMut(ErrorEvent)>::new(move |event: ErrorEvent| {
            event.prevent_default();
            let (request, words) = {
                let mut state = state.borrow_mut();
                state.is_gone = true;
                (state.last, state.last_words.take())
            };
            let words = words.unwrap_or_else(|| {
                let message = event.message();
                // A script that cannot be loaded says nothing at all.
                if message.is_empty() { "it could not be loaded".to_owned() } else { message }
            });
            answers.emit((request, Reply::Crashed(words), Vec::new()));
        });
        worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        Ok(Live { worker, shared, _on_message: on_message, _on_error: on_error })
    }
}

fn post(worker: &Worker, message: &JsValue, transfer: &JsValue) -> Result<(), String> {
    worker.post_message_with_transfer(message, transfer).map_err(|error| text_of(&error))
}

/// The trouble that a worker's end means.
pub fn stopped(script: &str, detail: &str) -> Diagnostic {
    let name = script.trim_start_matches("./").trim_end_matches("-worker.js");
    trouble(
        format!("The {name} stopped unexpectedly"),
        detail.to_owned(),
        "It starts again with the next request. If it stops again on the same file, please report \
         that with the file, if you can share it.",
    )
}

/// What a thrown value says.
pub fn text_of(value: &JsValue) -> String {
    if let Some(error) = value.dyn_ref::<js_sys::Error>() {
        return String::from(error.message());
    }
    value.as_string().unwrap_or_else(|| format!("{value:?}"))
}
