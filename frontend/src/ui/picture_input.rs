//! Inputs that a person draws, or shows to the camera.

use js_sys::Uint8Array;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{
    CanvasRenderingContext2d, HtmlCanvasElement, HtmlVideoElement, MediaStream,
    MediaStreamConstraints,
};
use yew::prelude::*;

use super::picture::png_of;

/// Side of the drawing, and width of its pen: about those of MNIST's digits.
const SIDE: u32 = 224;
const PEN: f64 = 18.0;
/// Longest side of a picture that the camera takes.
const MOST_CAMERA: u32 = 640;

#[derive(PartialEq, Properties)]
pub struct Props {
    pub is_disabled: bool,
    /// A picture's name, and its bytes as a PNG file.
    pub on_picture: Callback<(String, Uint8Array)>,
}

/// What the picture is made with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Pen,
    Camera,
}

/// Buttons that open a drawing or the camera, and what they open.
#[component]
pub fn PictureInput(props: &Props) -> Html {
    let open = use_state(|| None::<Source>);
    let button = |source: Source, id: &'static str, text: &'static str, title: &'static str| {
        let is_open = *open == Some(source);
        let open = open.clone();
        html! {
            <button type="button" class="button" aria-expanded={is_open.to_string()} {title}
                data-testid={id} onclick={Callback::from(move |_: MouseEvent| {
                    open.set((!is_open).then_some(source));
                })}>{ text }</button>
        }
    };
    html! {
        <>
            { button(Source::Pen, "input-draw", "Draw", "Draw the input: white on black") }
            { button(Source::Camera, "input-camera", "Camera", "Take the input with the camera; it stays in this page") }
            { match *open {
                Some(Source::Pen) if !props.is_disabled => html! { <Pad on_picture={props.on_picture.clone()} /> },
                Some(Source::Camera) if !props.is_disabled => html! { <Camera on_picture={props.on_picture.clone()} /> },
                _ => html! {},
            } }
        </>
    }
}

#[derive(PartialEq, Properties)]
struct MakerProps {
    on_picture: Callback<(String, Uint8Array)>,
}

/// Says the picture of a canvas.
fn tell(
    canvas: HtmlCanvasElement,
    name: &'static str,
    on_picture: &Callback<(String, Uint8Array)>,
) {
    let on_picture = on_picture.clone();
    spawn_local(async move {
        if let Ok(bytes) = png_of(&canvas).await {
            on_picture.emit((name.to_owned(), bytes));
        }
    });
}

fn context(canvas: &HtmlCanvasElement) -> Option<CanvasRenderingContext2d> {
    canvas.get_context("2d").ok()??.dyn_into().ok()
}

/// A black square to draw on. With the end of each stroke the drawing is the input.
#[component]
fn Pad(props: &MakerProps) -> Html {
    let canvas = use_node_ref();
    // Where the pen is while it is down.
    let pen = use_mut_ref(|| None::<[f64; 2]>);
    let clear = {
        let canvas = canvas.clone();
        move || {
            let Some(canvas) = canvas.cast::<HtmlCanvasElement>() else { return };
            if let Some(context) = context(&canvas) {
                context.set_fill_style_str("black");
                context.fill_rect(0.0, 0.0, SIDE.into(), SIDE.into());
            }
        }
    };
    {
        let clear = clear.clone();
        use_effect_with((), move |()| clear());
    }
    let at = |event: &PointerEvent| -> Option<([f64; 2], HtmlCanvasElement)> {
        let canvas: HtmlCanvasElement = event.target()?.dyn_into().ok()?;
        let size =
            [canvas.client_width(), canvas.client_height()].map(|side| f64::from(side.max(1)));
        let place = [f64::from(event.offset_x()) / size[0], f64::from(event.offset_y()) / size[1]];
        Some((place.map(|share| share * f64::from(SIDE)), canvas))
    };
    let down = {
        let pen = pen.clone();
        Callback::from(move |event: PointerEvent| {
            let Some((place, canvas)) = at(&event) else { return };
            let _ = canvas.set_pointer_capture(event.pointer_id());
            stroke(&canvas, place, place);
            *pen.borrow_mut() = Some(place);
        })
    };
    let moved = {
        let pen = pen.clone();
        Callback::from(move |event: PointerEvent| {
            let Some(last) = *pen.borrow() else { return };
            let Some((place, canvas)) = at(&event) else { return };
            stroke(&canvas, last, place);
            *pen.borrow_mut() = Some(place);
        })
    };
    let up = {
        let (on_picture, canvas) = (props.on_picture.clone(), canvas.clone());
        Callback::from(move |_: PointerEvent| {
            if let (Some(_), Some(canvas)) = (pen.take(), canvas.cast::<HtmlCanvasElement>()) {
                tell(canvas, "drawing.png", &on_picture);
            }
        })
    };
    html! {
        <div class="picture-maker">
            <canvas ref={canvas} class="drawing-pad" width={SIDE.to_string()} height={SIDE.to_string()}
                data-testid="drawing-pad" aria-label="Drawing: white on black. It needs a pointer; samples and files do not."
                role="img" onpointerdown={down} onpointermove={moved} onpointerup={up.clone()} onpointercancel={up}>
            </canvas>
            <button type="button" class="quiet" data-testid="drawing-clear"
                onclick={Callback::from(move |_: MouseEvent| clear())}>{ "Clear" }</button>
        </div>
    }
}

