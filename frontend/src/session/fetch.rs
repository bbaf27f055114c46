//! Fetching, relative to where the page lies.

use js_sys::{ArrayBuffer, JSON, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{RequestInit, Response};

use super::link::text_of;
use super::offline::of_this_build;
use super::server;
use crate::message::trouble;
use tilewright_report::Diagnostic;

/// A response; any status.
///
/// # Errors
/// If there is none.
pub async fn response(address: &str, init: &RequestInit) -> Result<Response, String> {
    let window = web_sys::window().ok_or("no window")?;
    let promise = window.fetch_with_str_and_init(address, init);
    let response = JsFuture::from(promise).await.map_err(|error| text_of(&error))?;
    response.dyn_into().map_err(|_| "no response".to_owned())
}

/// The bytes of a response.
///
/// # Errors
/// If the connection breaks.
pub async fn body(response: &Response) -> Result<Uint8Array, String> {
    let promise = response.array_buffer().map_err(|error| text_of(&error))?;
    let buffer = JsFuture::from(promise).await.map_err(|error| text_of(&error))?;
    let buffer: ArrayBuffer = buffer.dyn_into().map_err(|_| "no bytes".to_owned())?;
    Ok(Uint8Array::new(&buffer))
}

/// The value of a JSON response.
///
/// # Errors
/// If the connection breaks, or the text is no JSON.
pub async fn json(response: &Response) -> Result<JsValue, String> {
    let promise = response.text().map_err(|error| text_of(&error))?;
    let text = JsFuture::from(promise).await.map_err(|error| text_of(&error))?;
    JSON::parse(&text.as_string().unwrap_or_default()).map_err(|error| text_of(&error))
}

/// The bytes of a file that lies beside the page; asked for at once, not only when they are awaited.
///
/// # Errors
/// What, where, and what to do.
pub fn started(path: String) -> impl Future<Output = Result<Uint8Array, Diagnostic>> {
    let window = web_sys::window();
    let asked = window.map(|window| window.fetch_with_str(&of_this_build(&path)).into());
    file(path, asked)
}

async fn file(path: String, asked: Option<JsFuture>) -> Result<Uint8Array, Diagnostic> {
    let trouble = |detail: String| {
        trouble(
            format!("{path} could not be fetched"),
            detail,
            "Check the connection and try again; on your own host, check that the file was copied \
             with the page.",
        )
    };
    let asked = asked.ok_or("no window".to_owned()).map_err(trouble)?;
    let response = asked.await.map_err(|error| trouble(text_of(&error)))?;
    let response: Response = response.dyn_into().map_err(|_| trouble("no response".to_owned()))?;
    if !response.ok() {
        let (status, text) = (response.status(), response.status_text());
        // Our server says what is wrong; other hosts answer a page of theirs.
        let said = json(&response).await.ok().and_then(|value| server::problem(&value));
        return Err(said.unwrap_or_else(|| trouble(format!("The host answers {status} {text}."))));
    }
    body(&response).await.map_err(trouble)
}
