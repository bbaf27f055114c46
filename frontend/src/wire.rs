//! Messages as values that `postMessage` takes: an array of number, body and buffers.
//!
//! Bodies are encoded by postcard: objects with a name for every field would be several times as
//! large, in the message and in the code that reads them.

use js_sys::{Array, Uint8Array};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::{JsCast, JsValue};

/// Why a value is no message.
#[derive(Clone, Debug)]
pub struct WireError(pub String);

/// A message and the buffers to transfer with it. The buffers are gone for the sender.
///
/// # Errors
/// If the body cannot be expressed.
pub fn pack<T: Serialize>(
    request: u32,
    body: &T,
    buffers: &[Uint8Array],
) -> Result<(JsValue, JsValue), WireError> {
    let body = postcard::to_stdvec(body).map_err(|error| WireError(error.to_string()))?;
    let body = Uint8Array::from(body.as_slice());
    let list: Array = buffers.iter().collect();
    let transferred: Array = buffers.iter().map(Uint8Array::buffer).collect();
    transferred.push(&body.buffer());
    let message = Array::of3(&JsValue::from(request), &body, &list);
    Ok((message.into(), transferred.into()))
}

/// What a message holds.
///
/// # Errors
/// If the value is no message of this version.
pub fn unpack<T: DeserializeOwned>(
    message: JsValue,
) -> Result<(u32, T, Vec<Uint8Array>), WireError> {
    let wrong = |what: &str| WireError(format!("a message without {what}"));
    let message: Array = message.dyn_into().map_err(|_| wrong("parts"))?;
    let request = message.get(0).as_f64().ok_or_else(|| wrong("number"))? as u32;
    let body: Uint8Array = message.get(1).dyn_into().map_err(|_| wrong("body"))?;
    let body = postcard::from_bytes(&body.to_vec()).map_err(|e| WireError(e.to_string()))?;
    let buffers: Array = message.get(2).dyn_into().map_err(|_| wrong("buffers"))?;
    let buffers = buffers.iter().filter_map(|buffer| buffer.dyn_into().ok()).collect();
    Ok((request, body, buffers))
}
