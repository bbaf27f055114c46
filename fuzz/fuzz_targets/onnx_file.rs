//! ONNX files: what opens is small, and quantised and planned.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tilewright_fuzz::model::open_and_plan;

fuzz_target!(|bytes: &[u8]| {
    let _ = open_and_plan(bytes);
});
