//! The six networks of cells that HMCOS orders (Wang et al., DAC 2022), built from the published
//! cells of NASNet-A, AmoebaNet-A and DARTS with that project's stems, filters and numbers of cells.

use std::collections::BTreeMap;

use tilewright_order::{Effect, Graph, Operator, Tensor};

/// Bytes of an element.
const FLOAT: u64 = 4;

/// What a cell does with one of its states.
#[derive(Clone, Copy)]
enum Branch {
    /// Nothing.
    Skip,
    /// Two separable convolutions.
    Separable,
    /// One separable convolution.
    Dilated,
    Average,
    Max,
    /// A row and a column of weights.
    Factorised,
}

use Branch::{Average, Dilated, Factorised, Max, Separable, Skip};

/// The sums of a cell, each of two branches of states, and the states that are joined; the first
/// two states are what the cell before last and the last have made.
struct Cell {
    sums: &'static [[(Branch, usize); 2]],
    joined: &'static [usize],
}

/// A family of networks.
struct Family {
    name: &'static str,
    normal: Cell,
    reduction: Cell,
    /// Twice the filters at the beginning, and cells between reductions, for CIFAR and for ImageNet.
    sizes: [(u64, usize); 2],
}

const FAMILIES: [Family; 3] = [
    Family {
        name: "AmoebaNet",
        normal: Cell {
            sums: &[
                [(Average, 0), (Max, 0)],
                [(Skip, 0), (Average, 1)],
                [(Separable, 2), (Separable, 1)],
                [(Separable, 2), (Skip, 1)],
                [(Average, 4), (Separable, 0)],
            ],
            joined: &[3, 5, 6],
        },
        reduction: Cell {
            sums: &[
                [(Average, 0), (Separable, 1)],
                [(Max, 1), (Max, 0)],
                [(Max, 0), (Separable, 2)],
                [(Separable, 0), (Average, 1)],
                [(Separable, 3), (Factorised, 0)],
            ],
            joined: &[4, 5, 6],
        },
        sizes: [(72, 6), (24, 4)],
    },
    Family {
        name: "DARTS",
        normal: Cell {
            sums: &[
                [(Separable, 0), (Separable, 1)],
                [(Separable, 0), (Separable, 1)],
                [(Separable, 1), (Skip, 0)],
                [(Skip, 0), (Dilated, 2)],
            ],
            joined: &[2, 3, 4, 5],
        },
        reduction: Cell {
            sums: &[
                [(Max, 0), (Max, 1)],
                [(Skip, 2), (Max, 1)],
                [(Max, 0), (Skip, 2)],
                [(Skip, 2), (Max, 1)],
            ],
            joined: &[2, 3, 4, 5],
        },
        sizes: [(72, 6), (24, 4)],
    },
    Family {
        name: "NASNet",
        normal: Cell {
            sums: &[
                [(Separable, 1), (Separable, 0)],
                [(Separable, 0), (Separable, 0)],
                [(Average, 1), (Skip, 0)],
                [(Average, 0), (Average, 0)],
                [(Separable, 1), (Skip, 1)],
            ],
            joined: &[0, 2, 3, 4, 5, 6],
        },
        reduction: Cell {
            sums: &[
                [(Separable, 1), (Separable, 0)],
                [(Max, 1), (Separable, 0)],
                [(Average, 1), (Separable, 0)],
                [(Skip, 3), (Average, 2)],
                [(Separable, 2), (Max, 1)],
            ],
            joined: &[3, 4, 5, 6],
        },
        sizes: [(64, 6), (22, 4)],
    },
];

/// The networks by name.
pub fn graphs() -> Vec<(String, Graph)> {
    let of_family = |family: &'static Family| {
        ["CIFAR", "ImageNet"].into_iter().enumerate().map(move |(kind, images)| {
            (format!("{}, {images}", family.name), network(family, kind == 1))
        })
    };
    FAMILIES.iter().flat_map(of_family).collect()
}

fn network(family: &Family, is_imagenet: bool) -> Graph {
    let (twice, stacked) = family.sizes[usize::from(is_imagenet)];
    let mut build = Build::default();
    let input = build.tensor([3, if is_imagenet { 224 } else { 32 }]);
    build.graph.inputs.push(input);
    let stem = [32, if is_imagenet { 112 } else { 32 }];
    let mut cur = build.op("conv", Effect::Plain, &[input], stem);
    let mut prev = None;
    let normal = std::iter::repeat_n(false, stacked);
    let reductions = if is_imagenet { 2 } else { 0 };
    let mut kinds: Vec<bool> =
        std::iter::repeat_n(true, reductions).chain(normal.clone()).collect();
    for _ in 0..2 {
        kinds.push(true);
        kinds.extend(normal.clone());
    }
    let mut filters = twice;
    for is_reduction in kinds {
        filters *= if is_reduction { 2 } else { 1 };
        let cell = if is_reduction { &family.reduction } else { &family.normal };
        let next = build.cell(cell, [prev, Some(cur)], filters / 2, is_reduction);
        (prev, cur) = (Some(cur), next);
    }
    let relu = build.relu(cur);
    let [channels, _] = build.shapes[relu];
    let pooled = build.op("mean", Effect::Plain, &[relu], [channels, 1]);
    let classes = if is_imagenet { 1000 } else { 100 };
    let output = build.op("dense", Effect::Plain, &[pooled], [classes, 1]);
    build.graph.outputs.push(output);
    build.graph
}

