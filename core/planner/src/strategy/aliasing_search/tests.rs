//! Searches with aliasing against brute force: every order, every choice of what copies.

use super::*;
use proptest::prelude::*;
use tilewright_model::{Activation, DType, Data, Node, Op, Padding, Quantisation, Shape};
use tilewright_model::{Source, Tensor, TensorId, Window};

/// Everything that may share.
const ALL: Aliasing =
    Aliasing { parts: true, slices: true, in_place: true, rows: true, copied: Vec::new() };

/// Units for an order, and for a placement by brute force.
const WORK: u64 = 20_000_000;

struct Build(Model);

impl Build {
    fn tensor(&mut self, shape: &[usize], data: Option<Data>) -> TensorId {
        // One quantisation for all, so that concats can join.
        let scales = vec![0.05; if data.is_some() { shape[0] } else { 1 }];
        let (zeros, axis) = (vec![0; scales.len()], data.as_ref().map(|_| 0));
        self.0.add_tensor(Tensor {
            name: format!("t{}", self.0.tensors.len()),
            shape: Shape::new(shape),
            dtype: data.as_ref().map_or(DType::I8, Data::dtype),
            quantisation: Some(Quantisation { scales, zeros, axis }),
            source: data.map(Source::inline),
        })
    }

    fn node(&mut self, op: Op, inputs: &[TensorId], shape: [usize; 3]) -> TensorId {
        let [h, w, c] = shape;
        let output = self.tensor(&[1, h, w, c], None);
        let name = format!("n{}", self.0.nodes.len());
        self.0.nodes.push(Node { name, op, inputs: inputs.to_vec(), outputs: vec![output] });
        output
    }

    fn hwc(&self, id: TensorId) -> [usize; 3] {
        self.0.tensor(id).shape.hwc().unwrap()
    }

    fn conv(&mut self, from: TensorId, size: usize, channels: usize) -> TensorId {
        let [h, w, c] = self.hwc(from);
        let elements = channels * size * size * c;
        let weights = self.tensor(&[channels, size, size, c], Some(Data::I8(vec![1; elements])));
        let bias = self.tensor(&[channels], Some(Data::I32(vec![0; channels])));
        let op = Op::Conv { window: window(size), groups: 1, activation: Activation::None };
        self.node(op, &[from, weights, bias], [h, w, channels])
    }

    fn slice(&mut self, from: TensorId, part: usize, axis: usize) -> TensorId {
        let mut size = self.hwc(from);
        let half = (size[axis] / 2).max(1);
        let mut begin = vec![0; 4];
        begin[axis + 1] = if part.is_multiple_of(2) { 0 } else { size[axis] - half };
        size[axis] = half;
        let [h, w, c] = size;
        let op = Op::Slice { begin, size: vec![1, h, w, c], stride: vec![1; 4] };
        self.node(op, &[from], size)
    }
}

fn window(size: usize) -> Window {
    let side = size / 2;
    let padding = Padding { top: side, left: side, bottom: side, right: side };
    Window { size: [size; 2], stride: [1; 2], dilation: [1; 2], padding }
}

/// A model of the operators drawn, each as kind and two words for its operands and sizes.
fn model(drawn: &[(u8, u8, u8)]) -> Model {
    let mut build = Build(Model::default());
    let input = build.tensor(&[1, 4, 3, 4], None);
    build.0.inputs.push(input);
    let mut made = vec![input];
    for (kind, one, two) in drawn {
        let (one, two) = (usize::from(*one), usize::from(*two));
        let from = made[made.len() - 1 - one % made.len().min(3)];
        let [h, w, c] = build.hwc(from);
        let like: Vec<TensorId> =
            made.iter().copied().filter(|other| build.hwc(*other)[..2] == [h, w]).collect();
        let other = like[two % like.len()];
        let [_, _, oc] = build.hwc(other);
        let activation = Activation::None;
        let output = match kind % 9 {
            0 | 1 => build.conv(from, 1 + 2 * (two % 2), 2 + two % 11),
            2 => build.node(Op::Activation(Activation::Relu), &[from], [h, w, c]),
            3 => build.node(Op::MaxPool { window: window(3), activation }, &[from], [h, w, c]),
            4 if oc == c && other != from => {
                build.node(Op::Add { activation }, &[from, other], [h, w, c])
            }
            5 => build.slice(from, one, two % 3),
            _ if other != from && c + oc < 30 => {
                build.node(Op::Concat { axis: 3 }, &[other, from], [h, w, c + oc])
            }
            _ => build.conv(from, 1, 3 + one % 6),
        };
        made.push(output);
    }
    let is_read = |id: &TensorId| build.0.nodes.iter().any(|node| node.inputs.contains(id));
    let outputs = made[1..].iter().copied().filter(|id| !is_read(id)).collect();
    build.0.outputs = outputs;
    build.0
}

