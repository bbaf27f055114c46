//! The browser's serial ports (Web Serial, <https://wicg.github.io/serial/>).

use js_sys::{Object, Promise, Reflect, Uint8Array};
use tilewright_desk::PortKind;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    DomException, ReadableStream, ReadableStreamDefaultReader, WritableStream,
    WritableStreamDefaultWriter,
};

use super::link::text_of;
use crate::message::trouble;
use tilewright_report::Diagnostic;

#[wasm_bindgen]
extern "C" {
    /// `navigator.serial`.
    type Serial;
    #[wasm_bindgen(method, js_name = requestPort)]
    fn request_port(this: &Serial) -> Promise;

    /// A port that the person allowed.
    type SerialPort;
    #[wasm_bindgen(method)]
    fn open(this: &SerialPort, options: &Object) -> Promise;
    #[wasm_bindgen(method)]
    fn close(this: &SerialPort) -> Promise;
    #[wasm_bindgen(method, js_name = getInfo)]
    fn info(this: &SerialPort) -> Object;
    #[wasm_bindgen(method, getter)]
    fn readable(this: &SerialPort) -> Option<ReadableStream>;
    #[wasm_bindgen(method, getter)]
    fn writable(this: &SerialPort) -> Option<WritableStream>;
}

/// Bytes that the browser may hold for either side.
const BUFFER: u32 = 4096;

fn serial() -> Option<Serial> {
    let navigator = web_sys::window()?.navigator();
    let serial = Reflect::get(&navigator, &"serial".into()).ok()?;
    serial.is_object().then(|| serial.unchecked_into())
}

/// Whether this browser lets pages talk to serial ports.
#[must_use]
pub fn is_there() -> bool {
    serial().is_some()
}

/// A port, opened.
pub struct Port {
    port: SerialPort,
    writer: WritableStreamDefaultWriter,
    /// What it is.
    pub kind: PortKind,
}

/// Why there is no port.
pub enum NoPort {
    /// The person chose none.
    Chosen,
    /// Something went wrong.
    Trouble(Diagnostic),
}

impl Port {
    /// Has the person choose a port, and opens it, 8N1. The browser asks only soon after a click or a key.
    pub async fn choose(baud: u32) -> Result<Self, NoPort> {
        let serial = serial().ok_or_else(|| NoPort::Trouble(none()))?;
        let chosen = JsFuture::from(serial.request_port()).await;
        let port: SerialPort = chosen.map_err(|error| not_chosen(&error))?.unchecked_into();
        let options = Object::new();
        for (key, value) in [("baudRate", baud), ("bufferSize", BUFFER)] {
            // Setting a new key of a plain object does not fail.
            let _ = Reflect::set(&options, &key.into(), &value.into());
        }
        let opened = JsFuture::from(port.open(&options)).await;
        opened.map_err(|error| NoPort::Trouble(not_opened(&error)))?;
        let writer = port.writable().map(|stream| stream.get_writer());
        let Some(Ok(writer)) = writer else {
            return Err(NoPort::Trouble(not_opened(&"it cannot be written".into())));
        };
        let kind = kind_of(&port.info());
        Ok(Self { port, writer, kind })
    }

    /// What reads it from now on; nothing if it has gone away. After a fault of the line there is another.
    #[must_use]
    pub fn reader(&self) -> Option<ReadableStreamDefaultReader> {
        let stream = self.port.readable()?;
        ReadableStreamDefaultReader::new(&stream).ok()
    }

    /// Sends bytes.
    ///
    /// # Errors
    /// If the port has gone away.
    pub fn write(&self, bytes: &[u8]) -> impl Future<Output = Result<(), String>> + use<> {
        let written = JsFuture::from(self.writer.write_with_chunk(&Uint8Array::from(bytes)));
        async move { written.await.map(drop).map_err(|error| text_of(&error)) }
    }

    /// Closes it, once nothing reads it any more.
    pub async fn close(&self) {
        self.writer.release_lock();
        // It may be gone.
        let _ = JsFuture::from(self.port.close()).await;
    }
}

/// The next bytes; nothing if no more come.
///
/// # Errors
/// If the line has a fault, or the port has gone away.
pub async fn read(reader: &ReadableStreamDefaultReader) -> Result<Option<Vec<u8>>, String> {
    let chunk = JsFuture::from(reader.read()).await.map_err(|error| text_of(&error))?;
    let part = |key: &str| Reflect::get(&chunk, &key.into()).unwrap_or_default();
    if part("done").is_truthy() {
        return Ok(None);
    }
    Ok(Some(part("value").dyn_into::<Uint8Array>().map(|bytes| bytes.to_vec()).unwrap_or_default()))
}

fn kind_of(info: &Object) -> PortKind {
    let number = |key: &str| {
        let value = Reflect::get(info, &key.into()).ok()?.as_f64()?;
        Some(value as u16)
    };
    match (number("usbVendorId"), number("usbProductId")) {
        (Some(vendor), Some(product)) => PortKind::Usb { vendor, product },
        _ => PortKind::Serial,
    }
}

fn none() -> Diagnostic {
    trouble(
        "This browser does not let pages talk to serial ports",
        "Web Serial is missing.",
        "Use Chrome, Edge or Opera on a computer, over https or from localhost; or run `tilewright board \
         measure` there.",
    )
}

fn not_chosen(error: &JsValue) -> NoPort {
    match error.dyn_ref::<DomException>().map(DomException::name).as_deref() {
        Some("NotFoundError") => NoPort::Chosen,
        _ => NoPort::Trouble(trouble(
            "The browser did not let a port be chosen",
            format!("{}.", text_of(error)),
            "Press the button again; the page must be open over https or from localhost.",
        )),
    }
}

fn not_opened(error: &JsValue) -> Diagnostic {
    trouble(
        "The port cannot be opened",
        format!("{}.", text_of(error).trim_end_matches('.')),
        "Close the terminal or the page that has it. On Linux join the group that owns it and log in again: \
         `sudo usermod -aG dialout $USER`.",
    )
}
