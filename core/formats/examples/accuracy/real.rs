//! An int8 model's real values as a float model.

use tilewright_model::{DType, Data, Model, Quantisation, Shape, Source};

/// The model with floats instead of integers; nothing if a constant's values are not at hand.
/// Activations lose their scales: the quantiser finds its own.
pub fn of(model: &Model) -> Option<Model> {
    let mut real = model.clone();
    for tensor in &mut real.tensors {
        if let (DType::I8, Some(quantisation), Some(source)) =
            (tensor.dtype, &tensor.quantisation, &tensor.source)
        {
            let values = floats(source.values().as_i8()?, &tensor.shape, quantisation);
            tensor.source = Some(Source::inline(Data::F32(values)));
        }
        if tensor.dtype == DType::I8 {
            (tensor.dtype, tensor.quantisation) = (DType::F32, None);
        }
    }
    for node in model.nodes.iter().filter(|node| node.op.is_weighted()) {
        let [input, weights, bias] = *node.inputs.as_slice() else { continue };
        let input = model.tensor(input).quantisation.as_ref()?.scale(0);
        let weights = model.tensor(weights).quantisation.as_ref()?;
        let values = model.tensor(bias).source.as_ref()?.values();
        let value = |(channel, bias): (usize, &i32)| {
            (f64::from(*bias) * f64::from(input) * f64::from(weights.scale(channel))) as f32
        };
        let values = values.as_i32()?.iter().enumerate().map(value).collect();
        let bias = &mut real.tensors[bias.0];
        (bias.dtype, bias.quantisation) = (DType::F32, None);
        bias.source = Some(Source::inline(Data::F32(values)));
    }
    Some(real)
}

fn floats(values: &[i8], shape: &Shape, quantisation: &Quantisation) -> Vec<f32> {
    let Some(axis) = quantisation.axis else { return quantisation.dequantise(values) };
    let inner = shape.dims()[axis + 1..].iter().product::<usize>().max(1);
    let count = shape.dims()[axis].max(1);
    let value = |(position, value): (usize, &i8)| {
        let channel = position / inner % count;
        (i32::from(*value) - quantisation.zeros[channel]) as f32 * quantisation.scale(channel)
    };
    values.iter().enumerate().map(value).collect()
}
