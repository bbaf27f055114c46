//! The graph of operators: a drawing to move in, linked with all other views.

mod facts;
mod follow;
mod gesture;
mod hand;
mod scene;
mod search;

use std::rc::Rc;

use web_sys::HtmlCanvasElement;
use yew::prelude::*;

use self::facts::{families, net_words, node_words, table};
use self::follow::{Change, Shown, changed, use_scene, use_wheel};
use self::gesture::Pointers;
use self::hand::Hand;
use self::scene::{Shared, palette};
use self::search::Search;
use super::chart::use_width;
use super::icon::{Glyph, icon};
use super::panel::Panel;
use super::parts::{legend, trouble_box};
use super::save::{Drawn, save_drawn};
use crate::message::{GraphFacts, PlanFacts};
use crate::state::{Event, Place, Selection, Theme, View};
use crate::view_model::graph::{Hit, Sheet, layer_of, lit, picture, spoken, summary};
use tilewright_report::Diagnostic;

#[derive(PartialEq, Properties)]
pub struct Props {
    /// The graph, once it is laid out.
    pub graph: Option<Rc<GraphFacts>>,
    /// Whether it is being laid out.
    pub is_drawing: bool,
    pub trouble: Option<Diagnostic>,
    pub plan: Option<Rc<PlanFacts>>,
    /// Name of the model.
    pub model: AttrValue,
    pub lit: Selection,
    /// What was chosen, whatever the pointer is over.
    pub selected: Selection,
    pub theme: Theme,
    /// Whether it is drawn as the model was given, though the plan's layers are in tiles.
    pub is_whole: bool,
    pub is_maximised: bool,
    pub on: Callback<Event>,
}

#[component]
pub fn GraphPanel(props: &Props) -> Html {
    match &props.graph {
        Some(graph) => html! {
            <Sketch graph={Rc::clone(graph)} plan={props.plan.clone()} model={props.model.clone()}
                lit={props.lit} selected={props.selected} theme={props.theme} is_whole={props.is_whole}
                is_maximised={props.is_maximised} on={props.on.clone()} />
        },
        None => html! {
            <Panel view={View::Graph} is_maximised={props.is_maximised} on={props.on.clone()}>
                if let Some(trouble) = &props.trouble {
                    { trouble_box(trouble, Place::Graph, "", &props.on) }
                }
                if props.is_drawing {
                    <p class="waiting" data-testid="graph-waiting">{ "Laying out the graph…" }</p>
                } else {
                    <p class="waiting">
                        { "The graph is not drawn. " }
                        <button type="button" class="button" data-testid="draw-graph"
                            onclick={props.on.reform(|_| Event::DrawGraph)}>{ "Draw it" }</button>
                    </p>
                }
            </Panel>
        },
    }
}

#[derive(PartialEq, Properties)]
struct SketchProps {
    graph: Rc<GraphFacts>,
    plan: Option<Rc<PlanFacts>>,
    model: AttrValue,
    lit: Selection,
    selected: Selection,
    theme: Theme,
    is_whole: bool,
    is_maximised: bool,
    on: Callback<Event>,
}

