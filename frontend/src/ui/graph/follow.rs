//! The scene follows the page: what is lit up, the size of the canvas, the theme, the wheel.

use std::rc::Rc;

use gloo::events::{EventListener, EventListenerOptions};
use wasm_bindgen::JsCast;
use web_sys::{HtmlCanvasElement, HtmlElement, WheelEvent};
use yew::prelude::*;

use super::gesture::turn;
use super::scene::{Shared, redraw};
use crate::message::GraphFacts;
use crate::state::Theme;
use crate::view_model::graph::{Camera, Lit, Sheet};

/// How much a key or a button changes the size.
const STEP: f64 = 1.3;

/// A change of what is seen.
#[derive(Clone, Copy)]
pub enum Change {
    Smaller,
    Larger,
    /// All of it.
    Fit,
}

/// What a scene shows.
#[derive(Clone)]
pub struct Shown {
    pub graph: Rc<GraphFacts>,
    pub sheet: Rc<Sheet>,
    /// What is lit up.
    pub lights: Lit,
    /// The node that was chosen.
    pub chosen: Option<usize>,
    /// Width of the canvas in pixels; 0 until it is known.
    pub width: u32,
    pub theme: Theme,
    /// Whether it has the page for itself.
    pub is_maximised: bool,
}

/// Changes what is seen.
pub fn changed(scene: &Shared, canvas: &NodeRef, change: Change) {
    let Some(canvas) = canvas.cast::<HtmlCanvasElement>() else { return };
    {
        let mut scene = scene.borrow_mut();
        let (sheet, view) = (scene.sheet.size, scene.view);
        let middle = view.map(|length| length / 2.0);
        scene.look(|camera| match change {
            Change::Smaller => camera.zoomed(1.0 / STEP, middle),
            Change::Larger => camera.zoomed(STEP, middle),
            Change::Fit => Camera::fit(sheet, view),
        });
    }
    redraw(scene, &canvas);
}

/// Keeps the scene as it is to be shown, and draws it when that changes.
#[hook]
pub fn use_scene(canvas: &NodeRef, scene: &Shared, shown: Shown) {
    let taken = (Rc::as_ptr(&shown.graph), shown.is_maximised, shown.width > 0);
    {
        let (scene, shown) = (Rc::clone(scene), shown.clone());
        use_effect_with(taken, move |_| scene.borrow_mut().take(shown.graph, shown.sheet));
    }
    {
        // What was chosen elsewhere comes into view; what was clicked here is in view.
        let (scene, canvas) = (Rc::clone(scene), canvas.clone());
        use_effect_with((shown.chosen, taken), move |(chosen, _)| {
            let (Some(node), Some(canvas)) = (*chosen, canvas.cast::<HtmlCanvasElement>()) else {
                return;
            };
            let mut scene = scene.borrow_mut();
            scene.view = size_of(&canvas);
            if !std::mem::take(&mut scene.was_clicked) && scene.view[0] > 0.0 {
                scene.show(node);
            }
        });
    }
    let (scene, canvas) = (Rc::clone(scene), canvas.clone());
    // The graph by its place in memory: comparing all of it at each move of the pointer takes long.
    let drawn = (shown.lights, shown.chosen, shown.width, shown.theme, taken);
    use_effect_with(drawn, move |(lights, chosen, ..)| {
        let Some(canvas) = canvas.cast::<HtmlCanvasElement>() else { return };
        {
            let mut scene = scene.borrow_mut();
            scene.view = size_of(&canvas);
            scene.lit = *lights;
            scene.chosen = *chosen;
        }
        redraw(&scene, &canvas);
    });
}

fn size_of(canvas: &HtmlCanvasElement) -> [f64; 2] {
    [f64::from(canvas.client_width()), f64::from(canvas.client_height())]
}

/// The wheel, and the system's theme, which no event of the page tells.
#[hook]
pub fn use_wheel(frame: &NodeRef, canvas: &NodeRef, scene: &Shared, is_maximised: bool) {
    let (frame, canvas, scene) = (frame.clone(), canvas.clone(), Rc::clone(scene));
    use_effect_with(is_maximised, move |is_maximised| {
        let is_maximised = *is_maximised;
        let element = frame.cast::<HtmlElement>();
        let active = EventListenerOptions::enable_prevent_default();
        let wheel = element.map(|element| {
            let (target, canvas, scene) = (element.clone(), canvas.clone(), Rc::clone(&scene));
            EventListener::new_with_options(&element, "wheel", active, move |event| {
                let Some(event) = event.dyn_ref::<WheelEvent>() else { return };
                // A page that is scrolled past the graph must not stop at it.
                let has_focus = target.matches(":focus").unwrap_or(false);
                if !(is_maximised || has_focus || event.ctrl_key()) {
                    return;
                }
                event.prevent_default();
                turn(&target, event, &mut scene.borrow_mut());
                if let Some(canvas) = canvas.cast::<HtmlCanvasElement>() {
                    redraw(&scene, &canvas);
                }
            })
        });
        let window = web_sys::window();
        let scheme = window
            .and_then(|window| window.match_media("(prefers-color-scheme: dark)").ok().flatten());
        let theme = scheme.map(|scheme| {
            EventListener::new(&scheme, "change", move |_| {
                if let Some(canvas) = canvas.cast::<HtmlCanvasElement>() {
                    redraw(&scene, &canvas);
                }
            })
        });
        move || drop((wheel, theme))
    });
}
