//! One tile: copies of the region's nodes, each of which makes the pixels that the tile needs of it.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Region;
use crate::graph::{Model, Node, TensorId};
use crate::op::{Op, Padding, Window};
use crate::shape::Shape;
use crate::tensor::Tensor;

/// Some rows and columns of a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pixels {
    /// The rows.
    pub rows: Range<usize>,
    /// The columns.
    pub columns: Range<usize>,
}

impl Pixels {
    /// All of a tensor of rank 4.
    fn all(tensor: &Tensor) -> Self {
        let size = |axis: usize| 0..tensor.shape.dims().get(axis).copied().unwrap_or(0);
        Self { rows: size(1), columns: size(2) }
    }

    /// The least that holds both.
    fn hull(&self, other: &Self) -> Self {
        let hull = |a: &Range<usize>, b: &Range<usize>| a.start.min(b.start)..a.end.max(b.end);
        let (rows, columns) = (hull(&self.rows, &other.rows), hull(&self.columns, &other.columns));
        Self { rows, columns }
    }
}

/// What a tile makes of a layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The given model's node.
    pub node: usize,
    /// The node of the model in tiles that makes these pixels.
    pub copy: usize,
    /// The pixels of the layer's result.
    pub pixels: Pixels,
}

/// A tile, and all that it is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tile {
    /// What it reads of the region's input; nothing if it reads none of it.
    pub input: Option<Pixels>,
    /// What it makes, in the order of the given model's nodes.
    pub parts: Vec<Part>,
}

/// A tile that is to be written.
pub struct Branch<'m> {
    model: &'m Model,
    region: &'m Region,
    /// What the tile needs of each tensor that the region makes.
    needed: BTreeMap<TensorId, Pixels>,
}

impl<'m> Branch<'m> {
    /// The tile that makes some pixels of the region's output.
    pub fn of(model: &'m Model, region: &'m Region, pixels: &Pixels) -> Self {
        let mut needed = BTreeMap::from([(region.output, pixels.clone())]);
        for node in model.nodes[region.nodes.clone()].iter().rev() {
            let output = node.outputs.first().and_then(|output| needed.get(output)).cloned();
            let Some(output) = output else { continue };
            for input in activations(model, node).filter(|input| **input != region.input) {
                let seen = seen(model, node, *input, &output);
                let hull = needed.get(input).map_or_else(|| seen.clone(), |own| own.hull(&seen));
                needed.insert(*input, hull);
            }
        }
        Self { model, region, needed }
    }

    /// Adds the tile's nodes to a model whose tensors begin with those of the given one; what they make in the end,
    /// and on the way. Of each node it says which one it is a copy of.
    pub fn write(
        &self,
        tiled: &mut Model,
        origins: &mut Vec<Option<usize>>,
        name: &str,
    ) -> (TensorId, Tile) {
        let Self { model, region, needed } = self;
        let mut writer = Writer { tiled, name, made: BTreeMap::new(), slices: Vec::new() };
        let whole = Pixels::all(model.tensor(region.input));
        writer.made.insert(region.input, (region.input, whole));
        let mut tile = Tile { input: None, parts: Vec::new() };
        for (number, node) in region.nodes.clone().zip(&model.nodes[region.nodes.clone()]) {
            let Some(output) = node.outputs.first().filter(|output| needed.contains_key(output))
            else {
                continue;
            };
            let pixels = &needed[output];
            let mut inputs = node.inputs.clone();
            for input in inputs.iter_mut().filter(|input| !model.tensor(**input).is_constant()) {
                let seen = seen(model, node, *input, pixels);
                if *input == region.input {
                    tile.input = Some(tile.input.map_or_else(|| seen.clone(), |o| o.hull(&seen)));
                }
                *input = writer.part(*input, &seen);
            }
            let op = of_pixels(model, node, pixels);
            let made = writer.tensor(model.tensor(*output), pixels);
            let name = format!("{} {name}", node.name);
            origins.resize(writer.tiled.nodes.len(), None);
            origins.push(Some(number));
            let (copy, pixels) = (writer.tiled.nodes.len(), pixels.clone());
            writer.tiled.nodes.push(Node { name, op, inputs, outputs: vec![made] });
            tile.parts.push(Part { node: number, copy, pixels: pixels.clone() });
            writer.made.insert(*output, (made, pixels));
        }
        (writer.made.get(&region.output).map_or(region.output, |(made, _)| *made), tile)
    }
}

