//! Layers in tiles: each feature map to scale with its grid; a tile lights up all that it is made from.

use std::rc::Rc;

use tilewright_report::Kind;
use yew::prelude::*;

use super::chart::px;
use super::icon::{Glyph, icon};
use super::panel::Panel;
use super::parts::{kind_tag, trouble_box};
use crate::message::{Calibration, PlanFacts, TileBox, TiledMap, TilesFacts};
use crate::state::{Event, Place, Selection, View};
use crate::view_model::figures;
use crate::view_model::tiles::{
    Caption, Field, Scale, Spot, Way, caption, cells, halo, layer_of, path, receptive_field, rows,
    scales, spot_of, stepped, summary, title,
};
use tilewright_report::Diagnostic;

#[derive(PartialEq, Properties)]
pub struct Props {
    pub plan: Rc<PlanFacts>,
    /// How the model became int8: files that are int8 cannot be written in tiles.
    pub calibration: Calibration,
    pub trouble: Option<Diagnostic>,
    pub is_saving: bool,
    pub lit: Selection,
    pub is_stale: bool,
    pub is_maximised: bool,
    pub on: Callback<Event>,
}

#[component]
pub fn TilesPanel(props: &Props) -> Html {
    // What was chosen stays; what is pointed at goes before it.
    let chosen = use_state(|| None::<Spot>);
    let pointed = use_state(|| None::<Spot>);
    // A map that is scrolled to where the pointer rests is not pointed at.
    let rests_at = use_mut_ref(|| None);
    let Some(facts) = &props.plan.tiles else {
        return html! {
            <Panel view={View::Tiles} is_maximised={props.is_maximised} on={props.on.clone()}
                is_stale={props.is_stale}>
                <p class="waiting" data-testid="no-tiles">
                    { "All layers are made whole. Choose a grid of tiles above, such as 2x2: the layers of most \
                       active memory are then made tile by tile." }
                </p>
            </Panel>
        };
    };
    let of_others = props.lit.layer.and_then(|layer| spot_of(facts, layer));
    let is_there =
        |spot: &Spot| facts.maps.get(spot.map).is_some_and(|map| spot.tile < map.boxes.len());
    let spot = (*pointed).or(of_others).or(*chosen).filter(is_there);
    let fields = spot.map(|spot| receptive_field(facts, spot));
    let field = |map: usize| fields.as_ref().and_then(|fields| fields.get(map)?.as_ref());
    let point = {
        let (pointed, on, plan) = (pointed.clone(), props.on.clone(), Rc::clone(&props.plan));
        Callback::from(move |spot: Option<Spot>| {
            pointed.set(spot);
            let layer =
                spot.zip(plan.tiles.as_ref()).and_then(|(spot, facts)| layer_of(facts, spot));
            on.emit(Event::Hover(layer.map_or(Selection::NONE, Selection::layer)));
        })
    };
    let choose = {
        let (chosen, on, plan) = (chosen.clone(), props.on.clone(), Rc::clone(&props.plan));
        Callback::from(move |spot: Spot| {
            chosen.set(Some(spot));
            if let Some(words) = plan.tiles.as_ref().and_then(|facts| caption(facts, spot)) {
                on.emit(Event::Say(format!("{}: {}", words.tile, words.own)));
            }
        })
    };
    let actions = html! {
        if !matches!(props.calibration, Calibration::NotNeeded | Calibration::Impossible) {
            <button type="button" class="quiet" data-testid="save-tiled" disabled={props.is_saving}
                title="Save the float model in these tiles as an ONNX file"
                onclick={props.on.reform(|_| Event::SaveTiled)}>
                { icon(Glyph::Save) }{ "ONNX in tiles" }
            </button>
        }
    };
    let leave = point.reform(|_: MouseEvent| None);
    let enter = {
        let point = point.clone();
        Callback::from(move |(spot, event): (Spot, MouseEvent)| {
            let at = Some((event.client_x(), event.client_y()));
            if rests_at.replace(at) != at {
                point.emit(Some(spot));
            }
        })
    };
    html! {
        <Panel view={View::Tiles} is_maximised={props.is_maximised} on={props.on.clone()}
            is_stale={props.is_stale} {actions}>
            if let Some(trouble) = &props.trouble { { trouble_box(trouble, Place::Tiles, "", &props.on) } }
            <p data-testid="tiles-summary">{ summary(facts, &props.plan) }{ kind_tag(Kind::Counted) }</p>
            { legend() }
            { said(spot.and_then(|spot| caption(facts, spot))) }
            <div class="tile-maps" data-testid="tile-maps" onmouseleave={leave}>
                { for facts.maps.iter().zip(scales(facts)).enumerate().map(|(index, (map, scale))| {
                    let view = MapView { facts, map, index, scale, spot, field: field(index) };
                    view.draw(&props.plan, &point, &enter, &choose)
                }) }
            </div>
            <details>
                <summary>{ "The same as a table" }</summary>
                { table(facts) }
            </details>
        </Panel>
    }
}