/// All orders of `layers`.
fn orders(layers: &[Layer]) -> Vec<Vec<Layer>> {
    fn extend(layers: &[Layer], order: &mut Vec<usize>, all: &mut Vec<Vec<Layer>>) {
        if order.len() == layers.len() {
            all.push(order.iter().map(|index| layers[*index].clone()).collect());
        }
        for index in (0..layers.len()).filter(|index| !order.contains(index)).collect::<Vec<_>>() {
            let waits = layers.iter().enumerate().any(|(other, layer)| {
                let needed = layer.writes.iter().any(|id| layers[index].reads.contains(id));
                needed && !order.contains(&other)
            });
            if !waits {
                order.push(index);
                extend(layers, order, all);
                order.pop();
            }
        }
    }
    let mut all = Vec::new();
    extend(layers, &mut Vec::new(), &mut all);
    all
}

/// The least arena over all orders and all choices of what copies and of what is written over.
fn brute_force(model: &Model, given: &[Layer]) -> Bytes {
    let nodes = ALL.parts_of(model, given).nodes();
    let mut least = Bytes(u64::MAX);
    for layers in orders(given) {
        for choice in 0..1u32 << nodes.len() {
            let copies = nodes.iter().enumerate().filter(|(bit, _)| choice >> bit & 1 == 1);
            let copied: Vec<usize> = copies.map(|(_, node)| *node).collect();
            for in_place in [true, false] {
                let aliasing = Aliasing { in_place, copied: copied.clone(), ..ALL };
                let arranged =
                    aliasing::arrange(model, &layers, &aliasing, &|_| true, WORK).unwrap();
                least = least.min(arranged.height);
            }
        }
    }
    least
}

/// The height and the bound that the search comes to.
fn searched(model: &Model, given: &[Layer]) -> (Bytes, Bytes) {
    let apart = aliasing::arrange(model, given, &Aliasing::default(), &|_| true, WORK).unwrap();
    let best = Candidate { layers: given.to_vec(), arranged: apart };
    let mut search = AliasingSearch::new(model, given.to_vec(), ALL, best).unwrap();
    while !search.advance(model, WORK).unwrap() {}
    (search.best().arranged.height, search.bound())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_is_proved_with_aliasing_is_what_brute_force_finds(
        drawn in proptest::collection::vec(any::<(u8, u8, u8)>(), 1..6)
    ) {
        let model = model(&drawn);
        let given = lower::layers(&model);
        let (height, bound) = searched(&model, &given);
        let least = brute_force(&model, &given);
        prop_assert!(bound <= least, "bound {bound:?}, but there is a plan of {least:?}");
        prop_assert!(least <= height, "the search found {height:?}, brute force {least:?}");
        if bound == height {
            prop_assert_eq!(height, least);
        }
    }
}

/// Two branches and a concat as in SqueezeNet: joined, the concat's bytes are all held while the
/// branches are made; a bound that lets it copy as well counts less than either takes.
#[test]
fn a_concat_that_joins_or_copies_is_bounded_by_the_better_of_both() {
    let mut build = Build(Model::default());
    let input = build.tensor(&[1, 4, 4, 4], None);
    build.0.inputs.push(input);
    let squeezed = build.conv(input, 1, 4);
    let branches = [build.conv(squeezed, 1, 8), build.conv(squeezed, 3, 8)];
    let joined = build.node(Op::Concat { axis: 3 }, &branches, [4, 4, 16]);
    let last = build.conv(joined, 1, 2);
    build.0.outputs.push(last);
    let given = lower::layers(&build.0);
    let (height, bound) = searched(&build.0, &given);
    assert_eq!((height, bound), (Bytes(320), Bytes(320)));
    let graph = aliasing::graph(&build.0, &given, &ALL, &[]).unwrap();
    let mut solver = Solver::new(Problem::new(graph, Rules::default()).unwrap(), BUDGET);
    while !solver.advance(WORK) {}
    assert!(solver.standing().1 < bound);
}
