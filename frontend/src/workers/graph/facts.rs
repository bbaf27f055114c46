//! What is drawn of a model.

use tilewright_model::{Activation, Model, Node, Op, Shape, Tensor, TensorId};

use super::layout::{Net, layout};
use crate::message::{GraphFacts, GraphNet, GraphNode, NodeRole};
use crate::view_model::layers::Family;

/// The drawing of a model, which must be free of cycles and in an order of execution, as
/// [`Model::verify`] holds.
#[must_use]
pub fn graph(model: &Model) -> GraphFacts {
    let inputs = model.inputs.iter().map(|id| port(model.tensor(*id), NodeRole::Input));
    let operators =
        model.nodes.iter().enumerate().map(|(index, node)| operator(model, index, node));
    let outputs = model.outputs.iter().map(|id| port(model.tensor(*id), NodeRole::Output));
    let mut nodes: Vec<GraphNode> = inputs.chain(operators).chain(outputs).collect();
    let mut nets = nets(model);
    let wires: Vec<Net> = nets
        .iter()
        .map(|net| Net {
            from: net.from as usize,
            to: net.to.iter().map(|to| *to as usize).collect(),
        })
        .collect();
    let found = layout(nodes.len(), &wires);
    for ((node, layer), x) in nodes.iter_mut().zip(&found.layers).zip(&found.x) {
        node.layer = *layer;
        node.x = *x as f32;
    }
    for (net, trunk) in nets.iter_mut().zip(&found.trunks) {
        net.trunk = trunk.iter().map(|x| *x as f32).collect();
    }
    let layers = found.layers.iter().max().map_or(0, |last| last + 1);
    GraphFacts { nodes, nets, layers, width: found.width as f32, tiled: None }
}

/// Activations with the nodes between which they run, numbered as the drawing numbers them.
fn nets(model: &Model) -> Vec<GraphNet> {
    let (first, behind) = (model.inputs.len(), model.inputs.len() + model.nodes.len());
    let consumers = model.consumers();
    let mut from: Vec<Option<u32>> = vec![None; model.tensors.len()];
    for (index, id) in model.inputs.iter().enumerate() {
        from[id.0] = Some(index as u32);
    }
    for (index, id) in model.producers().iter().enumerate() {
        if let Some(node) = id {
            from[index] = Some((first + node.0) as u32);
        }
    }
    let net = |(index, from): (usize, &Option<u32>)| {
        let tensor = &model.tensors[index];
        let mut to: Vec<u32> =
            consumers[index].iter().map(|node| (first + node.0) as u32).collect();
        let gives = |(_, id): &(usize, &TensorId)| id.0 == index;
        let outputs = model.outputs.iter().enumerate().filter(gives);
        to.extend(outputs.map(|(output, _)| (behind + output) as u32));
        Some(GraphNet {
            tensor: index as u32,
            name: tensor.name.clone(),
            shape: shape(&tensor.shape),
            bytes: tensor.bytes().unwrap_or(0) as u64,
            from: (*from)?,
            to,
            trunk: Vec::new(),
        })
    };
    from.iter().enumerate().filter_map(net).filter(|net| !net.to.is_empty()).collect()
}

fn port(tensor: &Tensor, role: NodeRole) -> GraphNode {
    GraphNode {
        role,
        name: tensor.name.clone(),
        op: if role == NodeRole::Input { "Input" } else { "Output" }.to_owned(),
        detail: tensor.dtype.name().to_owned(),
        family: Family::Other,
        inputs: Vec::new(),
        output: shape(&tensor.shape),
        macs: 0,
        parameters: 0,
        weight_bytes: 0,
        output_bytes: tensor.bytes().unwrap_or(0) as u64,
        layer: 0,
        x: 0.0,
    }
}

fn operator(model: &Model, index: usize, node: &Node) -> GraphNode {
    let inputs = || node.inputs.iter().map(|id| model.tensor(*id));
    let bytes = |tensor: &Tensor| tensor.bytes().unwrap_or(0) as u64;
    let outputs = || node.outputs.iter().map(|id| model.tensor(*id));
    let number = index as u32;
    GraphNode {
        role: match node.op {
            Op::Opaque { .. } => NodeRole::Opaque(number),
            _ => NodeRole::Operator(number),
        },
        name: node.name.clone(),
        op: node.op.name().to_owned(),
        detail: detail(model, node),
        family: family(&node.op),
        inputs: inputs().filter(|t| !t.is_constant()).map(|t| shape(&t.shape)).collect(),
        output: outputs().next().map(|tensor| shape(&tensor.shape)).unwrap_or_default(),
        macs: model.macs(node),
        parameters: model.parameters_of(node),
        weight_bytes: inputs().filter(|tensor| tensor.is_constant()).map(bytes).sum(),
        output_bytes: outputs().map(bytes).sum(),
        layer: 0,
        x: 0.0,
    }
}

const fn family(op: &Op) -> Family {
    match op {
        Op::Conv { .. } | Op::TransposeConv { .. } => Family::Conv,
        Op::DepthwiseConv { .. } => Family::Depthwise,
        Op::FullyConnected { .. } => Family::Dense,
        Op::MaxPool { .. } | Op::AveragePool { .. } | Op::Mean { .. } => Family::Pool,
        _ => Family::Other,
    }
}

/// Window, stride, dilation, groups and activation, as far as they are not as usual.
fn detail(model: &Model, node: &Node) -> String {
    let mut parts = Vec::new();
    if let Some(window) = node.op.window() {
        let pair = |[a, b]: [usize; 2]| if a == b { a.to_string() } else { format!("{a}×{b}") };
        parts.push(format!("{}×{}", window.size[0], window.size[1]));
        if window.stride != [1, 1] {
            parts.push(format!("stride {}", pair(window.stride)));
        }
        if window.dilation != [1, 1] {
            parts.push(format!("dilation {}", pair(window.dilation)));
        }
    }
    match &node.op {
        Op::Conv { groups, .. } if *groups > 1 => parts.push(format!("{groups} groups")),
        Op::Concat { .. } => parts.push(format!("of {}", node.inputs.len())),
        Op::Add { .. } | Op::Mul { .. } | Op::Sub { .. }
            if node.inputs.iter().any(|id| model.tensor(*id).is_constant()) =>
        {
            parts.push("constant".to_owned());
        }
        _ => {}
    }
    parts.extend(match node.op.activation() {
        Some(Activation::Relu) => Some("ReLU".to_owned()),
        Some(Activation::Relu6) => Some("ReLU6".to_owned()),
        Some(Activation::ReluN1To1) => Some("ReLU ±1".to_owned()),
        Some(Activation::None) | None => None,
    });
    parts.join(", ")
}

/// Height, width, channels; without the batch, which is 1.
pub fn shape(shape: &Shape) -> String {
    let dims = shape.dims();
    let inner = if dims.len() > 1 && dims[0] == 1 { &dims[1..] } else { dims };
    if inner.is_empty() {
        return "1".to_owned();
    }
    inner.iter().map(usize::to_string).collect::<Vec<_>>().join("×")
}
