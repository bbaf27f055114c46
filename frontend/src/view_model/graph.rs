//! The drawing of a model: what lies where on the sheet, what is found there, and what is said of it.

mod camera;
mod export;
mod find;
mod sheet;
mod words;

pub use camera::Camera;
pub use export::{Palette, label, picture};
pub use find::{Hit, Move, hit, label_place, search, stepped};
pub use sheet::{NODE_HEIGHT, NODE_WIDTH, Sheet, net_path, node_top, outline, place_of};
pub use words::{Details, Lit, details, layer_of, lit, spoken, summary, tensor_of};
