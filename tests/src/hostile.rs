//! Bytes that someone made or changed to do harm: an error or an answer, never a panic. The fuzz
//! targets (`fuzz/`) do the same with theirs.

pub mod image;
pub mod model;
