//! Outputs that lie over the input's picture, as pictures.

use std::rc::Rc;

use wasm_bindgen::{Clamped, JsCast};
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, ImageData};
use yew::prelude::*;

use super::choice::Choice;
use crate::message::{OutputFacts, ReferenceFacts};
use crate::view_model::output_map::{Shown, is_map, legend, pixels, words};

#[derive(PartialEq, Properties)]
pub struct Props {
    pub output: OutputFacts,
    pub reference: Rc<ReferenceFacts>,
    /// Which of its outputs.
    pub index: usize,
    /// The picture below, if there is one.
    pub picture: Option<AttrValue>,
}

/// The pictures of all outputs that are maps; of a segmentation, of those with several channels.
pub fn output_maps(
    outputs: &[OutputFacts],
    reference: &Rc<ReferenceFacts>,
    picture: Option<AttrValue>,
    is_segmentation: bool,
) -> Html {
    let is_shown =
        |output: &OutputFacts| is_map(output.shape) && (!is_segmentation || output.shape[2] > 1);
    let maps = outputs.iter().enumerate().filter(|(_, output)| is_shown(output));
    html! {
        <div class="output-maps">
            { for maps.map(|(index, output)| html! {
                <OutputMap key={index} output={output.clone()} reference={Rc::clone(reference)} {index}
                    picture={picture.clone()} />
            }) }
        </div>
    }
}

/// An output as a picture over the input, with a choice of its channels.
#[component]
fn OutputMap(props: &Props) -> Html {
    let canvas = use_node_ref();
    let picked = use_state(String::new);
    let shape = props.output.shape;
    let shown = Shown::from_word(&picked, shape);
    let values = props.reference.outputs.get(props.index).map_or(&[][..], Vec::as_slice);
    {
        let (canvas, reference, index) = (canvas.clone(), Rc::clone(&props.reference), props.index);
        use_effect_with((shown, reference), move |(shown, reference)| {
            let values = reference.outputs.get(index).map_or(&[][..], Vec::as_slice);
            if let Some(canvas) = canvas.cast::<HtmlCanvasElement>() {
                paint(&canvas, shape, &pixels(shape, values, *shown));
            }
        });
    }
    let options: Vec<(AttrValue, AttrValue)> = Shown::all(shape)
        .into_iter()
        .map(|shown| (shown.word().into(), shown.title(&props.output).into()))
        .collect();
    let on_choose = {
        let picked = picked.clone();
        Callback::from(move |word: String| picked.set(word))
    };
    let said = words(&props.output, values, shown);
    html! {
        <figure class="output-map" data-testid="output-map">
            <div class="output-map-picture">
                if let Some(picture) = &props.picture { <img src={picture.clone()} alt="" /> }
                <canvas ref={canvas} width={shape[1].to_string()} height={shape[0].to_string()} role="img"
                    aria-label={format!("{}: {said}", props.output.name)}></canvas>
            </div>
            <figcaption>
                <strong>{ &props.output.name }</strong>
                if options.len() > 1 {
                    <span class="picker">
                        <Choice id="output-channel" value={shown.word()} {options} {on_choose} />
                    </span>
                }
                <span class="detail" data-testid="output-map-words">{ said }</span>
                if shown == Shown::Strongest { { legend_list(&props.output, values) } }
            </figcaption>
        </figure>
    }
}

/// The colours of channels that are strongest somewhere.
fn legend_list(output: &OutputFacts, values: &[i8]) -> Html {
    let (rows, more) = legend(output, values);
    html! {
        <ul class="map-legend detail" data-testid="map-legend">
            { for rows.iter().map(|row| html! {
                <li>
                    <span class="map-colour" style={format!("background: {}", row.colour)} aria-hidden="true"></span>
                    { format!("{}: {}", row.name, row.share) }
                </li>
            }) }
            if more > 0 { <li>{ format!("and {more} more, whose colours are the same again") }</li> }
        </ul>
    }
}

fn paint(canvas: &HtmlCanvasElement, shape: [u32; 3], pixels: &[u8]) {
    let context = canvas.get_context("2d").ok().flatten();
    let context: Option<CanvasRenderingContext2d> =
        context.and_then(|context| context.dyn_into().ok());
    let image = ImageData::new_with_u8_clamped_array(Clamped(pixels), shape[1]);
    if let (Some(context), Ok(image)) = (context, image) {
        let _ = context.put_image_data(&image, 0.0, 0.0);
    }
}
