//! The JavaScript package: what the command line tells in JSON, as plain objects.
//!
//! Each function is complete in itself: it opens, quantises, plans and proves anew, and the same
//! arguments give the same result. `index.js` loads the WASM program; `types.d.ts` holds the types
//! of arguments and results. Keys are those of the command line's `--json`.
#![allow(missing_docs, reason = "a program: nothing else uses its items")]

mod objects;
mod options;
mod work;

use tilewright_app::{BoardView, Diagnostic, MemoryView, ModelView};
use tilewright_board::Support;
use tilewright_report::Schedule;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use objects::{MemoryObject, bytes_or_null, named, object, thrown};
use options::Wishes;
use work::Ready;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = include_str!("../types.d.ts");

/// The boards; reference profiles, which nobody can buy, only if `all` are asked for.
/// `has_firmware` says whether there is a firmware for the board, so that `image` gives a plan image.
///
/// # Errors
/// None but defects of the package.
#[wasm_bindgen(unchecked_return_type = "Board[]")]
pub fn boards(all: Option<bool>) -> Result<JsValue, JsValue> {
    let mut boards = tilewright_board::all();
    boards.retain(|board| all == Some(true) || board.support != Support::Virtual);
    let view = |board| BoardView::of(board, board.firmware.is_some());
    answer(object(&boards.iter().map(view).collect::<Vec<_>>()))
}

/// A model's inputs, outputs, operators, MACs and parameters after import. The second argument is
/// the file's name, or options of which `name`, `dims` and `data` count.
///
/// # Errors
/// What is wrong with the file, and where.
#[wasm_bindgen(unchecked_return_type = "Model")]
pub fn inspect(
    #[wasm_bindgen(unchecked_param_type = "ModelSource")] model: &JsValue,
    #[wasm_bindgen(unchecked_optional_param_type = "string | InspectOptions")] name: &JsValue,
) -> Result<JsValue, JsValue> {
    let inspected = || object(&ModelView::of(&work::model(model, &Wishes::of_name(name)?.file)?));
    answer(inspected())
}

/// The plan of a model on a board, proved, as `tilewright plan --json` gives it. A plan that does not
/// fit is an answer too: `fits` is false, and `does_not_fit` says what would help.
///
/// # Errors
/// What is wrong with the file or an option, or why there is no plan whatever the memory.
#[wasm_bindgen(unchecked_return_type = "PlanReport")]
pub fn plan(
    #[wasm_bindgen(unchecked_param_type = "ModelSource")] model: &JsValue,
    #[wasm_bindgen(unchecked_param_type = "PlanOptions")] options: &JsValue,
) -> Result<JsValue, JsValue> {
    answer(ready(model, options).and_then(|ready| ready.report()))
}

/// Which tensors live at each operator, and where: the key `memory` of the plan, with what it is of.
///
/// # Errors
/// As `plan`.
#[wasm_bindgen(js_name = memoryMap, unchecked_return_type = "MemoryMap")]
pub fn memory_map(
    #[wasm_bindgen(unchecked_param_type = "ModelSource")] model: &JsValue,
    #[wasm_bindgen(unchecked_param_type = "PlanOptions")] options: &JsValue,
) -> Result<JsValue, JsValue> {
    let map = || {
        let planned = ready(model, options)?.planned()?;
        object(&MemoryObject::of(&planned.report, MemoryView::of(&planned)))
    };
    answer(map())
}

/// What happens when, on which lane, as `tilewright plan --schedule-json` writes it: predicted.
///
/// # Errors
/// As `plan`.
#[wasm_bindgen(unchecked_return_type = "Schedule")]
pub fn schedule(
    #[wasm_bindgen(unchecked_param_type = "ModelSource")] model: &JsValue,
    #[wasm_bindgen(unchecked_param_type = "PlanOptions")] options: &JsValue,
) -> Result<JsValue, JsValue> {
    let schedule = || {
        let planned = ready(model, options)?.planned()?;
        object(&Schedule {
            report: &planned.report,
            memory: &planned.memory,
            predicted: &planned.timeline,
            occupancy: &planned.occupancy,
            run: None,
        })
    };
    answer(schedule())
}

/// The plan image: what lies behind the firmware in flash.
///
/// # Errors
/// As `plan`; `kind` is `does_not_fit` for a plan that does not fit.
#[wasm_bindgen]
pub fn image(
    #[wasm_bindgen(unchecked_param_type = "ModelSource")] model: &JsValue,
    #[wasm_bindgen(unchecked_param_type = "PlanOptions")] options: &JsValue,
) -> Result<Vec<u8>, JsValue> {
    let file = ready(model, options).and_then(|ready| ready.image());
    file.map(|file| file.bytes().to_vec()).map_err(|problem| thrown(&problem))
}

/// The store images that belong to the plan image: of external flash and of the card, each null if
/// the plan uses no such memory.
///
/// # Errors
/// As `image`.
#[wasm_bindgen(js_name = storeImages, unchecked_return_type = "StoreImages")]
pub fn store_images(
    #[wasm_bindgen(unchecked_param_type = "ModelSource")] model: &JsValue,
    #[wasm_bindgen(unchecked_param_type = "PlanOptions")] options: &JsValue,
) -> Result<JsValue, JsValue> {
    let stores = ready(model, options).and_then(|ready| ready.image()).map(|file| {
        let flash = bytes_or_null(file.external_flash());
        named([("external_flash", flash), ("card", bytes_or_null(file.card()))])
    });
    answer(stores)
}

fn ready(model: &JsValue, options: &JsValue) -> Result<Ready, Diagnostic> {
    Ready::of(model, Wishes::of(options)?)
}

fn answer(result: Result<JsValue, Diagnostic>) -> Result<JsValue, JsValue> {
    result.map_err(|problem| thrown(&problem))
}
