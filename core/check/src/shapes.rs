//! Shapes of tensors as steps see them.

use tilewright_model::{DType, Model, Op as ModelOp, TensorId};
use tilewright_plan::{Kernel, View};

/// The tensor whose bytes a tensor names: reshapes resolved.
pub fn roots(model: &Model) -> Vec<TensorId> {
    let mut roots: Vec<TensorId> = (0..model.tensors.len()).map(TensorId).collect();
    for node in model.nodes.iter().filter(|node| matches!(node.op, ModelOp::Reshape)) {
        if let (Some(input), Some(output)) = (node.inputs.first(), node.outputs.first()) {
            roots[output.0] = roots[input.0];
        }
    }
    roots
}

/// Height, width, channels; of 32-bit integers the last counts bytes.
pub fn shape(model: &Model, id: TensorId) -> Result<[u64; 3], String> {
    let tensor = model.tensor(id);
    let [h, w, c] = tensor
        .shape
        .hwc()
        .ok_or_else(|| format!("tensor '{}' has no height, width and channels", tensor.name))?
        .map(|dim| dim as u64);
    Ok([h, w, if tensor.dtype == DType::I32 { c * 4 } else { c }])
}

/// Bytes of a tensor.
pub fn bytes(model: &Model, id: TensorId) -> u64 {
    model.tensor(id).bytes().unwrap_or(usize::MAX) as u64
}

/// Rows, columns and channels of a tensor of up to four dimensions and batch 1, aligned at the
/// last: what broadcasting sees.
pub fn aligned(model: &Model, id: TensorId) -> Result<[u64; 3], String> {
    let tensor = model.tensor(id);
    let mut dims = [1u64; 4];
    for (slot, dim) in dims.iter_mut().rev().zip(tensor.shape.dims().iter().rev()) {
        *slot = *dim as u64;
    }
    let [batch, shape @ ..] = dims;
    if batch != 1 || tensor.shape.rank() > 4 {
        return Err(format!("tensor '{}' is more than a picture", tensor.name));
    }
    Ok(shape)
}

/// Which of rows, columns and channels dimension `axis` of a tensor is; nothing for the batch.
pub fn dimension(model: &Model, id: TensorId, axis: usize) -> Option<usize> {
    let behind = model.tensor(id).shape.rank().checked_sub(axis + 1)?;
    2usize.checked_sub(behind)
}

/// The shape by which a kernel numbers the elements of an operand whose bytes it sees through a
/// view. Kernels that take elements one by one may see a whole tensor as another shape.
pub fn seen(model: &Model, kernel: Kernel, id: TensorId, view: &View) -> Result<[u64; 3], String> {
    let size = [u64::from(view.h), u64::from(view.w), u64::from(view.c)];
    let whole = view.is_contiguous()
        && (view.y0, view.x0) == (0, 0)
        && size.iter().product::<u64>() == bytes(model, id);
    match kernel {
        Kernel::FullyConnected | Kernel::Gather | Kernel::Lut | Kernel::Requantise if whole => {
            Ok(size)
        }
        Kernel::Add
        | Kernel::Sub
        | Kernel::Mul
        | Kernel::Maximum
        | Kernel::Minimum
        | Kernel::Prelu => aligned(model, id),
        _ => shape(model, id),
    }
}
