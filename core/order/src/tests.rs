//! Every answer against brute force on small random graphs.

mod bisection;
mod series_parallel;

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
                    covered: Vec::new(),
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
    let mut solver = Solver::new(problem.clone(), Budget::default());
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
            *best = (*best).min(tilewright_allocate::lower_bound(&blocks).0);
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

/// Ten tensors and eight operators in the manner of figure 1 of Sudharsan et al.: after operator 2
/// the graph parts into 3-4 and 5-6-7-8. The sizes are ours; the figure's do not add up.
fn figure_1() -> Graph {
    let bytes = [800, 2400, 1600, 1900, 2300, 2000, 1600, 300, 200];
    let edges = [(0, 1), (1, 2), (2, 3), (3, 4), (2, 5), (5, 6), (6, 7), (7, 8)];
    let tensor =
        |(number, bytes): (usize, &u64)| Tensor { name: format!("t{number}"), bytes: *bytes };
    let operator = |(from, to): (usize, usize)| Operator {
        name: to.to_string(),
        inputs: vec![from],
        outputs: vec![to],
        ..Operator::default()
    };
    Graph {
        tensors: bytes.iter().enumerate().map(tensor).collect(),
        operators: edges.into_iter().map(operator).collect(),
        inputs: vec![0],
        outputs: vec![4, 8],
        ..Graph::default()
    }
}

#[test]
fn the_worked_example_of_figure_1() {
    let problem = Problem::new(figure_1(), Rules::default()).unwrap();
    let order = |numbers: [usize; 8]| numbers.map(|n| n - 1);
    let default = problem.measure(&order([1, 2, 3, 4, 5, 6, 7, 8])).unwrap();
    assert_eq!((default.peak, default.position), (Bytes(5900), Some(4)));
    assert_eq!(default.tensors, [2, 4, 5]);
    let theirs = order([1, 2, 5, 6, 7, 8, 3, 4]);
    assert_eq!(problem.measure(&theirs).unwrap().peak, Bytes(5200));
    let answer = solved(&problem);
    assert_eq!((answer.peak, answer.is_proved()), (Bytes(5200), true));
    assert_eq!(answer.order, theirs);
    assert_eq!(published(&problem, 1000).unwrap().1, Bytes(5200));
    assert_eq!(brute_force(&problem), 5200);
}

#[test]
fn the_published_algorithm_is_bounded() {
    let problem = Problem::new(figure_1(), Rules::default()).unwrap();
    assert_eq!(published(&problem, 5), None);
}

#[test]
fn wrong_orders_are_refused() {
    let problem = Problem::new(figure_1(), Rules::default()).unwrap();
    let early = OrderError::TooEarly { operator: "2".to_owned(), needed: "1".to_owned() };
    assert_eq!(problem.measure(&[1, 0, 2, 3, 4, 5, 6, 7]), Err(early));
    for wrong in [&[0, 1, 2, 3, 4, 5, 6][..], &[0, 0, 2, 3, 4, 5, 6, 7], &[0, 1, 2, 3, 4, 5, 6, 8]]
    {
        assert!(matches!(problem.measure(wrong), Err(OrderError::NotAll { .. })));
    }
}

#[test]
fn wrong_graphs_are_refused_by_name() {
    let refused = |change: fn(&mut Graph)| {
        let mut graph = figure_1();
        change(&mut graph);
        Problem::new(graph, Rules::default()).unwrap_err().to_string()
    };
    assert_eq!(
        refused(|g| g.operators[3].outputs = vec![5]),
        "tensor 5 ('t5') is written by operator 3 ('4') and by operator 4 ('5')"
    );
    assert!(refused(|g| g.operators[1].inputs = vec![8]).contains("circle"));
    assert!(refused(|g| g.operators[1].inputs = vec![2]).contains("circle: 1 ('2')"));
    assert!(
        refused(|g| g.operators[7].inputs = vec![9]).contains("operator 7 ('8') names tensor 9")
    );
    assert!(refused(|g| g.outputs = vec![77]).contains("the list of outputs names tensor 77"));
    assert!(refused(|g| g.inputs = vec![3]).contains("tensor 3 ('t3') is an input"));
    assert!(refused(|g| g.operators[2].after = vec![8]).contains("comes after operator 8"));
    assert!(refused(|g| g.tensors[6].bytes = u64::MAX).contains("tensor 6 ('t6')"));
    let constant = |g: &mut Graph| {
        g.tensors.push(Tensor { name: "c".to_owned(), bytes: 1 });
        g.outputs.push(9);
    };
    assert!(refused(constant).contains("tensor 9 ('c') is an output"));
}

