//! Saving drawings and texts as files.

use js_sys::Promise;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{
    Blob, CanvasRenderingContext2d, Document, Element, HtmlCanvasElement, HtmlImageElement, Window,
    XmlSerializer,
};
use yew::prelude::*;

use super::icon::{Glyph, icon};
use crate::message::ScheduleFile;
use crate::session::{ObjectUrl, save};
use crate::state::Event;

/// Properties that a saved drawing needs, since it has no style sheet.
const DRAWN: [&str; 10] = [
    "fill",
    "stroke",
    "stroke-width",
    "stroke-dasharray",
    "font-family",
    "font-size",
    "font-weight",
    "text-anchor",
    "opacity",
    "paint-order",
];

/// Pixels of a picture for each CSS pixel.
const DENSITY: f64 = 2.0;
/// Pixels that a browser's canvas takes in each direction.
const MOST_PIXELS: f64 = 16_384.0;
const SVG: &str = "http://www.w3.org/2000/svg";

/// Buttons that save the drawing in an element as it looks now, under a name without ending.
pub fn save_buttons(
    drawing: &NodeRef,
    name: &str,
    what: &'static str,
    on: &Callback<Event>,
) -> Html {
    let drawing = drawing.clone();
    let drawn = Callback::from(move |()| Drawn::of(&drawing.cast::<Element>()?));
    save_drawn(&drawn, name, what, on)
}

/// Buttons that save what `drawn` gives, if it does, under a name without ending.
pub fn save_drawn(
    drawn: &Callback<(), Option<Drawn>>,
    name: &str,
    what: &'static str,
    on: &Callback<Event>,
) -> Html {
    let button = |ending: &'static str, save: fn(Drawn, &str, &Callback<Event>)| {
        let (drawn, on) = (drawn.clone(), on.clone());
        let name = format!("{name}.{ending}");
        let onclick = Callback::from(move |_: MouseEvent| match drawn.emit(()) {
            Some(drawn) => save(drawn, &name, &on),
            None => on.emit(Event::Say(format!("{name} could not be made"))),
        });
        let word = ending.to_ascii_uppercase();
        html! {
            <button type="button" class="quiet" {onclick} data-testid={format!("save-{}-{ending}", what)}
                title={format!("Save the {} as {word}", what)}>
                { icon(Glyph::Save) }{ word }
            </button>
        }
    };
    html! { <>{ button("svg", save_svg) }{ button("png", save_png) }</> }
}

/// A drawing that needs nothing else, with its size in CSS pixels.
pub struct Drawn {
    /// SVG.
    pub text: String,
    /// Width and height.
    pub size: [f64; 2],
}

impl Drawn {
    /// Of the drawing in `root`, as it looks now, on the ground that it stands on.
    fn of(root: &Element) -> Option<Self> {
        let window = web_sys::window()?;
        let svg = root.query_selector("svg[role=img]").ok()??;
        let copy: Element = svg.clone_node_with_deep(true).ok()?.dyn_into().ok()?;
        set_styles(&window, &svg, &copy);
        let place = svg.get_bounding_client_rect();
        let size = [place.width(), place.height()];
        let document = window.document()?;
        if let Some(patterns) = document.get_element_by_id("patterns")
            && let Some(defs) = patterns.query_selector("defs").ok().flatten()
        {
            let own: Element = defs.clone_node_with_deep(true).ok()?.dyn_into().ok()?;
            set_styles(&window, &defs, &own);
            copy.insert_before(&own, copy.first_child().as_ref()).ok()?;
        }
        let ground = ground(&window, &document, root)?;
        copy.insert_before(&ground, copy.first_child().as_ref()).ok()?;
        copy.set_attribute("xmlns", SVG).ok()?;
        let text = XmlSerializer::new().ok()?.serialize_to_string(&copy).ok()?;
        Some(Self { text, size })
    }
}

