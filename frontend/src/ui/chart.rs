//! What charts share: their width, patterns, and saving them.

use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Element, HtmlElement, ResizeObserver, XmlSerializer};
use yew::prelude::*;

use crate::session::ObjectUrl;
use crate::view_model::figures::fixed;

/// The width of an element in CSS pixels; 0 until it is known.
#[hook]
pub fn use_width(node: NodeRef) -> f64 {
    let width = use_state(|| 0.0);
    {
        let width = width.clone();
        use_effect_with(node, move |node| {
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

/// The second cue beside colour: outputs are hatched, others dotted.
#[component]
pub fn Patterns() -> Html {
    html! {
        <svg class="patterns" width="0" height="0" aria-hidden="true">
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
            </defs>
        </svg>
    }
}

/// Properties that a saved drawing needs, since it has no style sheet.
const DRAWN: [&str; 9] = [
    "fill",
    "stroke",
    "stroke-width",
    "stroke-dasharray",
    "font-family",
    "font-size",
    "font-weight",
    "text-anchor",
    "opacity",
];

/// Saves a drawing as it looks now.
pub fn save_svg(drawing: &NodeRef, name: &str) {
    let Some(window) = web_sys::window() else { return };
    let Some(root) = drawing.cast::<Element>() else { return };
    let Ok(Some(svg)) = root.query_selector("svg[role=img]") else { return };
    let Ok(copy) = svg.clone_node_with_deep(true) else { return };
    let Some(copy) = copy.dyn_ref::<Element>() else { return };
    // The copy has the same elements in the same order.
    let (Ok(from), Ok(to)) = (svg.query_selector_all("*"), copy.query_selector_all("*")) else {
        return;
    };
    for index in 0..from.length() {
        let pair = (from.item(index), to.item(index));
        let (Some(from), Some(to)) = (
            pair.0.and_then(|node| node.dyn_into::<Element>().ok()),
            pair.1.and_then(|node| node.dyn_into::<Element>().ok()),
        ) else {
            continue;
        };
        let Ok(Some(style)) = window.get_computed_style(&from) else { continue };
        for property in DRAWN {
            if let Ok(value) = style.get_property_value(property)
                && !value.is_empty()
            {
                // Patterns live outside of the drawing: a plain colour stands for them.
                let value = match value.as_str() {
                    v if v.contains("pattern-output") => "#e69f00".to_owned(),
                    v if v.contains("pattern-other") => "#8a929a".to_owned(),
                    _ => value,
                };
                let _ = to.set_attribute(property, &value);
            }
        }
        let _ = to.remove_attribute("class");
    }
    let _ = copy.set_attribute("xmlns", "http://www.w3.org/2000/svg");
    let Some(text) = XmlSerializer::new().ok().and_then(|s| s.serialize_to_string(copy).ok())
    else {
        return;
    };
    save_text(name, &text, "image/svg+xml");
}

/// Saves a text as a file.
pub fn save_text(name: &str, text: &str, media: &str) {
    let bytes = js_sys::Uint8Array::from(text.as_bytes());
    let Ok(address) = ObjectUrl::new(&bytes, media) else { return };
    let anchor = web_sys::window()
        .and_then(|window| window.document())
        .and_then(|document| document.create_element("a").ok())
        .and_then(|anchor| anchor.dyn_into::<web_sys::HtmlAnchorElement>().ok());
    if let Some(anchor) = anchor {
        anchor.set_href(&address.0);
        anchor.set_download(name);
        anchor.click();
    }
    // The browser reads the bytes after this turn; the address lives a minute.
    gloo::timers::callback::Timeout::new(60_000, move || drop(address)).forget();
}
