//! A row of a sweep as others are asked for it, who need nothing but this and the model.

use serde::{Deserialize, Serialize};
use tilewright_model::Model;
use tilewright_report::{SweepKey, sentence};

use crate::{HeldModel, Sweep, SweepModel};

/// Rows that these very sources plan. Whoever was built from others is not asked: it may plan otherwise.
pub const ROW_KIND: &str = concat!("row/", env!("TILEWRIGHT_SOURCES"));

/// A row of a sweep that others are asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowRequest {
    /// What the row is of.
    pub key: SweepKey,
    /// Hash of the bytes of the int8 model; nothing: the key names a network of the zoo.
    pub model: Option<String>,
}

impl RowRequest {
    /// The model by its content, whatever it is called.
    #[must_use]
    pub fn model(&self) -> String {
        self.model.clone().unwrap_or_else(|| format!("zoo:{}", self.key.network))
    }

    /// All that the row follows from but for the model's name, which it repeats.
    #[must_use]
    pub fn follows_from(&self) -> String {
        format!("{ROW_KIND} {:?}", SweepKey { network: self.model(), ..self.key.clone() })
    }
}

impl Sweep {
    /// The bytes of a row's model for others, or why it cannot be opened; nothing if it is a network of the zoo, or
    /// there is no such row.
    pub fn model_bytes(&self, row: usize, held: &mut HeldModel) -> Option<Result<Vec<u8>, String>> {
        let model = self.combination(row)?.model;
        if model.is_of_zoo() {
            return None;
        }
        let bytes = model.opened(held).as_ref().as_ref().map_err(Clone::clone).and_then(|open| {
            postcard::to_allocvec(&open.int8).map_err(|error| sentence(&error.to_string()))
        });
        Some(bytes)
    }
}

impl SweepModel {
    /// The model of [`Sweep::model_bytes`].
    #[must_use]
    pub fn of_bytes(name: String, bytes: Vec<u8>) -> Self {
        Self::given(name, move || {
            postcard::from_bytes::<Model>(&bytes).map_err(|error| sentence(&error.to_string()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dimensions;
    use tilewright_planner::{Stop, Strategy};

    #[test]
    fn others_plan_the_same_row() {
        let vww = || Ok(tilewright_zoo::network("vww").unwrap().int8().unwrap());
        let models = vec![SweepModel::zoo("vww"), SweepModel::given("mine.onnx".to_owned(), vww)];
        let board = tilewright_board::find("stm32f746g-disco").unwrap();
        let strategies = vec![Strategy::Resident, Strategy::Auto];
        let sweep = Sweep::new(Dimensions::of(models, vec![board], strategies)).unwrap();
        let rows = sweep.all(&Stop::default()).unwrap();
        let mut held = HeldModel::default();
        for (row, (planned, key)) in rows.iter().zip(sweep.keys()).enumerate() {
            let (model, hash) = match sweep.model_bytes(row, &mut held) {
                None => (SweepModel::zoo(&key.network), None),
                Some(bytes) => {
                    (SweepModel::of_bytes("other".to_owned(), bytes.unwrap()), Some("hash"))
                }
            };
            let request = RowRequest { key: key.clone(), model: hash.map(str::to_owned) };
            let theirs = model.row(&request.key, &mut held, &Stop::default()).unwrap();
            assert_eq!(&theirs, planned);
            let renamed = SweepKey { network: "other".to_owned(), ..key };
            let renamed = RowRequest { key: renamed, ..request.clone() };
            assert_eq!(request.follows_from() == renamed.follows_from(), hash.is_some());
        }
    }
}
