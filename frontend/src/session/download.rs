//! Bytes of the browser's memory that can be saved as files.

use std::rc::Rc;

use js_sys::{Array, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Blob, BlobPropertyBag, HtmlAnchorElement, Url};

/// A file that can be downloaded.
#[derive(Clone, Debug, PartialEq)]
pub struct Download {
    pub name: String,
    /// Address of its bytes; good as long as this lives.
    pub address: Rc<ObjectUrl>,
}

/// An address of bytes in the browser's memory, given back when it is dropped.
#[derive(Debug, PartialEq, Eq)]
pub struct ObjectUrl(pub String);

impl Drop for ObjectUrl {
    fn drop(&mut self) {
        let _ = Url::revoke_object_url(&self.0);
    }
}

impl ObjectUrl {
    /// An address of `bytes`.
    ///
    /// # Errors
    /// If the browser has no room.
    pub fn new(bytes: &JsValue, media: &str) -> Result<Self, JsValue> {
        let options = BlobPropertyBag::new();
        options.set_type(media);
        let blob = Blob::new_with_buffer_source_sequence_and_options(&Array::of1(bytes), &options)?;
        Self::of(&blob)
    }

    /// An address of a blob.
    ///
    /// # Errors
    /// If the browser has no room.
    pub fn of(blob: &Blob) -> Result<Self, JsValue> {
        Url::create_object_url_with_blob(blob).map(Self)
    }
}

/// A file of these bytes; nothing if the browser has no room.
pub fn download(name: &str, bytes: &Uint8Array) -> Option<Download> {
    let address = ObjectUrl::new(bytes, "application/octet-stream").ok()?;
    Some(Download { name: name.to_owned(), address: Rc::new(address) })
}

/// Saves what lies at an address as a file.
pub fn save(name: &str, address: ObjectUrl) {
    let anchor = web_sys::window()
        .and_then(|window| window.document())
        .and_then(|document| document.create_element("a").ok())
        .and_then(|anchor| anchor.dyn_into::<HtmlAnchorElement>().ok());
    if let Some(anchor) = anchor {
        anchor.set_href(&address.0);
        anchor.set_download(name);
        anchor.click();
    }
    // The browser reads the bytes after this turn; the address lives a minute.
    gloo::timers::callback::Timeout::new(60_000, move || drop(address)).forget();
}
