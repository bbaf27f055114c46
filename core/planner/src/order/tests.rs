//! Every answer against brute force on small random graphs.

use super::*;
use proptest::prelude::*;
use tilewright_plan::Bytes;

/// A random graph: operators in an order, each reading a few of the tensors made before it.
pub fn any_graph(most: usize) -> impl Strategy<Value = Graph> {
    let operator = (
        proptest::collection::vec(any::<proptest::sample::Index>(), 0..4),
        proptest::collection::vec(0u64..6, 1..3),
        0usize..6,
    );
    (
        proptest::collection::vec(0u64..6, 0..3),
        proptest::collection::vec(operator, 1..=most),
        proptest::collection::vec(any::<proptest::sample::Index>(), 1..3),
    )
        .prop_map(|(inputs, operators, outputs)| {
            let mut graph = Graph::default();
            let tensor = |bytes: u64, graph: &mut Graph| {
                let name = format!("t{}", graph.tensors.len());
                graph.tensors.push(Tensor { name, bytes: bytes * bytes });
                graph.tensors.len() - 1
            };
            for bytes in inputs {
                let index = tensor(bytes, &mut graph);
                graph.inputs.push(index);
            }
            for (number, (reads, writes, effect)) in operators.into_iter().enumerate() {
                let effect = [
                    Effect::Plain,
                    Effect::Plain,
                    Effect::Elementwise,
                    Effect::Elementwise,
                    Effect::Alias,
                    Effect::Concat,
                ][effect];
                let known = graph.tensors.len();
                let mut reads: Vec<usize> = reads
                    .into_iter()
                    .filter(|_| known > 0)
                    .map(|index| index.index(known))
                    .collect();
                if effect == Effect::Concat {
                    reads.sort_unstable();
                    reads.dedup();
                }
                let outputs = match (effect, reads.first()) {
                    (Effect::Plain, _) | (_, None) => {
                        writes.into_iter().map(|bytes| tensor(bytes, &mut graph)).collect()
                    }
                    (Effect::Concat, _) => {
                        let sum = reads.iter().map(|t| graph.tensors[*t].bytes).sum();
                        let name = format!("t{known}");
                        graph.tensors.push(Tensor { name, bytes: sum });
                        vec![known]
                    }
                    (_, Some(first)) => {
                        let name = format!("t{known}");
                        let bytes = graph.tensors[*first].bytes;
                        graph.tensors.push(Tensor { name, bytes });
                        vec![known]
                    }
                };
                graph.operators.push(Operator {
                    name: format!("o{number}"),
                    effect,
                    inputs: reads,
                    outputs,
                    after: Vec::new(),
                });
            }
            let count = graph.tensors.len();
            graph.outputs = outputs.into_iter().map(|index| index.index(count)).collect();
            graph.outputs.sort_unstable();
            graph.outputs.dedup();
            graph
        })
}

pub fn rules() -> impl Strategy<Value = Rules> {
    (any::<bool>(), any::<bool>()).prop_map(|(in_place, concat)| Rules { in_place, concat })
}

pub fn solved(problem: &Problem) -> Ordered {
    let mut solver = Solver::new(problem, Budget::default());
    while !solver.advance(1000) {}
    solver.answer()
}

/// Least peak over all orders, one by one, by the blocks that an allocator would get.
fn brute_force(problem: &Problem) -> u64 {
    fn extend(problem: &Problem, order: &mut Vec<usize>, best: &mut u64) {
        let count = problem.graph().operators.len();
        if order.len() == count {
            let blocks: Vec<_> =
                problem.placed(order).unwrap().into_iter().map(|p| p.buffer).collect();
            *best = (*best).min(crate::allocate::lower_bound(&blocks).0);
            return;
        }
        for next in 0..count {
            let before = &problem.net.before[next];
            if !order.contains(&next) && before.iter().all(|o| order.contains(&(*o as usize))) {
                order.push(next);
                extend(problem, order, best);
                order.pop();
            }
        }
    }
    let mut best = u64::MAX;
    extend(problem, &mut Vec::new(), &mut best);
    best
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn what_is_proved_is_what_brute_force_finds(graph in any_graph(7), rules in rules()) {
        let problem = Problem::new(graph, rules).unwrap();
        let answer = solved(&problem);
        let measured = problem.measure(&answer.order).unwrap();
        prop_assert_eq!(measured.peak, answer.peak);
        prop_assert!(answer.is_proved());
        prop_assert_eq!(answer.peak, Bytes(brute_force(&problem)));
    }

    #[test]
    fn an_order_and_its_blocks_have_one_peak(graph in any_graph(30), rules in rules()) {
        let problem = Problem::new(graph, rules).unwrap();
        let order = problem.default_order();
        let measured = problem.measure(&order).unwrap();
        let blocks: Vec<_> = problem.placed(&order).unwrap().into_iter().map(|p| p.buffer).collect();
        prop_assert_eq!(measured.peak, crate::allocate::lower_bound(&blocks));
        let (start, live) = problem.net.profile(&[]);
        prop_assert!(start <= measured.peak.0 && live.is_empty());
    }

    #[test]
    fn backwards_is_forwards_reversed(graph in any_graph(12), rules in rules()) {
        let problem = Problem::new(graph, rules).unwrap();
        let mirror = problem.net.mirrored();
        let order: Vec<u32> = problem.default_order().iter().map(|o| *o as u32).collect();
        let reversed: Vec<u32> = order.iter().rev().copied().collect();
        prop_assert_eq!(problem.net.peak(&order), mirror.peak(&reversed));
        let (_, forwards) = problem.net.profile(&order);
        let (_, mut backwards) = mirror.profile(&reversed);
        backwards.reverse();
        let firsts = |list: &[[u64; 2]]| list.iter().map(|l| l[0]).collect::<Vec<_>>();
        prop_assert_eq!(firsts(&forwards), firsts(&backwards));
    }
}
