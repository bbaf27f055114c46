//! Plan images with right checksums: the reader refuses them or the runtime runs them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tilewright_fuzz::image::{put_checksums_right, read_and_run};

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = bytes.to_vec();
    put_checksums_right(&mut bytes);
    read_and_run(&bytes, "stm32f746g-disco");
});
