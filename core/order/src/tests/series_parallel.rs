//! The bound and the order from the series-parallel part.

use super::*;
use crate::merge::{self, Segment, Segments};
use crate::series_parallel::relax;

/// Trees of operators with a tensor each that one operator reads, towards one end or, mirrored,
/// away from it: what the relaxation gives up nothing of.
fn any_tree(most: usize) -> impl Strategy<Value = Problem> {
    let operator = (any::<proptest::sample::Index>(), 0u64..6, any::<bool>());
    proptest::collection::vec(operator, 1..=most).prop_map(|operators| {
        let mut graph = Graph::default();
        // Operator i reads what later-numbered children make; children are drawn for parents.
        let count = operators.len();
        for (number, (_, bytes, _)) in operators.iter().enumerate() {
            graph.tensors.push(Tensor { name: format!("t{number}"), bytes: bytes * bytes });
        }
        let mut reads = vec![Vec::new(); count];
        for (number, (parent, _, has_input)) in operators.iter().enumerate() {
            if number > 0 {
                reads[parent.index(number)].push(number);
            }
            if *has_input {
                graph.inputs.push(graph.tensors.len());
                reads[number].push(graph.tensors.len());
                graph.tensors.push(Tensor { name: "x".to_owned(), bytes: number as u64 });
            }
        }
        for (number, inputs) in reads.into_iter().enumerate() {
            graph.operators.push(Operator {
                name: format!("o{number}"),
                inputs,
                outputs: vec![number],
                ..Operator::default()
            });
        }
        graph.outputs = vec![0];
        Problem::new(graph, Rules::default()).unwrap()
    })
}

/// Least peak over all ways to run two sequences at once.
fn interleaved(one: &[Segment], two: &[Segment]) -> i64 {
    match (one, two) {
        ([], []) => 0,
        _ => [(one, two), (two, one)]
            .into_iter()
            .filter_map(|(from, other)| {
                let (first, rest) = from.split_first()?;
                Some(first.peak.max(first.net + interleaved(rest, other)))
            })
            .min()
            .unwrap_or(0),
    }
}

fn sequence(steps: &[(i64, i64)]) -> (Vec<Segment>, Segments) {
    let segments: Vec<Segment> =
        (0u32..).zip(steps).map(|(op, (first, second))| Segment::of(op, *first, *second)).collect();
    let joined = segments
        .iter()
        .cloned()
        .map(|segment| Segments::from([segment]))
        .fold(Segments::new(), merge::series);
    (segments, joined)
}

fn order_of(problem: &Problem) -> Vec<u32> {
    problem.default_order().iter().map(|op| *op as u32).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn sequences_at_once_have_the_least_peak(
        one in proptest::collection::vec((-9i64..9, -9i64..9), 0..6),
        two in proptest::collection::vec((-9i64..9, -9i64..9), 0..6),
    ) {
        let ((one, first), (two, second)) = (sequence(&one), sequence(&two));
        prop_assert_eq!(merge::peak(&first), interleaved(&one, &[]));
        let both = merge::parallel([first, second]);
        prop_assert_eq!(merge::peak(&both), interleaved(&one, &two));
    }

    #[test]
    fn a_relaxed_bound_is_never_above_the_best(graph in any_graph(7), rules in rules()) {
        let problem = Problem::new(graph, rules).unwrap();
        let best = brute_force(&problem);
        let relaxed = relax(&problem.net, &order_of(&problem), &mut 0);
        prop_assert!(relaxed.bound <= best, "{} above {best}", relaxed.bound);
        let order: Vec<usize> = relaxed.order.iter().map(|op| *op as usize).collect();
        prop_assert!(problem.measure(&order).unwrap().peak >= Bytes(best));
    }

    #[test]
    fn of_trees_it_is_best_and_so_is_its_order(problem in any_tree(8)) {
        let best = brute_force(&problem);
        let relaxed = relax(&problem.net, &order_of(&problem), &mut 0);
        prop_assert_eq!((relaxed.bound, problem.net.peak(&relaxed.order)), (best, best));
        let mirror = problem.net.mirrored();
        let mut known = order_of(&problem);
        known.reverse();
        let relaxed = relax(&mirror, &known, &mut 0);
        prop_assert_eq!((relaxed.bound, mirror.peak(&relaxed.order)), (best, best));
    }

    #[test]
    fn slices_of_any_length_find_the_same(graph in any_graph(14), slice in 1u64..300_000) {
        let problem = Problem::new(graph, Rules::default()).unwrap();
        let budget = Budget { work: 4_000_000, memory: 1 << 20 };
        let whole = arrange(problem.clone(), 4, budget).unwrap();
        let mut joint = Joint::new(problem, 4, budget);
        while !joint.advance(slice).unwrap() {}
        prop_assert_eq!(joint.settled().unwrap(), whole);
    }
}

/// Branches, each with an input of its own, joined in a tree: proved, and quickly.
#[test]
fn two_thousand_branches_joined_in_a_tree_are_proved() {
    let mut graph = Graph::default();
    let tensor = |graph: &mut Graph| {
        let number = graph.tensors.len();
        let bytes = (number as u64 * 7919) % 997 + 1;
        graph.tensors.push(Tensor { name: format!("t{number}"), bytes });
        number
    };
    let operator = |graph: &mut Graph, inputs: Vec<usize>, output: usize| {
        let name = format!("o{}", graph.operators.len());
        let outputs = vec![output];
        graph.operators.push(Operator { name, inputs, outputs, ..Operator::default() });
        output
    };
    let mut ends = Vec::new();
    for branch in 0..2000 {
        let mut last = tensor(&mut graph);
        graph.inputs.push(last);
        for _ in 0..branch % 5 + 1 {
            let made = tensor(&mut graph);
            last = operator(&mut graph, vec![last], made);
        }
        ends.push(last);
    }
    while ends.len() > 1 {
        let pairs: Vec<Vec<usize>> = ends.chunks(2).map(<[usize]>::to_vec).collect();
        ends.clear();
        for pair in pairs {
            let made = tensor(&mut graph);
            ends.push(operator(&mut graph, pair, made));
        }
    }
    graph.outputs = ends;
    let problem = Problem::new(graph, Rules::default()).unwrap();
    let mut solver = Solver::new(problem.clone(), Budget { work: 20_000_000, memory: 64 << 20 });
    while !solver.advance(1_000_000) {}
    let answer = solver.answer();
    assert!(answer.is_proved(), "{} of {}", answer.lower_bound, answer.peak);
    assert_eq!(problem.measure(&answer.order).unwrap().peak, answer.peak);
}