/// A graph under construction. What has no weights is made once for the same operands.
#[derive(Default)]
struct Build {
    graph: Graph,
    /// Channels and side of each tensor.
    shapes: Vec<[u64; 2]>,
    made: BTreeMap<(&'static str, Vec<usize>, [u64; 2]), usize>,
}

impl Build {
    fn tensor(&mut self, [channels, side]: [u64; 2]) -> usize {
        let name = format!("t{}", self.shapes.len());
        let bytes = channels * side * side * FLOAT;
        self.graph.tensors.push(Tensor { name, bytes });
        self.shapes.push([channels, side]);
        self.shapes.len() - 1
    }

    fn op(&mut self, name: &str, effect: Effect, inputs: &[usize], shape: [u64; 2]) -> usize {
        let output = self.tensor(shape);
        self.graph.operators.push(Operator {
            name: name.to_owned(),
            effect,
            inputs: inputs.to_vec(),
            outputs: vec![output],
            ..Operator::default()
        });
        output
    }

    fn once(
        &mut self,
        name: &'static str,
        effect: Effect,
        inputs: &[usize],
        shape: [u64; 2],
    ) -> usize {
        let key = (name, inputs.to_vec(), shape);
        if let Some(made) = self.made.get(&key) {
            return *made;
        }
        let made = self.op(name, effect, inputs, shape);
        self.made.insert(key, made);
        made
    }

    fn relu(&mut self, from: usize) -> usize {
        self.once("relu", Effect::Elementwise, &[from], self.shapes[from])
    }

    fn conv(&mut self, from: usize, channels: u64, side: u64) -> usize {
        self.op("conv", Effect::Plain, &[from], [channels, side])
    }

    /// Depthwise, then one by one.
    fn separable(&mut self, from: usize, filters: u64, side: u64) -> usize {
        let relu = self.relu(from);
        let [channels, _] = self.shapes[relu];
        let deep = self.conv(relu, channels, side);
        self.conv(deep, filters, side)
    }

    fn squeezed(&mut self, from: usize, filters: u64) -> usize {
        let relu = self.relu(from);
        let [_, side] = self.shapes[relu];
        self.conv(relu, filters, side)
    }

    /// The state before last, as large as the last.
    fn fitted(&mut self, prev: usize, side: u64, filters: u64) -> usize {
        let [channels, before] = self.shapes[prev];
        if before == side {
            return self.squeezed(prev, filters);
        }
        let relu = self.relu(prev);
        let even = self.once("sampled", Effect::Plain, &[relu], [channels, side]);
        let even = self.conv(even, filters / 2, side);
        let padded = self.once("pad", Effect::Plain, &[relu], [channels, before + 1]);
        let moved = self.once("slice", Effect::Plain, &[padded], [channels, before]);
        let odd = self.once("sampled", Effect::Plain, &[moved], [channels, side]);
        let odd = self.conv(odd, filters / 2, side);
        let both = self.op("concat", Effect::Concat, &[even, odd], [filters, side]);
        self.op("normalise", Effect::Elementwise, &[both], [filters, side])
    }

    fn branch(&mut self, branch: Branch, from: usize, filters: u64, side: u64) -> usize {
        let [channels, _] = self.shapes[from];
        match branch {
            Skip => from,
            Separable => {
                let first = self.separable(from, filters, side);
                self.separable(first, filters, side)
            }
            Dilated => self.separable(from, filters, side),
            Average => self.once("average", Effect::Plain, &[from], [channels, side]),
            Max => self.once("max", Effect::Plain, &[from], [channels, side]),
            Factorised => {
                let row = self.conv(from, filters, side);
                self.conv(row, filters, side)
            }
        }
    }

    fn cell(
        &mut self,
        cell: &Cell,
        [prev, cur]: [Option<usize>; 2],
        filters: u64,
        is_reduction: bool,
    ) -> usize {
        let cur = cur.map_or(0, |cur| self.squeezed(cur, filters));
        let [_, side] = self.shapes[cur];
        let prev = prev.map_or(cur, |prev| self.fitted(prev, side, filters));
        let smaller = if is_reduction { side / 2 } else { side };
        let mut states = vec![prev, cur];
        for sum in cell.sums {
            let [one, two] =
                sum.map(|(branch, state)| self.branch(branch, states[state], filters, smaller));
            states.push(self.once("add", Effect::Elementwise, &[one, two], [filters, smaller]));
        }
        let joined: Vec<usize> = cell.joined.iter().map(|state| states[*state]).collect();
        let channels = joined.iter().map(|state| self.shapes[*state][0]).sum();
        self.op("concat", Effect::Concat, &joined, [channels, smaller])
    }
}