/// A tile's nodes as they are added.
struct Writer<'w> {
    tiled: &'w mut Model,
    name: &'w str,
    /// Of each tensor of the region what the tile has.
    made: BTreeMap<TensorId, (TensorId, Pixels)>,
    /// Parts of these that were cut out.
    slices: Vec<(TensorId, Pixels, TensorId)>,
}

impl Writer<'_> {
    /// A tensor of some pixels of another.
    fn tensor(&mut self, whole: &Tensor, pixels: &Pixels) -> TensorId {
        let channels = whole.shape.dims().get(3).copied().unwrap_or(1);
        let shape = Shape::new([1, pixels.rows.len(), pixels.columns.len(), channels]);
        let name = format!("{} {}", whole.name, self.name);
        self.tiled.add_tensor(Tensor { name, shape, ..whole.clone() })
    }

    /// Some pixels of a tensor of the region: cut out, unless the tile has just these.
    fn part(&mut self, tensor: TensorId, pixels: &Pixels) -> TensorId {
        let Some((made, own)) = self.made.get(&tensor).cloned() else { return tensor };
        if own == *pixels {
            return made;
        }
        let known = self.slices.iter().find(|(of, part, _)| *of == made && part == pixels);
        if let Some((_, _, known)) = known {
            return *known;
        }
        let whole = self.tiled.tensor(made).clone();
        let part = self.tensor(&Tensor { name: format!("{} part", whole.name), ..whole }, pixels);
        let size = self.tiled.tensor(part).shape.dims().to_vec();
        let begin = vec![
            0,
            pixels.rows.start - own.rows.start,
            pixels.columns.start - own.columns.start,
            0,
        ];
        let op = Op::Slice { begin, size, stride: vec![1; 4] };
        let name = self.tiled.tensor(part).name.clone();
        self.tiled.nodes.push(Node { name, op, inputs: vec![made], outputs: vec![part] });
        self.slices.push((made, pixels.clone(), part));
        part
    }
}

/// The operands of a node that are no constants.
fn activations<'n>(model: &'n Model, node: &'n Node) -> impl Iterator<Item = &'n TensorId> {
    node.inputs.iter().filter(|input| !model.tensor(**input).is_constant())
}

/// Along one dimension what windows see, and the padding before and behind that.
struct Seen {
    pixels: Range<usize>,
    before: usize,
    behind: usize,
}

/// What windows at these pixels of the output see along one dimension of so many pixels.
fn along(window: &Window, axis: usize, padding: usize, size: usize, made: &Range<usize>) -> Seen {
    let reach = (window.size[axis] - 1) * window.dilation[axis] + 1;
    // In pixels of the padded picture.
    let start = made.start * window.stride[axis];
    let end = (made.end - 1) * window.stride[axis] + reach;
    let pixels = start.saturating_sub(padding)..end.saturating_sub(padding).min(size);
    let before = padding.saturating_sub(start);
    let behind = end.saturating_sub(padding + size);
    Seen { pixels, before, behind }
}

/// Both dimensions of what a node's window sees of its picture.
fn both(model: &Model, node: &Node, window: &Window, made: &Pixels) -> [Seen; 2] {
    let whole = node.inputs.first().map(|input| Pixels::all(model.tensor(*input)));
    let whole = whole.unwrap_or(Pixels { rows: 0..0, columns: 0..0 });
    let Padding { top, left, .. } = window.padding;
    [
        along(window, 0, top, whole.rows.end, &made.rows),
        along(window, 1, left, whole.columns.end, &made.columns),
    ]
}

