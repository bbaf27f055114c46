//! What charts share: their width, patterns, and keys.

use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{HtmlElement, ResizeObserver};
use yew::prelude::*;

use crate::state::Event;
use crate::view_model::figures::fixed;
use crate::view_model::steps::Step;

/// The width of an element in CSS pixels; 0 until it is known. An element that is not there from the
/// beginning is looked for when `is_there` changes.
#[hook]
pub fn use_width(node: NodeRef, is_there: bool) -> f64 {
    let width = use_state(|| 0.0);
    {
        let width = width.clone();
        use_effect_with((node, is_there), move |(node, _)| {
            let element = node.cast::<HtmlElement>();
            let observed = element.and_then(|element| {
                let measured = element.clone();
                width.set(f64::from(measured.client_width()));
                let callback = Closure::<dyn FnMut()>::new(move || {
                    width.set(f64::from(measured.client_width()));
                });
                let observer = ResizeObserver::new(callback.as_ref().unchecked_ref()).ok()?;
                observer.observe(&element);
                Some((observer, callback))
            });
            move || {
                if let Some((observer, _callback)) = observed {
                    observer.disconnect();
                }
            }
        });
    }
    *width
}

/// A length in a drawing.
pub fn px(value: f64) -> String {
    fixed(value, 1)
}

/// Text that fits `width` pixels at the charts' size; nothing if not even four letters do.
pub fn fitted(text: &str, width: f64) -> Option<String> {
    const LETTER: f64 = 6.6;
    let room = (width / LETTER) as usize;
    let length = text.chars().count();
    if length <= room {
        return Some(text.to_owned());
    }
    (room >= 4).then(|| text.chars().take(room - 1).chain(['…']).collect())
}

/// The first of some texts, the longest first, that fits `width` pixels; else the last.
pub fn first_fitting(texts: &[String], width: f64) -> &str {
    let fits = |text: &&String| fitted(text, width).as_deref() == Some(text.as_str());
    texts.iter().find(fits).or(texts.last()).map_or("", String::as_str)
}

/// The second cue beside colour: outputs and waiting are hatched, others dotted, weights
/// crossed, scratch is barred.
pub fn patterns() -> Html {
    html! {
        <svg id="patterns" class="patterns" width="0" height="0" aria-hidden="true">
            <defs>
                <pattern id="pattern-output" width="6" height="6" patternUnits="userSpaceOnUse"
                    patternTransform="rotate(45)">
                    <rect width="6" height="6" class="pattern-output" />
                    <line x1="0" y1="0" x2="0" y2="6" class="pattern-line" />
                </pattern>
                <pattern id="pattern-other" width="6" height="6" patternUnits="userSpaceOnUse">
                    <rect width="6" height="6" class="pattern-other" />
                    <circle cx="1.5" cy="1.5" r="1" class="pattern-dot" />
                    <circle cx="4.5" cy="4.5" r="1" class="pattern-dot" />
                </pattern>
                <pattern id="pattern-stall" width="5" height="5" patternUnits="userSpaceOnUse"
                    patternTransform="rotate(45)">
                    <rect width="5" height="5" class="pattern-stall" />
                    <line x1="0" y1="0" x2="0" y2="5" class="pattern-wait" />
                </pattern>
                <pattern id="pattern-weights" width="6" height="6" patternUnits="userSpaceOnUse">
                    <rect width="6" height="6" class="pattern-weights" />
                    <path d="M0 3H6M3 0V6" class="pattern-cross" />
                </pattern>
                <pattern id="pattern-read" width="6" height="6" patternUnits="userSpaceOnUse">
                    <rect width="6" height="6" class="pattern-read" />
                    <circle cx="1.5" cy="1.5" r="1.2" class="pattern-dot" />
                    <circle cx="4.5" cy="4.5" r="1.2" class="pattern-dot" />
                </pattern>
                <pattern id="pattern-scratch" width="5" height="5" patternUnits="userSpaceOnUse">
                    <rect width="5" height="5" class="pattern-scratch" />
                    <path d="M1 0V5" class="pattern-cross" />
                </pattern>
            </defs>
        </svg>
    }
}

/// The frame of a chart: keys move the selection in it.
pub struct Chart<'p> {
    /// Holds the drawing.
    pub node: NodeRef,
    /// What the chart shows, in a sentence.
    pub label: &'p str,
    /// Its test id.
    pub id: &'static str,
    /// Address of the arena, if the board has firmware.
    pub address: Option<u32>,
    pub on: &'p Callback<Event>,
}

impl Chart<'_> {
    /// The frame around a drawing.
    pub fn around(self, drawing: Html) -> Html {
        let Self { node, label, id, address, on } = self;
        let keys = "Left and right arrow keys go from operator to operator, up and down among its \
                    tensors.";
        let on = on.clone();
        let onkeydown = Callback::from(move |event: KeyboardEvent| {
            let is_plain = !(event.ctrl_key() || event.meta_key() || event.alt_key());
            let Some(step) = Step::of_key(&event.key()).filter(|_| is_plain) else { return };
            event.prevent_default();
            on.emit(Event::Step(step, address));
        });
        html! {
            <div class="chart" ref={node} tabindex="0" role="application"
                aria-roledescription="chart" aria-label={format!("{label} {keys}")}
                data-testid={id} {onkeydown}>
                { drawing }
            </div>
        }
    }
}
