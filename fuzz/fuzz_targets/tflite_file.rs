//! TensorFlow Lite files: what opens is small, and quantised where it is float, planned and run.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tilewright_fuzz::model::open_and_plan;

fuzz_target!(|bytes: &[u8]| {
    open_and_plan(bytes);
});