#[test]
fn an_empty_graph_needs_what_it_passes_on() {
    let tensors = vec![Tensor { name: "x".to_owned(), bytes: 7 }];
    let graph = Graph { tensors, inputs: vec![0], outputs: vec![0], ..Graph::default() };
    let problem = Problem::new(graph, Rules::default()).unwrap();
    let arranged = arrange(problem.clone(), 4, Budget::default()).unwrap();
    assert_eq!(arranged.ordered.peak, Bytes(7));
    assert!(arranged.ordered.is_proved() && arranged.ordered.order.is_empty());
    assert_eq!(problem.measure(&[]).unwrap().tensors, [0]);
}

/// Wide graphs with nothing but independent branches: ends within its budget, with a bound.
#[test]
fn two_thousand_branches_end_within_the_budget() {
    let mut graph = Graph::default();
    graph.tensors.push(Tensor { name: "x".to_owned(), bytes: 100 });
    graph.inputs.push(0);
    for branch in 0..2000usize {
        for step in 0..3usize {
            let from = if step == 0 { 0 } else { graph.tensors.len() - 1 };
            let bytes = (branch as u64 * 7919 + step as u64 * 104_729) % 997 + 1;
            graph.tensors.push(Tensor { name: format!("t{branch}-{step}"), bytes });
            let operator = Operator {
                name: format!("o{branch}-{step}"),
                inputs: vec![from],
                outputs: vec![graph.tensors.len() - 1],
                ..Operator::default()
            };
            graph.operators.push(operator);
        }
        graph.outputs.push(graph.tensors.len() - 1);
    }
    let problem = Problem::new(graph, Rules::default()).unwrap();
    let budget = Budget { work: 20_000_000, memory: 16 << 20 };
    let mut solver = Solver::new(problem.clone(), budget);
    let mut rounds = 0;
    while !solver.advance(100_000) {
        rounds += 1;
        assert!(rounds < 400, "the budget is {} rounds", budget.work / 100_000);
    }
    let answer = solver.answer();
    let default = problem.measure(&problem.default_order()).unwrap().peak;
    assert!(answer.peak < default);
    assert!(answer.lower_bound <= answer.peak);
    assert_eq!(problem.measure(&answer.order).unwrap().peak, answer.peak);
}

