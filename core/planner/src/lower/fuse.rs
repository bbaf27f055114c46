//! Convolutions with the max pool behind them as one layer (Unlu, section 3.1).

use super::{Layer, roots};
use tilewright_model::{Model, Node, Op, TensorId, Window};
use tilewright_plan::{Kernel, Work};

/// Makes one layer of each convolution and the max pool behind it, where nothing else needs what
/// lies between; it stands where the convolution stood.
#[must_use]
pub fn fuse_pools(model: &Model, layers: Vec<Layer>) -> Vec<Layer> {
    fuse_pools_where(model, layers, |_, _| true)
}

/// As [`fuse_pools`], of such convolutions with pools with such windows only.
#[must_use]
pub fn fuse_pools_where(
    model: &Model,
    mut layers: Vec<Layer>,
    is_wanted: impl Fn(&Node, &Window) -> bool,
) -> Vec<Layer> {
    let roots = roots(model);
    let mut readers = vec![0usize; model.tensors.len()];
    for id in model.nodes.iter().flat_map(|node| &node.inputs).chain(&model.outputs) {
        readers[id.0] += 1;
    }
    let mut maker = vec![None; model.tensors.len()];
    for (position, layer) in layers.iter().enumerate() {
        if layer.work == Work::Kernel(Kernel::Conv)
            && let [output] = layer.writes.as_slice()
            && readers[output.0] == 1
        {
            maker[output.0] = Some(position);
        }
    }
    let mut fused = vec![false; layers.len()];
    for position in 0..layers.len() {
        let layer = &layers[position];
        let (Work::Kernel(Kernel::MaxPool), [between]) = (&layer.work, layer.reads.as_slice())
        else {
            continue;
        };
        let Some(conv) = maker[between.0] else { continue };
        let (pool, writes) = (layer.node, layer.writes.clone());
        let nodes = [layers[conv].node, pool].map(|id| &model.nodes[id.0]);
        let Op::MaxPool { window, .. } = &nodes[1].op else { continue };
        let is_whole = roots[between.0] == *between;
        if is_wanted(nodes[0], window) && is_whole && are_one(model, nodes, *between) {
            layers[conv].work = Work::Kernel(Kernel::ConvMaxPool);
            layers[conv].pool = Some(pool);
            layers[conv].writes = writes;
            fused[position] = true;
        }
    }
    let mut fused = fused.into_iter();
    layers.retain(|_| !fused.next().unwrap_or(false));
    layers
}

/// Whether one kernel computes both: the pool keeps the scale, and every window of either sees what
/// it is computed from.
fn are_one(model: &Model, [conv, pool]: [&Node; 2], between: TensorId) -> bool {
    let (Op::Conv { window, .. }, Op::MaxPool { window: behind, .. }, [output]) =
        (&conv.op, &pool.op, pool.outputs.as_slice())
    else {
        return false;
    };
    pool.inputs.first() == Some(&between)
        && model.tensor(between).quantisation == model.tensor(*output).quantisation
        && behind.dilation == [1, 1]
        && sees_always(window)
        && sees_always(behind)
}

/// Whether no padding is as wide as the window.
fn sees_always(window: &Window) -> bool {
    let padding = &window.padding;
    let axes = [[padding.top, padding.bottom], [padding.left, padding.right]];
    axes.iter().enumerate().all(|(axis, padding)| {
        let reach = (window.size[axis] - 1) * window.dilation[axis];
        padding.iter().all(|padding| *padding <= reach)
    })
}