/// The pixels of an operand that a node's result at some pixels is made from.
fn seen(model: &Model, node: &Node, input: TensorId, made: &Pixels) -> Pixels {
    match node.op.window() {
        Some(window) if node.inputs.first() == Some(&input) => {
            let [rows, columns] = both(model, node, window, made);
            Pixels { rows: rows.pixels, columns: columns.pixels }
        }
        _ => made.clone(),
    }
}

/// The node's operator where it makes some pixels alone: with the padding that is left there.
fn of_pixels(model: &Model, node: &Node, made: &Pixels) -> Op {
    let mut op = node.op.clone();
    if let Op::Slice { size, .. } = &mut op {
        (size[1], size[2]) = (made.rows.len(), made.columns.len());
    }
    let Some(window) = op.window().copied() else { return op };
    let [rows, columns] = both(model, node, &window, made);
    let padding = Padding {
        top: rows.before,
        left: columns.before,
        bottom: rows.behind,
        right: columns.behind,
    };
    match &mut op {
        Op::Conv { window, .. } | Op::DepthwiseConv { window, .. } | Op::MaxPool { window, .. } => {
            window.padding = padding;
        }
        Op::AveragePool { window, uncounted, .. } => {
            // The last of the padding do not count.
            let gone =
                [window.padding.bottom - padding.bottom, window.padding.right - padding.right];
            *uncounted = [0, 1].map(|axis| uncounted[axis].saturating_sub(gone[axis]));
            window.padding = padding;
        }
        _ => {}
    }
    op
}

/// What keeps a node from being made in tiles, if something does.
pub fn obstacle(model: &Model, node: &Node) -> Option<&'static str> {
    let dims = |id: &TensorId| model.tensor(*id).shape.dims();
    let is_picture = |id: &TensorId| matches!(dims(id), [1, ..]) && dims(id).len() == 4;
    let [output] = node.outputs.as_slice() else { return Some("it has several results") };
    if !is_picture(output) || !activations(model, node).all(is_picture) {
        return Some(
            "it reads or makes something else than one picture of rows, columns and channels",
        );
    }
    let sides = |id: &TensorId| dims(id).get(1..3).map(<[usize]>::to_vec);
    let is_alike = || activations(model, node).all(|input| sides(input) == sides(output));
    // Constants that are the same at each pixel.
    let is_channels = |id: &TensorId| {
        let inner = dims(id).iter().rev().skip(1);
        inner.copied().all(|side| side == 1)
    };
    let constants = node.inputs.iter().filter(|input| model.tensor(**input).is_constant());
    let pointwise = || is_alike() && constants.clone().all(is_channels);
    let is_right = match &node.op {
        Op::Conv { window, .. }
        | Op::DepthwiseConv { window, .. }
        | Op::MaxPool { window, .. }
        | Op::AveragePool { window, .. } => {
            let Padding { top, left, bottom, right } = window.padding;
            let reach = |axis: usize| window.size[axis].saturating_sub(1) * window.dilation[axis];
            if top.max(bottom) > reach(0) || left.max(right) > reach(1) {
                return Some("its padding is larger than its window");
            }
            return None;
        }
        Op::Concat { axis } => *axis == 3 && is_alike(),
        Op::Slice { begin, size, stride } => {
            let input = node.inputs.first().map(dims).unwrap_or_default();
            let is_whole = |axis: usize| {
                begin.get(axis) == Some(&0)
                    && size.get(axis) == input.get(axis)
                    && stride.get(axis) == Some(&1)
            };
            (0..3).all(is_whole)
        }
        Op::Pad { amounts, .. } => amounts.iter().take(3).all(|amount| *amount == (0, 0)),
        op if op.is_binary() => pointwise(),
        Op::Activation(_)
        | Op::Unary(_)
        | Op::Prelu
        | Op::Requantise
        | Op::BatchNorm { .. }
        | Op::Softmax
        | Op::LogSoftmax
        | Op::LocalResponseNorm { .. } => pointwise(),
        _ => false,
    };
    (!is_right).then_some("a pixel of its result is not made from pixels around the same place")
}