/// Writes the styles of all elements in `from` into those of its copy, which has the same elements
/// in the same order.
fn set_styles(window: &Window, from: &Element, copy: &Element) {
    let (Ok(from), Ok(to)) = (from.query_selector_all("*"), copy.query_selector_all("*")) else {
        return;
    };
    for index in 0..from.length() {
        let element = |node: Option<web_sys::Node>| node?.dyn_into::<Element>().ok();
        let (Some(from), Some(to)) = (element(from.item(index)), element(to.item(index))) else {
            continue;
        };
        let Ok(Some(style)) = window.get_computed_style(&from) else { continue };
        for property in DRAWN {
            if let Ok(value) = style.get_property_value(property)
                && !value.is_empty()
            {
                let _ = to.set_attribute(property, &value);
            }
        }
        let _ = to.remove_attribute("class");
    }
}

/// A rectangle in the colour of the panel around the drawing.
fn ground(window: &Window, document: &Document, root: &Element) -> Option<Element> {
    let panel = root.closest(".panel").ok()??;
    let style = window.get_computed_style(&panel).ok()??;
    let ground = document.create_element_ns(Some(SVG), "rect").ok()?;
    for (name, value) in [("width", "100%"), ("height", "100%")] {
        ground.set_attribute(name, value).ok()?;
    }
    ground.set_attribute("fill", &style.get_property_value("background-color").ok()?).ok()?;
    Some(ground)
}

fn save_svg(drawn: Drawn, name: &str, _: &Callback<Event>) {
    save_text(name, &drawn.text, "image/svg+xml");
}

fn save_png(drawn: Drawn, name: &str, on: &Callback<Event>) {
    let (name, on) = (name.to_owned(), on.clone());
    spawn_local(async move {
        match painted(&drawn).await {
            Ok(picture) => save_blob(&name, &picture),
            Err(_) => on.emit(Event::Say(format!("{name} could not be made"))),
        }
    });
}

/// The drawing as a picture.
async fn painted(drawing: &Drawn) -> Result<Blob, JsValue> {
    let bytes = js_sys::Uint8Array::from(drawing.text.as_bytes());
    let address = ObjectUrl::new(&bytes, "image/svg+xml")?;
    let image = HtmlImageElement::new()?;
    image.set_src(&address.0);
    JsFuture::from(image.decode()).await?;
    let [width, height] = drawing.size;
    let density = DENSITY.min(MOST_PIXELS / width.max(height).max(1.0));
    let document = web_sys::window().and_then(|window| window.document());
    let canvas = document.ok_or("no document")?.create_element("canvas")?;
    let canvas: HtmlCanvasElement = canvas.dyn_into()?;
    canvas.set_width((width * density) as u32);
    canvas.set_height((height * density) as u32);
    let context = canvas.get_context("2d")?.ok_or("no canvas")?;
    let context: CanvasRenderingContext2d = context.dyn_into()?;
    context.scale(density, density)?;
    context.draw_image_with_html_image_element_and_dw_and_dh(&image, 0.0, 0.0, width, height)?;
    let promise = Promise::new(&mut |succeed, _| {
        let give = Closure::once_into_js(move |blob: JsValue| {
            let _ = succeed.call1(&JsValue::NULL, &blob);
        });
        let _ = canvas.to_blob(give.unchecked_ref());
    });
    JsFuture::from(promise).await?.dyn_into()
}

/// Saves a text as a file.
pub fn save_text(name: &str, text: &str, media: &str) {
    let bytes = js_sys::Uint8Array::from(text.as_bytes());
    if let Ok(address) = ObjectUrl::new(&bytes, media) {
        save(name, address);
    }
}

fn save_blob(name: &str, blob: &Blob) {
    if let Ok(address) = ObjectUrl::of(blob) {
        save(name, address);
    }
}

/// A button that makes and saves a file of the plan's schedule.
pub fn save_schedule(file: ScheduleFile, is_saving: bool, on: &Callback<Event>) -> Html {
    html! {
        <button type="button" class="quiet" disabled={is_saving} data-testid={file.id()} title={file.about()}
            onclick={on.reform(move |_| Event::SaveSchedule(file))}>
            { icon(Glyph::Save) }{ file.title() }
        </button>
    }
}
