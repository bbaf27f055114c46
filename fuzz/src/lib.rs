//! What the targets do with their bytes: the code that replays their corpora in the tests, without
//! what else the tests link.

#[path = "../../tests/src/hostile/image.rs"]
pub mod image;
#[cfg(feature = "models")]
#[path = "../../tests/src/hostile/model.rs"]
pub mod model;
