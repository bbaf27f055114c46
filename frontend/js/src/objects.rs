//! From Rust's values to JavaScript's: results and errors.

use std::collections::BTreeMap;

use js_sys::{Object, Reflect, Uint8Array};
use serde::Serialize;
use serde_wasm_bindgen::Serializer;
use tilewright_app::{Diagnostic, MemoryView};
use tilewright_report::{Kind, PlanReport};
use wasm_bindgen::JsValue;

/// The name of thrown errors.
const ERROR: &str = "TilewrightError";

/// A memory map with what it is of, and how its figures came to be.
#[derive(Debug, Serialize)]
pub struct MemoryObject<'p> {
    model: &'p str,
    board: &'p str,
    strategy: &'p str,
    fits: bool,
    sram_limit_bytes: u64,
    #[serde(flatten)]
    memory: MemoryView,
    kinds: BTreeMap<&'static str, Kind>,
}

impl<'p> MemoryObject<'p> {
    /// Of a plan's report and its memory map.
    pub fn of(report: &'p PlanReport, memory: MemoryView) -> Self {
        let arena = report.kinds.get("peak_sram_bytes").copied().unwrap_or(Kind::Counted);
        let counted = ["peak_live_bytes", "operators", "tensors"];
        let mut kinds = BTreeMap::from(counted.map(|key| (key, Kind::Counted)));
        kinds.insert("arena_bytes", arena);
        Self {
            model: &report.model,
            board: &report.board,
            strategy: &report.strategy,
            fits: report.fits,
            sram_limit_bytes: report.sram_limit_bytes.0,
            memory,
            kinds,
        }
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
