//! Files of models, samples and inputs, as values.

use tilewright_model::{Data, Model};

use crate::problem::Problem;

pub fn open(_name: &str, _bytes: &[u8], _dims: &[(String, usize)]) -> Result<Model, Problem> {
    Err(Problem::ours("not wired", "formats"))
}

pub fn samples(_name: &str, _bytes: &[u8], _model: &Model) -> Result<Vec<Vec<Data>>, Problem> {
    Err(Problem::ours("not wired", "formats"))
}

pub fn is_raw(_name: &str, bytes: &[u8]) -> bool {
    !bytes.starts_with(b"\x89PNG") && !bytes.starts_with(b"\x93NUMPY")
}

pub fn input(_name: &str, _bytes: &[u8], _model: &Model) -> Result<Vec<Data>, Problem> {
    Err(Problem::ours("not wired", "formats"))
}
