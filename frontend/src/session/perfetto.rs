//! Handing a trace to Perfetto's page: it says that it listens, then takes the trace from this window alone.
//!
//! The protocol: `PING` until it answers `PONG`, then an object with the trace's bytes (Perfetto, "Deep linking").

use std::cell::RefCell;
use std::rc::Rc;

use gloo::events::EventListener;
use gloo::timers::callback::Interval;
use js_sys::{Object, Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{MessageEvent, Window};

const PAGE: &str = "https://ui.perfetto.dev";
const BETWEEN_PINGS_MS: u32 = 100;

/// Perfetto's page in a window of its own, from the click that asked for it on.
pub struct Perfetto {
    page: Window,
    talk: Rc<RefCell<Option<Talk>>>,
}

/// What goes on until the trace is there.
struct Talk {
    _pings: Interval,
    _pong: EventListener,
}

impl Perfetto {
    /// Opens the page; nothing if the browser does not allow it.
    #[must_use]
    pub fn open() -> Option<Self> {
        let page = web_sys::window()?.open_with_url_and_target(PAGE, "_blank").ok()??;
        Some(Self { page, talk: Rc::default() })
    }

    /// Hands it a trace once it listens. What is dropped before is not handed over.
    pub fn hand(&self, name: &str, trace: &Uint8Array) {
        let Some(own) = web_sys::window() else { return };
        let (page, name, trace) = (self.page.clone(), name.to_owned(), trace.buffer());
        let talk = Rc::downgrade(&self.talk);
        let pong = EventListener::new(&own, "message", move |event| {
            let Some(event) = event.dyn_ref::<MessageEvent>() else { return };
            let is_pong = event.origin() == PAGE
                && event.data().as_string().is_some_and(|word| word == "PONG");
            let Some(talk) = talk.upgrade().filter(|_| is_pong) else { return };
            let message = Object::new();
            let parts = Object::new();
            let title = JsValue::from_str(&name);
            for (key, value) in
                [("buffer", trace.as_ref()), ("title", &title), ("fileName", &title)]
            {
                let _ = Reflect::set(&parts, &key.into(), value);
            }
            let _ = Reflect::set(&message, &"perfetto".into(), &parts);
            let _ = page.post_message(&message, PAGE);
            // The listener that runs is dropped behind this.
            gloo::timers::callback::Timeout::new(0, move || drop(talk.borrow_mut().take()))
                .forget();
        });
        let page = self.page.clone();
        let pings = Interval::new(BETWEEN_PINGS_MS, move || {
            let _ = page.post_message(&"PING".into(), PAGE);
        });
        *self.talk.borrow_mut() = Some(Talk { _pings: pings, _pong: pong });
    }
}
