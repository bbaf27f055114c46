//! Pictures, arrays and raw bytes as inputs of a model.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tilewright_fuzz::model::read_input;

fuzz_target!(|bytes: &[u8]| {
    let _ = read_input(bytes);
});
