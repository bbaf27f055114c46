//! Which part of the axis is looked at, and the wheel that changes it.

use std::rc::Rc;

use gloo::events::{EventListener, EventListenerOptions};
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, WheelEvent};
use yew::prelude::*;

use crate::view_model::timeline::Window;

/// How fast a wheel changes the size, for each pixel of its travel; fingers on a pad turn slower.
const WHEEL: f64 = 0.0015;
const PAD: f64 = 0.01;
/// Pixels of a wheel's line.
const LINE: f64 = 16.0;

/// What is looked at; all of the axis until something else is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Look {
    window: Option<Window>,
}

/// A change of it, on an axis that ends at `end_us`. Shares are those of what is looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Turn {
    /// All of the axis.
    All,
    /// Larger by a factor about a place.
    Zoom { factor: f64, share: f64, end_us: f64 },
    /// Along the axis.
    Move { share: f64, end_us: f64 },
    /// So far that a stretch is seen.
    Show { from_us: f64, to_us: f64, end_us: f64 },
}

impl Look {
    /// The part of an axis that ends there.
    pub fn window(&self, end_us: f64) -> Window {
        let all = Window::all(end_us);
        let window = self.window.filter(|window| window.length() < all.length());
        window.map_or(all, |window| window.moved(0.0, end_us))
    }
}

impl Reducible for Look {
    type Action = Turn;

    fn reduce(self: Rc<Self>, turn: Turn) -> Rc<Self> {
        let window = match turn {
            Turn::All => None,
            Turn::Zoom { factor, share, end_us } => {
                let now = self.window(end_us);
                Some(now.zoomed(factor, now.from_us + share * now.length(), end_us))
            }
            Turn::Move { share, end_us } => {
                let now = self.window(end_us);
                Some(now.moved(share * now.length(), end_us))
            }
            Turn::Show { from_us, to_us, end_us } => {
                Some(self.window(end_us).showing(from_us, to_us, end_us))
            }
        };
        Rc::new(Self { window })
    }
}

/// The wheel changes the size about the pointer, sideways it moves along the axis. A page that is
/// scrolled past the lanes must not stop at them: they turn once they have the focus.
#[hook]
pub fn use_wheel(node: &NodeRef, look: &UseReducerHandle<Look>, end_us: f64) {
    let (node, look) = (node.clone(), look.dispatcher());
    use_effect_with(end_us, move |end_us| {
        let end_us = *end_us;
        let active = EventListenerOptions::enable_prevent_default();
        let wheel = node.cast::<HtmlElement>().map(|element| {
            let target = element.clone();
            EventListener::new_with_options(&element, "wheel", active, move |event| {
                let Some(event) = event.dyn_ref::<WheelEvent>() else { return };
                let has_focus = target.matches(":focus").unwrap_or(false);
                if !(has_focus || event.ctrl_key()) {
                    return;
                }
                event.prevent_default();
                let place = target.get_bounding_client_rect();
                let width = place.width().max(1.0);
                let unit =
                    if event.delta_mode() == WheelEvent::DOM_DELTA_LINE { LINE } else { 1.0 };
                if event.delta_x().abs() > event.delta_y().abs() {
                    return look
                        .dispatch(Turn::Move { share: event.delta_x() * unit / width, end_us });
                }
                let speed = if event.ctrl_key() { PAD } else { WHEEL };
                let factor = (-event.delta_y() * unit * speed).clamp(-1.0, 1.0).exp();
                let share = (f64::from(event.client_x()) - place.left()) / width;
                look.dispatch(Turn::Zoom { factor, share, end_us });
            })
        });
        move || drop(wheel)
    });
}