fn stroke(canvas: &HtmlCanvasElement, from: [f64; 2], to: [f64; 2]) {
    let Some(context) = context(canvas) else { return };
    context.set_stroke_style_str("white");
    context.set_line_width(PEN);
    context.set_line_cap("round");
    context.begin_path();
    context.move_to(from[0], from[1]);
    context.line_to(to[0], to[1]);
    context.stroke();
}

/// What the camera sees. It is on as long as this is shown.
#[component]
fn Camera(props: &MakerProps) -> Html {
    let video = use_node_ref();
    let refused = use_state(|| false);
    {
        let (video, refused) = (video.clone(), refused.clone());
        use_effect_with((), move |()| {
            let stream = std::rc::Rc::new(std::cell::RefCell::new(None::<MediaStream>));
            let is_gone = std::rc::Rc::new(std::cell::Cell::new(false));
            {
                let (stream, is_gone) = (stream.clone(), is_gone.clone());
                spawn_local(async move {
                    match ask_camera().await {
                        Some(given) if is_gone.get() => end(&given),
                        Some(given) => {
                            if let Some(video) = video.cast::<HtmlVideoElement>() {
                                video.set_src_object(Some(&given));
                                let _ = video.play();
                            }
                            *stream.borrow_mut() = Some(given);
                        }
                        None => refused.set(true),
                    }
                });
            }
            move || {
                is_gone.set(true);
                if let Some(stream) = stream.borrow_mut().take() {
                    end(&stream);
                }
            }
        });
    }
    if *refused {
        return html! {
            <p class="note" data-testid="no-camera">
                { "There is no camera, or this page may not use it. Allow it in the browser, or give a picture as a file." }
            </p>
        };
    }
    let take = {
        let (video, on_picture) = (video.clone(), props.on_picture.clone());
        Callback::from(move |_: MouseEvent| {
            let taken = video.cast::<HtmlVideoElement>().and_then(|video| taken(&video));
            if let Some(canvas) = taken {
                tell(canvas, "camera.png", &on_picture);
            }
        })
    };
    html! {
        <div class="picture-maker">
            <video ref={video} class="camera" muted={true} playsinline={true} aria-label="What the camera sees"></video>
            <button type="button" class="button" data-testid="camera-take" onclick={take}>{ "Take this picture" }</button>
        </div>
    }
}

async fn ask_camera() -> Option<MediaStream> {
    let devices = web_sys::window()?.navigator().media_devices().ok()?;
    let wanted = MediaStreamConstraints::new();
    wanted.set_video(&true.into());
    let stream =
        JsFuture::from(devices.get_user_media_with_constraints(&wanted).ok()?).await.ok()?;
    stream.dyn_into().ok()
}

/// Ends a camera or a microphone.
pub fn end(stream: &MediaStream) {
    for track in stream.get_tracks() {
        if let Ok(track) = track.dyn_into::<web_sys::MediaStreamTrack>() {
            track.stop();
        }
    }
}

/// The picture that a video shows, its middle square: models take squares.
fn taken(video: &HtmlVideoElement) -> Option<HtmlCanvasElement> {
    let [width, height] = [video.video_width(), video.video_height()];
    let side = width.min(height);
    if side == 0 {
        return None;
    }
    let canvas = super::picture::canvas(side.min(MOST_CAMERA), side.min(MOST_CAMERA))?;
    let left = f64::from(width - side) / 2.0;
    let top = f64::from(height - side) / 2.0;
    let [side, to] = [side, canvas.width()].map(f64::from);
    context(&canvas)?
        .draw_image_with_html_video_element_and_sw_and_sh_and_dx_and_dy_and_dw_and_dh(
            video, left, top, side, side, 0.0, 0.0, to, to,
        )
        .ok()?;
    Some(canvas)
}