/// Both inputs die where the output is written in place of one: run backwards, the state after the
/// operator is the widest.
#[test]
fn a_search_backwards_counts_the_state_after_its_last_operator() {
    let tensors = (0..3).map(|t| Tensor { name: format!("t{t}"), bytes: 9 }).collect();
    let operator = Operator {
        name: "sum".to_owned(),
        effect: Effect::Elementwise,
        inputs: vec![0, 1],
        outputs: vec![2],
        ..Operator::default()
    };
    let graph = Graph {
        tensors,
        operators: vec![operator],
        inputs: vec![0, 1],
        outputs: vec![2],
        ..Graph::default()
    };
    let problem = Problem::new(graph, Rules { in_place: true, concat: false }).unwrap();
    let mut search = search::Search::new(problem.net.mirrored(), 0, u64::MAX, 1 << 20);
    let found = search.advance(&mut 1000);
    assert_eq!(found, Some(search::Outcome::Best(vec![0], 18)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_search_alone_finds_what_brute_force_finds(graph in any_graph(7), rules in rules()) {
        let problem = Problem::new(graph, rules).unwrap();
        let best = brute_force(&problem);
        for net in [problem.net.clone(), problem.net.mirrored()] {
            let mut search = search::Search::new(net.clone(), 0, u64::MAX, 1 << 20);
            let mut units = u64::MAX;
            let Some(search::Outcome::Best(order, peak)) = search.advance(&mut units) else {
                return Err(TestCaseError::fail("no order"));
            };
            prop_assert_eq!((peak, net.peak(&order)), (best, best));
            let mut search = search::Search::new(net, 0, best, 1 << 20);
            prop_assert_eq!(search.advance(&mut units), Some(search::Outcome::Nothing));
        }
    }

    #[test]
    fn some_best_order_passes_through_all_cuts(graph in any_graph(7), rules in rules()) {
        let problem = Problem::new(graph, rules).unwrap();
        let net = &problem.net;
        let order: Vec<u32> = problem.default_order().iter().map(|o| *o as u32).collect();
        let mut finder = cuts::Finder::new(net, &order);
        while finder.advance(net, &order, u64::MAX, &mut 0) {}
        let mut peak = 0;
        let mut run = vec![false; net.len()];
        for pair in finder.into_cuts().windows(2) {
            let ops = &order[pair[0]..pair[1]];
            let part = net.part(&run, None, ops);
            let mut search = search::Search::new(part, 0, u64::MAX, 1 << 20);
            if let Some(search::Outcome::Best(_, best)) = search.advance(&mut u64::MAX.clone()) {
                peak = peak.max(best);
            }
            for op in ops {
                run[*op as usize] = true;
            }
        }
        prop_assert_eq!(peak, brute_force(&problem));
    }

    #[test]
    fn a_bound_of_an_operator_is_reached_and_never_undercut(
        graph in any_graph(6),
        rules in rules(),
    ) {
        let problem = Problem::new(graph, rules).unwrap();
        let net = &problem.net;
        let mut least = vec![u64::MAX; net.len()];
        let mut orders = vec![Vec::new()];
        while let Some(order) = orders.pop() {
            if order.len() == net.len() {
                let (_, profile) = net.profile(&order);
                for (op, [first, _]) in order.iter().zip(profile) {
                    least[*op as usize] = least[*op as usize].min(first);
                }
            }
            for op in 0..net.len() as u32 {
                let ready = net.before[op as usize].iter().all(|other| order.contains(other));
                if ready && !order.contains(&op) {
                    orders.push(order.iter().copied().chain([op]).collect());
                }
            }
        }
        for (op, least) in (0u32..).zip(least) {
            prop_assert_eq!(cuts::needed(net, op, u64::MAX, &mut 0), Some(least));
        }
    }

    #[test]
    fn the_published_algorithm_finds_the_best_too(graph in any_graph(7), rules in rules()) {
        let problem = Problem::new(graph, rules).unwrap();
        let (order, peak) = published(&problem, 1 << 20).unwrap();
        prop_assert_eq!(problem.measure(&order).unwrap().peak, peak);
        prop_assert_eq!(peak.0, brute_force(&problem));
    }

    #[test]
    fn an_arrangement_is_valid_and_no_lower_than_its_peak(
        graph in any_graph(20),
        rules in rules(),
    ) {
        let problem = Problem::new(graph, rules).unwrap();
        let budget = Budget { work: 2_000_000, memory: 1 << 20 };
        let arranged = arrange(problem.clone(), 1, budget).unwrap();
        let buffers: Vec<_> = arranged.placed.iter().map(|p| p.buffer.clone()).collect();
        let valid = tilewright_allocate::validate(&buffers, &arranged.solution, None);
        prop_assert!(valid.is_ok(), "{valid:?}");
        let measured = problem.measure(&arranged.ordered.order).unwrap();
        prop_assert_eq!(measured.peak, arranged.ordered.peak);
        prop_assert!(arranged.solution.height >= measured.peak);
    }

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
        prop_assert_eq!(measured.peak, tilewright_allocate::lower_bound(&blocks));
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
