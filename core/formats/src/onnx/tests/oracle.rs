//! ONNX files run by tract, to compare the importer and the float interpreter with.

use thiserror::Error;
use tract_onnx::prelude::*;

/// A float array in the file's own layout, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Dimensions, as the file has them: images NCHW.
    pub dims: Vec<usize>,
    /// Values.
    pub values: Vec<f32>,
}

/// tract could not run the file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("tract: {0}")]
pub struct OracleError(String);

/// Runs a file on inputs with fixed dimensions; the outputs in the file's order and layout.
///
/// # Errors
/// If tract cannot read or run the file, or an output is not float.
pub fn run(bytes: &[u8], inputs: &[Array]) -> Result<Vec<Array>, OracleError> {
    run_inner(bytes, inputs).map_err(|error| OracleError(format!("{error:#}")))
}

fn run_inner(mut bytes: &[u8], inputs: &[Array]) -> TractResult<Vec<Array>> {
    let mut model = tract_onnx::onnx().model_for_read(&mut bytes)?;
    let mut values: TVec<TValue> = tvec!();
    for (index, input) in inputs.iter().enumerate() {
        let fact = InferenceFact::dt_shape(f32::datum_type(), input.dims.as_slice());
        model.set_input_fact(index, fact)?;
        values.push(Tensor::from_shape(&input.dims, &input.values)?.into());
    }
    let outputs = model.into_optimized()?.into_runnable()?.run(values)?;
    outputs
        .iter()
        .map(|output| {
            let array = output.to_plain_array_view::<f32>()?;
            Ok(Array { dims: array.shape().to_vec(), values: array.iter().copied().collect() })
        })
        .collect()
}
