//! Inputs and outputs of models, as reports list them.

use serde::Serialize;
use tilewright_model::{DType, FileType, Model, Quantisation, TensorId};

/// An input or output.
#[derive(Clone, Debug, Serialize)]
pub struct Port {
    /// Its name.
    pub name: String,
    /// Its shape, NHWC or a vector behind a batch of 1.
    pub shape: Vec<usize>,
    /// Of the values that a run takes or gives.
    pub dtype: &'static str,
    /// real = scale × (value − zero point); null for other types than int8.
    pub scale: Option<f32>,
    /// The value that stands for 0; null for other types than int8.
    pub zero_point: Option<i32>,
    /// What the model's file has. Values and zero point of uint8 are those of int8 plus 128.
    pub file_dtype: &'static str,
}

impl Port {
    /// Input `position` of a model.
    #[must_use]
    pub fn of_input(model: &Model, position: usize) -> Self {
        Self::of(model, model.inputs[position], model.file_types.inputs.get(&position))
    }

    /// Output `position` of a model.
    #[must_use]
    pub fn of_output(model: &Model, position: usize) -> Self {
        Self::of(model, model.outputs[position], model.file_types.outputs.get(&position))
    }

    fn of(model: &Model, id: TensorId, file_type: Option<&FileType>) -> Self {
        let tensor = model.tensor(id);
        let dtype = tensor.dtype.name();
        let is_int8 = tensor.dtype == DType::I8;
        let quantisation = tensor.quantisation.as_ref().filter(|_| is_int8);
        Self {
            name: tensor.name.clone(),
            shape: tensor.shape.dims().to_vec(),
            dtype,
            scale: quantisation.map(|quantisation| quantisation.scale(0)),
            zero_point: quantisation.map(Quantisation::zero),
            file_dtype: file_type.map_or(dtype, |file_type| file_type.name()),
        }
    }

    /// The file's type, behind a space, if that is another than the values'.
    #[must_use]
    pub fn file_dtype_in_words(&self) -> String {
        match self.file_dtype {
            same if same == self.dtype => String::new(),
            other => format!(" ({} here, {other} in the file)", self.dtype),
        }
    }
}
