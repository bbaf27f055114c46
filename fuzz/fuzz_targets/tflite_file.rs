//! TensorFlow Lite files: what opens is small, and quantised where it is float, planned and run; and
//! put in another order.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tilewright_fuzz::model::{open_and_plan, reorder};

fuzz_target!(|bytes: &[u8]| {
    let _ = open_and_plan(bytes);
    let _ = reorder(bytes);
});