/// What the shades mean.
fn legend() -> Html {
    let entry = |class: &'static str, text: &'static str| {
        html! {
            <li key={class}>
                <svg width="16" height="12" aria-hidden="true">
                    <rect width="16" height="12" class="tile-map" />
                    <rect width="16" height="12" {class} />
                </svg>
                { text }
            </li>
        }
    };
    html! {
        <ul class="legend">
            { entry("tile-own", "made for this tile") }
            { entry("tile-again", "neighbours make it too: recomputed") }
            { entry("tile-read", "neighbours read it too") }
            { entry("tile-halo", "halo of any tile") }
        </ul>
    }
}

/// A feature map as it is drawn.
struct MapView<'a> {
    facts: &'a TilesFacts,
    map: &'a TiledMap,
    index: usize,
    scale: Scale,
    spot: Option<Spot>,
    /// What the tile that is lit up needs of it.
    field: Option<&'a Field>,
}

impl MapView<'_> {
    fn draw(
        &self,
        plan: &Rc<PlanFacts>,
        point: &Callback<Option<Spot>>,
        enter: &Callback<(Spot, MouseEvent)>,
        choose: &Callback<Spot>,
    ) -> Html {
        let Self { facts, map, index, scale, spot, field } = *self;
        let pixel = scale.pixel;
        let [height, width] = [map.rows, map.columns].map(|side| f64::from(side) * pixel);
        let is_own = spot.is_some_and(|spot| spot.map == index);
        let tile = spot.map_or(0, |spot| spot.tile);
        let onkeydown = {
            let (plan, point, choose) = (Rc::clone(plan), point.clone(), choose.clone());
            Callback::from(move |event: KeyboardEvent| {
                let Some(facts) = &plan.tiles else { return };
                let is_plain = !(event.ctrl_key() || event.meta_key() || event.alt_key());
                let Some(way) = Way::of_key(&event.key()).filter(|_| is_plain) else { return };
                event.prevent_default();
                point.emit(None);
                choose.emit(Spot { map: index, tile: stepped(facts, tile, way) });
            })
        };
        let onfocus = {
            let choose = choose.clone();
            Callback::from(move |_: FocusEvent| choose.emit(Spot { map: index, tile }))
        };
        let shape = figures::shape([map.rows, map.columns, map.channels]);
        let label = format!(
            "{}, {shape}, in {} tiles. Arrow keys go from tile to tile.",
            title(map),
            map.boxes.len()
        );
        let shared = if index == 0 { "tile-read" } else { "tile-again" };
        let outline = |own: &TileBox| path(std::slice::from_ref(own), pixel);
        html! {
            <figure key={index} class={classes!("tile-figure", field.is_some().then_some("tile-lit"))}>
                <div tabindex="0" role="application" aria-roledescription="feature map" aria-label={label}
                    class="tile-frame" data-testid={format!("tile-map-{index}")} {onkeydown} {onfocus}>
                    <svg role="img" width={px(width + 2.0)} height={px(height + 2.0)}
                        viewBox={format!("-1 -1 {} {}", px(width + 2.0), px(height + 2.0))}>
                        <rect class="tile-map" width={px(width)} height={px(height)} />
                        <path class="tile-halo" d={path(&halo(facts, map), pixel)} />
                        if let Some(field) = field {
                            <path class="tile-own" data-testid={format!("field-{index}")}
                                data-rows={span(field.own.rows)} data-columns={span(field.own.columns)}
                                d={outline(&field.own)} />
                            <path class={shared} data-testid={format!("halo-{index}")}
                                data-pixels={field.shared_pixels().to_string()} d={path(&field.shared, pixel)} />
                        }
                        { for cells(facts, map).into_iter().enumerate().map(|(tile, cell)| {
                            let spot = Spot { map: index, tile };
                            let [top, bottom] = cell.rows.map(|at| at * pixel);
                            let [left, right] = cell.columns.map(|at| at * pixel);
                            html! {
                                <rect key={tile} class="tile-cell" x={px(left)} y={px(top)}
                                    width={px(right - left)} height={px(bottom - top)}
                                    data-testid={format!("tile-{index}-{tile}")}
                                    onmouseenter={enter.reform(move |event| (spot, event))}
                                    onclick={choose.reform(move |_| spot)} />
                            }
                        }) }
                        if let Some(field) = field {
                            <path class={classes!("tile-edge", is_own.then_some("tile-chosen"))}
                                d={outline(&field.own)} />
                        }
                    </svg>
                </div>
                <figcaption>
                    <span class="tile-name" title={map.name.clone()}>{ title(map) }</span>
                    <span class="muted">{ &map.op }</span>
                    <span class="muted">{ shape }</span>
                    if scale.times > 1 {
                        <span class="muted">{ format!("drawn {} times as large", scale.times) }</span>
                    }
                </figcaption>
            </figure>
        }
    }
}

