//! A memory's map on the screen.

use wasm_bindgen::{Clamped, JsCast, JsValue};
use web_sys::{CanvasRenderingContext2d, CssStyleDeclaration, HtmlCanvasElement, ImageData};
use yew::prelude::*;

use super::ByAddress;
use crate::state::Theme;
use crate::view_model::figures::fixed;
use crate::view_model::film::{Area, Colours, Grid, Rect, colour};

#[derive(PartialEq, Properties)]
pub struct Props {
    pub place: Rect,
    pub grid: Grid,
    pub areas: ByAddress<Vec<Area>>,
    /// The memory's bytes, if they are known.
    pub content: Option<ByAddress<[u8]>>,
    pub theme: Theme,
    /// The byte that the pointer is over.
    pub on_point: Callback<Option<u64>>,
}

/// A memory as a picture. It is painted when what it shows changes.
#[component]
pub fn MemoryMap(props: &Props) -> Html {
    let canvas = use_node_ref();
    {
        let (canvas, grid) = (canvas.clone(), props.grid);
        let shown = (props.areas.clone(), props.content.clone(), grid, props.theme);
        use_effect_with(shown, move |(areas, content, ..)| {
            if let Some(canvas) = canvas.cast::<HtmlCanvasElement>() {
                let content = content.as_ref().map(|content| &*content.0);
                let _ = paint(&canvas, grid, &areas.0, content);
            }
        });
    }
    let point = {
        let (on_point, grid) = (props.on_point.clone(), props.grid);
        Callback::from(move |event: PointerEvent| {
            let target: Option<HtmlCanvasElement> =
                event.target().and_then(|target| target.dyn_into().ok());
            let Some(canvas) = target else { return };
            let size = [canvas.client_width(), canvas.client_height()].map(f64::from);
            let place =
                [f64::from(event.offset_x()) / size[0], f64::from(event.offset_y()) / size[1]];
            on_point.emit(Some(grid.byte_at(place)));
        })
    };
    html! {
        <canvas class="film-map" ref={canvas} aria-hidden="true" style={style(props.place)}
            width={props.grid.columns.to_string()} height={props.grid.rows.to_string()}
            onpointermove={point} onpointerleave={props.on_point.reform(|_| None)}></canvas>
    }
}

/// Where a box stands.
pub fn style(place: Rect) -> String {
    let [left, top, width, height] =
        [place.left, place.top, place.width, place.height].map(|length| fixed(length, 1));
    format!("left:{left}px;top:{top}px;width:{width}px;height:{height}px")
}

fn paint(
    canvas: &HtmlCanvasElement,
    grid: Grid,
    areas: &[Area],
    content: Option<&[u8]>,
) -> Result<(), JsValue> {
    let (Some(colours), Some(context)) = (colours(canvas), canvas.get_context("2d")?) else {
        return Ok(());
    };
    let context: CanvasRenderingContext2d = context.unchecked_into();
    let pixels = grid.pixels(areas, content, &colours);
    let image = ImageData::new_with_u8_clamped_array(Clamped(&pixels), grid.columns)?;
    context.put_image_data(&image, 0.0, 0.0)
}

/// The style sheet's colours.
fn colours(element: &HtmlCanvasElement) -> Option<Colours> {
    let style: CssStyleDeclaration = web_sys::window()?.get_computed_style(element).ok()??;
    let named = |name: &str| colour(&style.get_property_value(name).ok()?);
    Some(Colours {
        surface: named("--surface")?,
        activations: named("--input")?,
        weights: named("--weights")?,
        written: named("--output")?,
        arrives: named("--scratch")?,
        results: named("--rest")?,
        free: named("--text-quiet")?,
    })
}