#[component]
fn Sketch(props: &SketchProps) -> Html {
    let graph = &props.graph;
    let plan = props.plan.as_deref();
    let (frame, canvas) = (use_node_ref(), use_node_ref());
    let width = use_width(frame.clone(), true);
    let sheet = use_memo(Rc::clone(graph), |graph| Sheet::of(graph));
    let scene: Shared = (*use_memo((), |()| Shared::default())).clone();
    let pointers = use_mut_ref(Pointers::default);
    // A node that is no layer of the plan: no other view knows it.
    let alone = use_state(|| None::<usize>);
    let hovered = use_state(|| None::<Hit>);
    let table_is_open = use_state(|| false);
    let chosen = lit(graph, plan, props.selected).node.or(*alone);
    let mut lights = lit(graph, plan, props.lit);
    match *hovered {
        Some(Hit::Node(node)) => lights.node = Some(node),
        Some(Hit::Net(net)) => lights.net = Some(net),
        None => {}
    }
    use_wheel(&frame, &canvas, &scene, props.is_maximised);
    let shown = Shown {
        graph: Rc::clone(graph),
        sheet: Rc::clone(&sheet),
        lights,
        chosen,
        width: width as u32,
        theme: props.theme,
        is_maximised: props.is_maximised,
    };
    use_scene(&canvas, &scene, shown);

    let choose = {
        let (graph, plan, on) = (Rc::clone(graph), props.plan.clone(), props.on.clone());
        let alone = alone.clone();
        Callback::from(move |index: usize| {
            let Some(node) = graph.nodes.get(index) else { return };
            let layer = layer_of(&graph, node, plan.as_deref());
            alone.set(layer.is_none().then_some(index));
            let selection = layer.map_or(Selection::NONE, Selection::layer);
            on.emit(Event::Reach(selection, spoken(&graph, node, plan.as_deref())));
        })
    };
    let drawn = {
        let (graph, sheet, canvas) = (Rc::clone(graph), Rc::clone(&sheet), canvas.clone());
        Callback::from(move |()| {
            let palette = palette(&canvas.cast::<HtmlCanvasElement>()?)?;
            let (text, size) = picture(&graph, &sheet, &palette);
            Some(Drawn { text, size })
        })
    };
    let look = |glyph: Glyph, title: &'static str, id: &'static str, change: Change| {
        let (scene, canvas) = (Rc::clone(&scene), canvas.clone());
        let onclick = Callback::from(move |_: MouseEvent| changed(&scene, &canvas, change));
        html! {
            <button type="button" class="quiet icon-button" {title} aria-label={title}
                data-testid={id} {onclick}>{ icon(glyph) }</button>
        }
    };
    let actions = html! {
        <>
            { look(Glyph::Smaller, "Smaller", "graph-smaller", Change::Smaller) }
            { look(Glyph::Larger, "Larger", "graph-larger", Change::Larger) }
            { look(Glyph::Fit, "Show all of the graph", "graph-fit", Change::Fit) }
            { save_drawn(&drawn, &format!("{}-graph", props.model), "graph", &props.on) }
        </>
    };
    let text = summary(graph);
    let keys = "Arrow keys follow the edges and go along a layer, plus, minus and zero change the \
                size, slash searches.";
    let hand = Hand {
        graph: Rc::clone(graph),
        sheet: Rc::clone(&sheet),
        plan: props.plan.clone(),
        scene: Rc::clone(&scene),
        canvas: canvas.clone(),
        pointers,
        choose: choose.clone(),
        alone,
        hovered: hovered.clone(),
        on: props.on.clone(),
    };
    let said = match *hovered {
        Some(Hit::Net(net)) => net_words(graph, net),
        Some(Hit::Node(node)) => node_words(graph, Some(node), plan),
        None => node_words(graph, lights.node.or(chosen), plan),
    };
    html! {
        <Panel view={View::Graph} is_maximised={props.is_maximised} on={props.on.clone()} {actions}>
            <div class="graph-head">
                { legend(families(graph)) }
                { form(props) }
                <Search graph={Rc::clone(graph)} on_choose={choose.clone()} />
            </div>
            <div ref={frame} class="graph-frame" tabindex="0" role="application"
                aria-roledescription="graph" aria-label={format!("{text} {keys}")}
                data-testid="graph" onkeydown={hand.keydown(chosen)} onpointerdown={hand.press()}
                onpointermove={hand.point()} onpointerup={hand.release()}
                onpointercancel={hand.lose()} onpointerleave={hand.leave()}>
                <canvas ref={canvas.clone()} class="graph-canvas"></canvas>
            </div>
            <div class="graph-details" data-testid="graph-details">{ said }</div>
            <p class="muted detail">
                { format!("{text} Edges run downwards and carry the shape. Drag to move; a wheel \
                    changes the size once the graph has the focus, two fingers always do.") }
            </p>
            <details ontoggle={
                let table_is_open = table_is_open.clone();
                Callback::from(move |event: yew::Event| {
                    let details: Option<web_sys::Element> = event.target_dyn_into();
                    table_is_open.set(details.is_some_and(|details| details.has_attribute("open")));
                })
            }>
                <summary>{ "The same as a table" }</summary>
                if *table_is_open { { table(graph, &sheet, &choose) } }
            </details>
        </Panel>
    }
}

/// Whether the graph is drawn as the model was given, or with its tiles; nothing for a plan without tiles.
fn form(props: &SketchProps) -> Html {
    let Some(tiles) = props.plan.as_ref().and_then(|plan| plan.tiles.as_ref()) else {
        return html! {};
    };
    let way = |is_whole: bool, id: &'static str, text: String| {
        html! {
            <label class="choice">
                <input type="radio" name="graph-form" checked={props.is_whole == is_whole} data-testid={id}
                    onchange={props.on.reform(move |_| Event::DrawWhole(is_whole))} />
                { text }
            </label>
        }
    };
    html! {
        <fieldset class="inputs graph-form">
            <legend class="visually-hidden">{ "Graph" }</legend>
            { way(false, "graph-in-tiles", format!("In {} tiles, as planned", tiles.region.grid)) }
            { way(true, "graph-whole", "As given".to_owned()) }
        </fieldset>
    }
}
