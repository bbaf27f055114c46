//! Pictures of any format that the browser knows, as PNG files.

use js_sys::{Promise, Uint8Array};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, CanvasRenderingContext2d, HtmlCanvasElement, ImageBitmap};

/// Longest side of a picture that is handed on: no network here takes a larger one.
const MOST_SIDE: f64 = 1_024.0;

/// A canvas that is on no page.
pub fn canvas(width: u32, height: u32) -> Option<HtmlCanvasElement> {
    let document = web_sys::window()?.document()?;
    let canvas: HtmlCanvasElement = document.create_element("canvas").ok()?.dyn_into().ok()?;
    canvas.set_width(width);
    canvas.set_height(height);
    Some(canvas)
}

/// The bytes of a PNG file with what a canvas shows.
pub async fn png_of(canvas: &HtmlCanvasElement) -> Result<Uint8Array, JsValue> {
    let blob = Promise::new(&mut |resolve, reject| {
        let told = Closure::once_into_js(move |blob: JsValue| {
            let _ = resolve.call1(&JsValue::NULL, &blob);
        });
        if let Err(error) = canvas.to_blob(told.unchecked_ref()) {
            let _ = reject.call1(&JsValue::NULL, &error);
        }
    });
    let blob: Blob = JsFuture::from(blob).await?.dyn_into()?;
    Ok(Uint8Array::new(&JsFuture::from(blob.array_buffer()).await?))
}

/// A picture as a PNG file, made smaller where a side is too long.
///
/// # Errors
/// If the browser does not know the format, or the file is broken.
pub async fn as_png(file: &Blob) -> Result<Uint8Array, JsValue> {
    let window = web_sys::window().ok_or(JsValue::NULL)?;
    let bitmap = JsFuture::from(window.create_image_bitmap_with_blob(file)?).await?;
    let bitmap: ImageBitmap = bitmap.dyn_into()?;
    let [width, height] = [bitmap.width(), bitmap.height()].map(f64::from);
    let share = (MOST_SIDE / width.max(height)).min(1.0);
    let [to_width, to_height] = [width, height].map(|side| (side * share).round().max(1.0));
    let canvas = canvas(to_width as u32, to_height as u32).ok_or(JsValue::NULL)?;
    let context: CanvasRenderingContext2d =
        canvas.get_context("2d")?.ok_or(JsValue::NULL)?.dyn_into()?;
    context.draw_image_with_image_bitmap_and_dw_and_dh(&bitmap, 0.0, 0.0, to_width, to_height)?;
    bitmap.close();
    png_of(&canvas).await
}
