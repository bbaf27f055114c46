//! From Rust's values to JavaScript's: results and errors.

use js_sys::{Object, Reflect, Uint8Array};
use serde::Serialize;
use serde_wasm_bindgen::Serializer;
use tilewright_app::{Diagnostic, MemoryView};
use tilewright_plan::Bytes;
use tilewright_report::{Counted, PlanReport, WithKinds};
use wasm_bindgen::JsValue;

/// The name of thrown errors.
const ERROR: &str = "TilewrightError";

/// A memory map with what it is of.
#[derive(Debug, Serialize)]
pub struct MemoryObject<'p> {
    model: &'p str,
    board: &'p str,
    strategy: &'p str,
    fits: bool,
    sram_limit_bytes: Counted<Bytes>,
    #[serde(flatten)]
    memory: MemoryView,
}

impl<'p> MemoryObject<'p> {
    /// Of a plan's report and its memory map.
    pub fn of(report: &'p PlanReport, memory: MemoryView) -> WithKinds<Self> {
        WithKinds::of(Self {
            model: &report.model,
            board: &report.board,
            strategy: &report.strategy,
            fits: report.fits,
            sram_limit_bytes: report.sram_limit_bytes,
            memory,
        })
    }
}

/// A plain object, as JSON has it: maps are objects, nothing is null.
///
/// # Errors
/// Reports hold text and numbers only, so an error is ours.
pub fn object(value: &impl Serialize) -> Result<JsValue, Diagnostic> {
    let made = value.serialize(&Serializer::json_compatible());
    made.map_err(|error| Diagnostic::ours(format!("{error}."), "result"))
}

/// An object with these keys.
pub fn named<const N: usize>(entries: [(&str, JsValue); N]) -> JsValue {
    let object = Object::new();
    for (key, value) in entries {
        set(&object, key, &value);
    }
    object.into()
}

/// Bytes of which none are null.
pub fn bytes_or_null(bytes: &[u8]) -> JsValue {
    if bytes.is_empty() { JsValue::NULL } else { Uint8Array::from(bytes).into() }
}

/// The error that JavaScript sees: its message is the whole problem, its fields are the problem's.
pub fn thrown(problem: &Diagnostic) -> JsValue {
    let error = js_sys::Error::new(&problem.to_string());
    error.set_name(ERROR);
    if let Ok(fields) = object(problem) {
        Object::assign(&error, &Object::from(fields));
    }
    error.into()
}

fn set(object: &Object, key: &str, value: &JsValue) {
    // Nothing hinders a key of an object that has just been made.
    let _ = Reflect::set(object, &key.into(), value);
}
