//! What hands do on the sheet: keys and pointers choose, point and move.

use std::cell::RefCell;
use std::rc::Rc;

use wasm_bindgen::JsCast;
use web_sys::{HtmlCanvasElement, HtmlElement, PointerEvent};
use yew::prelude::*;

use super::follow::{Change, changed};
use super::gesture::{Pointers, under};
use super::scene::{Shared, redraw};
use crate::message::{GraphFacts, PlanFacts};
use crate::state::{Event, Selection};
use crate::view_model::graph::{Hit, Move, Sheet, layer_of, stepped, tensor_of};

/// What hands reach.
#[derive(Clone)]
pub struct Hand {
    pub graph: Rc<GraphFacts>,
    pub sheet: Rc<Sheet>,
    /// The plan, if there is one.
    pub plan: Option<Rc<PlanFacts>>,
    /// What is drawn.
    pub scene: Shared,
    /// Where it is drawn.
    pub canvas: NodeRef,
    /// Pointers that are down.
    pub pointers: Rc<RefCell<Pointers>>,
    /// Chooses a node.
    pub choose: Callback<usize>,
    /// A chosen node that no other view knows: it is no layer of the plan.
    pub alone: UseStateHandle<Option<usize>>,
    /// What the pointer is over.
    pub hovered: UseStateHandle<Option<Hit>>,
    /// Tells the page.
    pub on: Callback<Event>,
}

impl Hand {
    /// What keys do.
    pub fn keydown(&self, chosen: Option<usize>) -> Callback<KeyboardEvent> {
        let Self { graph, sheet, scene, canvas, choose, alone, on, .. } = self.clone();
        Callback::from(move |event: KeyboardEvent| {
            if event.ctrl_key() || event.meta_key() || event.alt_key() {
                return;
            }
            let key = event.key();
            if let Some(step) = Move::of_key(&key) {
                if let Some(node) = stepped(&graph, &sheet, chosen, step) {
                    choose.emit(node);
                }
            } else {
                match key.as_str() {
                    "+" | "=" => changed(&scene, &canvas, Change::Larger),
                    "-" => changed(&scene, &canvas, Change::Smaller),
                    "0" => changed(&scene, &canvas, Change::Fit),
                    "Escape" => {
                        alone.set(None);
                        on.emit(Event::Reach(Selection::NONE, "Nothing is selected".to_owned()));
                    }
                    "/" => focus_search(&canvas),
                    _ => return,
                }
            }
            event.prevent_default();
        })
    }

    /// A pointer goes down.
    pub fn press(&self) -> Callback<PointerEvent> {
        let pointers = Rc::clone(&self.pointers);
        Callback::from(move |event: PointerEvent| {
            if let Some(frame) = frame_of(&event).filter(|_| event.button() == 0) {
                pointers.borrow_mut().press(&frame, &event);
            }
        })
    }

    /// A pointer moves.
    pub fn point(&self) -> Callback<PointerEvent> {
        let Self { graph, plan, scene, canvas, pointers, hovered, on, .. } = self.clone();
        Callback::from(move |event: PointerEvent| {
            let canvas = canvas.cast::<HtmlCanvasElement>();
            let (Some(frame), Some(canvas)) = (frame_of(&event), canvas) else { return };
            let has_moved = pointers.borrow_mut().drag(&frame, &event, &mut scene.borrow_mut());
            if has_moved {
                return redraw(&scene, &canvas);
            }
            if !pointers.borrow().are_up() {
                return;
            }
            let hit = under(&frame, &event, &mut scene.borrow_mut());
            if hit != *hovered {
                hovered.set(hit);
                on.emit(Event::Hover(selection_of(&graph, hit, plan.as_deref())));
            }
        })
    }

    /// A pointer goes up.
    pub fn release(&self) -> Callback<PointerEvent> {
        let Self { graph, plan, scene, pointers, choose, alone, on, .. } = self.clone();
        Callback::from(move |event: PointerEvent| {
            if !pointers.borrow_mut().release(&event) {
                return;
            }
            let Some(frame) = frame_of(&event) else { return };
            let hit = under(&frame, &event, &mut scene.borrow_mut());
            scene.borrow_mut().was_clicked = true;
            match hit {
                Some(Hit::Node(node)) => choose.emit(node),
                Some(Hit::Net(_)) => {
                    alone.set(None);
                    on.emit(Event::Select(selection_of(&graph, hit, plan.as_deref())));
                }
                None => {
                    alone.set(None);
                    on.emit(Event::Reach(Selection::NONE, String::new()));
                }
            }
        })
    }

    /// A pointer is lost.
    pub fn lose(&self) -> Callback<PointerEvent> {
        let pointers = Rc::clone(&self.pointers);
        Callback::from(move |event: PointerEvent| {
            pointers.borrow_mut().release(&event);
        })
    }

    /// A pointer leaves.
    pub fn leave(&self) -> Callback<PointerEvent> {
        let (hovered, on) = (self.hovered.clone(), self.on.clone());
        Callback::from(move |_: PointerEvent| {
            if hovered.is_some() {
                hovered.set(None);
                on.emit(Event::Hover(Selection::NONE));
            }
        })
    }
}

fn focus_search(canvas: &NodeRef) {
    let panel = canvas.cast::<HtmlElement>().and_then(|canvas| canvas.closest(".panel").ok()?);
    let input = panel.and_then(|panel| panel.query_selector("input[role=combobox]").ok()?);
    if let Some(input) = input.and_then(|input| input.dyn_into::<HtmlElement>().ok()) {
        let _ = input.focus();
    }
}

fn frame_of(event: &PointerEvent) -> Option<HtmlElement> {
    let target: web_sys::Element = event.target()?.dyn_into().ok()?;
    target.closest(".graph-frame").ok()??.dyn_into().ok()
}

/// What other views know of it.
fn selection_of(graph: &GraphFacts, hit: Option<Hit>, plan: Option<&PlanFacts>) -> Selection {
    match hit {
        Some(Hit::Node(node)) => graph
            .nodes
            .get(node)
            .and_then(|node| layer_of(graph, node, plan))
            .map_or(Selection::NONE, Selection::layer),
        Some(Hit::Net(net)) => {
            tensor_of(graph, net, plan).map_or(Selection::NONE, Selection::tensor)
        }
        None => Selection::NONE,
    }
}
