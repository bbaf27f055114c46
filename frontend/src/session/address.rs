//! Models that a link names by their address on another host.

use js_sys::{Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{ReadableStreamDefaultReader, Request, RequestInit, RequestMode, Response};

use super::link::text_of;
use crate::message::trouble;
use crate::state::MAX_FILE_BYTES;
use crate::view_model::figures;
use tilewright_report::Diagnostic;

/// The file at an address. Nothing but the address is told to its host.
///
/// # Errors
/// If the host is away, does not let pages read the file, answers something else, or the file is too large.
pub async fn file_at(address: &str) -> Result<Uint8Array, Diagnostic> {
    let unread = |detail: String| {
        trouble(
            "The link's model could not be fetched",
            format!("{address}: {detail}"),
            "Open the address yourself, save the file and drop it here. A host that lets pages of others read its files \
             sends the header Access-Control-Allow-Origin.",
        )
    };
    let init = RequestInit::new();
    init.set_mode(RequestMode::Cors);
    init.set_credentials(web_sys::RequestCredentials::Omit);
    let asked = Request::new_with_str_and_init(address, &init);
    let asked = asked.map_err(|error| unread(text_of(&error)))?;
    let window = web_sys::window().ok_or_else(|| unread("no window".to_owned()))?;
    let response = JsFuture::from(window.fetch_with_request(&asked)).await;
    let response = response.map_err(|_| {
        unread("the host is away, or does not let this page read the file".to_owned())
    })?;
    let response: Response = response.dyn_into().map_err(|_| unread("no response".to_owned()))?;
    if !response.ok() {
        return Err(unread(format!("the host answers {}", response.status())));
    }
    body(&response).await.map_err(unread)
}

/// A response's bytes, which may not be more than a file that is opened.
async fn body(response: &Response) -> Result<Uint8Array, String> {
    let stream = response.body().ok_or("the answer is empty")?;
    let reader: ReadableStreamDefaultReader = stream.get_reader().unchecked_into();
    let (mut parts, mut length) = (Vec::new(), 0u64);
    loop {
        let part = JsFuture::from(reader.read()).await.map_err(|error| text_of(&error))?;
        let of = |name: &str| Reflect::get(&part, &JsValue::from_str(name)).unwrap_or_default();
        if of("done").is_truthy() {
            break;
        }
        let bytes: Uint8Array = of("value").dyn_into().map_err(|_| "no bytes came")?;
        length += u64::from(bytes.length());
        if length > MAX_FILE_BYTES {
            let _ = reader.cancel();
            return Err(format!("it is larger than {}", figures::binary(MAX_FILE_BYTES)));
        }
        parts.push(bytes);
    }
    let all = Uint8Array::new_with_length(length as u32);
    let mut at = 0;
    for part in parts {
        all.set(&part, at);
        at += part.length();
    }
    Ok(all)
}
