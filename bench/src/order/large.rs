//! Graphs as large as anything that planning must end on.

use fastrand::Rng;
use tilewright_order::{Graph, Operator, Tensor};

/// Graphs of about ten thousand operators, or of two thousand branches, by name.
pub fn graphs() -> Vec<(String, Graph)> {
    let graph = |name: &str, build: Build| (name.to_owned(), build.finish());
    vec![
        graph("chain of 10,000", chain(10_000)),
        graph("10,000 side by side", wide(10_000)),
        graph("random edges, 10,000", random(10_000)),
        graph("nearby edges, 10,000", nearby(10_000)),
        graph("grid of 100 by 100", grid(100)),
        graph("2,000 branches, joined in a tree", branches(2_000, Join::Tree)),
        graph("2,000 branches, joined one by one", branches(2_000, Join::Chain)),
        graph("2,000 branches, one concat", branches(2_000, Join::Concat)),
        graph("2,000 branches of one input, joined in a tree", fork(2_000, Join::Tree)),
        graph("2,000 branches of one input, one concat", fork(2_000, Join::Concat)),
    ]
}

/// How branches come together.
#[derive(Clone, Copy)]
enum Join {
    Tree,
    Chain,
    Concat,
}

/// A graph under construction, each operator with one output of a random size.
struct Build {
    graph: Graph,
    rng: Rng,
}

impl Build {
    fn new() -> Self {
        Self { graph: Graph::default(), rng: Rng::with_seed(1) }
    }

    fn tensor(&mut self, bytes: u64) -> usize {
        self.graph.tensors.push(Tensor { name: String::new(), bytes });
        self.graph.tensors.len() - 1
    }

    fn input(&mut self) -> usize {
        let bytes = self.rng.u64(1..1000);
        let input = self.tensor(bytes);
        self.graph.inputs.push(input);
        input
    }

    fn op(&mut self, inputs: &[usize]) -> usize {
        let bytes = self.rng.u64(1..1000);
        let output = self.tensor(bytes);
        self.graph.operators.push(Operator {
            name: format!("o{}", self.graph.operators.len()),
            inputs: inputs.to_vec(),
            outputs: vec![output],
            ..Operator::default()
        });
        output
    }

    /// What nothing reads is an output.
    fn finish(mut self) -> Graph {
        let mut is_read = vec![false; self.graph.tensors.len()];
        for input in self.graph.operators.iter().flat_map(|operator| &operator.inputs) {
            is_read[*input] = true;
        }
        self.graph.outputs = (0..is_read.len()).filter(|tensor| !is_read[*tensor]).collect();
        self.graph
    }

    fn join(&mut self, mut ends: Vec<usize>, join: Join) {
        match join {
            Join::Concat => {
                self.op(&ends);
            }
            Join::Chain => {
                let mut sum = ends[0];
                for end in &ends[1..] {
                    sum = self.op(&[sum, *end]);
                }
            }
            Join::Tree => {
                while ends.len() > 1 {
                    let pairs: Vec<Vec<usize>> = ends.chunks(2).map(<[usize]>::to_vec).collect();
                    ends = pairs
                        .into_iter()
                        .map(|pair| if pair.len() == 2 { self.op(&pair) } else { pair[0] })
                        .collect();
                }
            }
        }
    }
}

fn chain(count: usize) -> Build {
    let mut build = Build::new();
    let mut last = build.input();
    for _ in 0..count {
        last = build.op(&[last]);
    }
    build
}

fn wide(count: usize) -> Build {
    let mut build = Build::new();
    let input = build.input();
    let ends: Vec<usize> = (0..count).map(|_| build.op(&[input])).collect();
    build.join(ends, Join::Concat);
    build
}

fn random(count: usize) -> Build {
    let mut build = Build::new();
    let mut made = vec![build.input()];
    for _ in 0..count {
        let reads: Vec<usize> =
            (0..build.rng.usize(1..4)).map(|_| made[build.rng.usize(..made.len())]).collect();
        made.push(build.op(&reads));
    }
    build
}

/// Each operator reads what one of the thirty before it made: what networks look like.
fn nearby(count: usize) -> Build {
    let mut build = Build::new();
    let mut made = vec![build.input()];
    for _ in 0..count {
        let first = made.len().saturating_sub(30);
        let reads: Vec<usize> =
            (0..build.rng.usize(1..4)).map(|_| made[build.rng.usize(first..made.len())]).collect();
        made.push(build.op(&reads));
    }
    build
}

fn grid(side: usize) -> Build {
    let mut build = Build::new();
    let mut above = vec![build.input(); side];
    for row in 0..side {
        let mut left = None;
        for place in &mut above {
            let reads: Vec<usize> =
                left.into_iter().chain((row > 0 || left.is_none()).then_some(*place)).collect();
            *place = build.op(&reads);
            left = Some(*place);
        }
    }
    build
}

/// Branches of one to five operators, each with an input of its own.
fn branches(count: usize, join: Join) -> Build {
    let mut build = Build::new();
    let ends = (0..count)
        .map(|_| {
            let mut last = build.input();
            for _ in 0..build.rng.usize(1..6) {
                last = build.op(&[last]);
            }
            last
        })
        .collect();
    build.join(ends, join);
    build
}

/// Branches of one to five operators of one input.
fn fork(count: usize, join: Join) -> Build {
    let mut build = Build::new();
    let input = build.input();
    let ends = (0..count)
        .map(|_| {
            let mut last = input;
            for _ in 0..build.rng.usize(1..6) {
                last = build.op(&[last]);
            }
            last
        })
        .collect();
    build.join(ends, join);
    build
}
