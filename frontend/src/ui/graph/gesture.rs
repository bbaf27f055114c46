//! What pointers do on the sheet: one moves it, two change its size as well, a wheel too.

use web_sys::{HtmlElement, PointerEvent, WheelEvent};

use super::scene::Scene;
use crate::view_model::graph::{Hit, hit};

/// Pixels that a pointer may stray and still click.
const STRAY: f64 = 4.0;
/// How fast a wheel changes the size, for each pixel of its travel; fingers on a pad turn slower.
const WHEEL: f64 = 0.0015;
const PAD: f64 = 0.01;
/// Pixels of a wheel's line.
const LINE: f64 = 16.0;

/// Pointers that are down.
#[derive(Default)]
pub struct Pointers {
    down: Vec<(i32, [f64; 2])>,
    /// Whether they have moved, so that they do not click.
    has_moved: bool,
    travelled: f64,
}

/// Where an event is on an element.
fn place(element: &HtmlElement, x: i32, y: i32) -> [f64; 2] {
    let rectangle = element.get_bounding_client_rect();
    [f64::from(x) - rectangle.left(), f64::from(y) - rectangle.top()]
}

impl Pointers {
    /// A pointer goes down.
    pub fn press(&mut self, element: &HtmlElement, event: &PointerEvent) {
        // Without capture, what happens outside is lost: no harm.
        let _ = element.set_pointer_capture(event.pointer_id());
        if self.down.is_empty() {
            self.has_moved = false;
            self.travelled = 0.0;
        }
        self.down.retain(|(id, _)| *id != event.pointer_id());
        self.down.push((event.pointer_id(), place(element, event.client_x(), event.client_y())));
        self.has_moved |= self.down.len() > 1;
    }

    /// A pointer moves; whether the sheet did.
    pub fn drag(&mut self, element: &HtmlElement, event: &PointerEvent, scene: &mut Scene) -> bool {
        let at = place(element, event.client_x(), event.client_y());
        let Some(index) = self.down.iter().position(|(id, _)| *id == event.pointer_id()) else {
            return false;
        };
        let before = std::mem::replace(&mut self.down[index].1, at);
        let by = [at[0] - before[0], at[1] - before[1]];
        self.travelled += by[0].abs() + by[1].abs();
        self.has_moved |= self.travelled > STRAY;
        if !self.has_moved {
            return false;
        }
        let other = self.down.iter().find(|(id, _)| *id != event.pointer_id());
        match other.map(|(_, place)| *place) {
            None => scene.look(|camera| camera.moved(by)),
            Some(other) => {
                let apart = |a: [f64; 2]| (a[0] - other[0]).hypot(a[1] - other[1]).max(1.0);
                let factor = apart(at) / apart(before);
                let middle = [(before[0] + other[0]) / 2.0, (before[1] + other[1]) / 2.0];
                let by = by.map(|length| length / 2.0);
                scene.look(|camera| camera.zoomed(factor, middle).moved(by));
            }
        }
        true
    }

    /// A pointer goes up or is lost; whether it clicked.
    pub fn release(&mut self, event: &PointerEvent) -> bool {
        let was_down = self.down.iter().any(|(id, _)| *id == event.pointer_id());
        self.down.retain(|(id, _)| *id != event.pointer_id());
        was_down && self.down.is_empty() && !self.has_moved
    }

    /// Whether none is down.
    pub fn are_up(&self) -> bool {
        self.down.is_empty()
    }
}

/// What lies under a pointer.
pub fn under(element: &HtmlElement, event: &PointerEvent, scene: &mut Scene) -> Option<Hit> {
    let at = place(element, event.client_x(), event.client_y());
    let point = scene.camera().sheet(at);
    hit(&scene.graph, &scene.sheet, point)
}

/// A wheel turns.
pub fn turn(element: &HtmlElement, event: &WheelEvent, scene: &mut Scene) {
    let at = place(element, event.client_x(), event.client_y());
    let unit = if event.delta_mode() == WheelEvent::DOM_DELTA_LINE { LINE } else { 1.0 };
    let speed = if event.ctrl_key() { PAD } else { WHEEL };
    let factor = (-event.delta_y() * unit * speed).clamp(-1.0, 1.0).exp();
    scene.look(|camera| camera.zoomed(factor, at));
}