/// An interval, for attributes.
fn span([start, end]: [u32; 2]) -> String {
    format!("{start}..{end}")
}

fn said(caption: Option<Caption>) -> Html {
    let Some(Caption { tile, own, from, again }) = caption else {
        return html! {
            <div class="tile-said" data-testid="tile-caption">
                <p class="muted">
                    { "Point at a tile, tap it, or reach a feature map with Tab and go with the arrow keys: all that \
                       the tile is made from lights up, back to the region's input." }
                </p>
            </div>
        };
    };
    html! {
        <div class="tile-said" data-testid="tile-caption">
            <p><strong>{ tile }</strong>{ format!(": {own}") }{ kind_tag(Kind::Counted) }</p>
            if !from.is_empty() { <p>{ from }</p> }
            if !again.is_empty() { <p>{ again }{ kind_tag(Kind::Counted) }</p> }
        </div>
    }
}

fn table(facts: &TilesFacts) -> Html {
    html! {
        <div class="table-scroll" tabindex="0" role="group" aria-label="Table of layers in tiles">
            <table data-testid="tiles-table">
                <thead><tr>
                    <th scope="col">{ "Layer" }</th>
                    <th scope="col">{ "Operator" }</th>
                    <th scope="col" class="number">{ "Whole" }</th>
                    <th scope="col" class="number">{ "Bytes" }{ kind_tag(Kind::Counted) }</th>
                    <th scope="col" class="number">{ "Largest tile" }</th>
                    <th scope="col" class="number">{ "Bytes" }{ kind_tag(Kind::Counted) }</th>
                    <th scope="col" class="number">{ "MACs" }{ kind_tag(Kind::Counted) }</th>
                    <th scope="col" class="number">{ "Made again" }{ kind_tag(Kind::Counted) }</th>
                </tr></thead>
                <tbody>
                    { for rows(facts).into_iter().enumerate().map(|(index, row)| html! {
                        <tr key={index}>
                            <th scope="row">{ row.name }</th>
                            <td>{ row.op }</td>
                            <td class="number">{ row.shape }</td>
                            <td class="number">{ figures::grouped(row.bytes) }</td>
                            <td class="number">{ row.box_words }</td>
                            <td class="number">{ figures::grouped(row.largest) }</td>
                            <td class="number">{ figures::grouped(row.macs) }</td>
                            <td class="number">{ figures::grouped(row.again) }</td>
                        </tr>
                    }) }
                </tbody>
            </table>
        </div>
    }
}
