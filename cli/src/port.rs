//! Inputs and outputs of models in reports.

use serde::Serialize;
use tilewright_model::{FileType, Model, TensorId};

/// An input or output.
#[derive(Debug, Serialize)]
pub struct Port {
    pub name: String,
    pub shape: Vec<usize>,
    /// Of the values that a run takes or gives.
    pub dtype: &'static str,
    /// real = scale × (value − zero point); null for other types than int8.
    pub scale: Option<f32>,
    pub zero_point: Option<i32>,
    /// What the model's file has. Values and zero point of uint8 are those of int8 plus 128.
    pub file_dtype: &'static str,
}

impl Port {
    /// Input `position` of a model.
    pub fn of_input(model: &Model, position: usize) -> Self {
        Self::of(model, model.inputs[position], model.file_types.inputs.get(&position))
    }

    /// Output `position` of a model.
    pub fn of_output(model: &Model, position: usize) -> Self {
        Self::of(model, model.outputs[position], model.file_types.outputs.get(&position))
    }

    fn of(model: &Model, id: TensorId, file_type: Option<&FileType>) -> Self {
        let tensor = model.tensor(id);
        let dtype = tensor.dtype.name();
        let is_int8 = tensor.dtype == tilewright_model::DType::I8;
        let quantisation = tensor.quantisation.as_ref().filter(|_| is_int8);
        Self {
            name: tensor.name.clone(),
            shape: tensor.shape.dims().to_vec(),
            dtype,
            scale: quantisation.map(|quantisation| quantisation.scale(0)),
            zero_point: quantisation.map(tilewright_model::Quantisation::zero),
            file_dtype: file_type.map_or(dtype, |file_type| file_type.name()),
        }
    }

    /// The file's type, behind a space, if that is another than the values'.
    pub fn file_dtype_in_words(&self) -> String {
        match self.file_dtype {
            same if same == self.dtype => String::new(),
            other => format!(" ({} here, {other} in the file)", self.dtype),
        }
    }
}
