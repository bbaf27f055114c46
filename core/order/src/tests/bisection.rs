//! Orders of graphs that are too large for a search, and the states that they pass through.

use super::*;
use crate::bisection::Bisection;
use crate::flow;
use crate::net::Memory;

/// Each operator reads what the one above and the one to the left have made.
fn grid(side: usize) -> Graph {
    let mut graph = Graph::default();
    for number in 0..side * side {
        let bytes = (number as u64 * 7919) % 997 + 1;
        graph.tensors.push(Tensor { name: format!("t{number}"), bytes });
        let above = number.checked_sub(side);
        let left = number.checked_sub(1).filter(|_| !number.is_multiple_of(side));
        graph.operators.push(Operator {
            name: format!("o{number}"),
            inputs: above.into_iter().chain(left).collect(),
            outputs: vec![number],
            ..Operator::default()
        });
    }
    graph.outputs.push(side * side - 1);
    graph
}

/// Rows one after the other keep a whole row; paths through small tensors keep far less.
#[test]
fn a_grid_is_ordered_along_its_small_tensors() {
    let problem = Problem::new(grid(30), Rules::default()).unwrap();
    let default = problem.measure(&problem.default_order()).unwrap().peak;
    let mut solver = Solver::new(problem.clone(), Budget { work: 40_000_000, memory: 16 << 20 });
    while !solver.advance(1_000_000) {}
    let answer = solver.answer();
    assert_eq!(problem.measure(&answer.order).unwrap().peak, answer.peak);
    assert!(answer.peak.0 * 10 < default.0 * 8, "{} of {default}", answer.peak);
    assert!(answer.lower_bound.0 * 2 > answer.peak.0, "{answer:?}");
}

proptest! {
    #[test]
    fn the_state_of_a_cut_has_as_few_bytes_as_it_says(graph in any_graph(10), rules in rules()) {
        let problem = Problem::new(graph, rules).unwrap();
        let net = &problem.net;
        let (bytes, state) = flow::least(net, u64::MAX, &mut 0).unwrap();
        let mut memory = Memory::new(net);
        for op in (0..net.len()).filter(|op| state[*op]) {
            prop_assert!(net.before[op].iter().all(|other| state[*other as usize]));
            memory.apply(net, &net.halves[op].first);
            memory.apply(net, &net.halves[op].second);
        }
        prop_assert_eq!(memory.live, bytes);
    }

    #[test]
    fn what_is_bisected_stays_an_order(graph in any_graph(120), rules in rules()) {
        let problem = Problem::new(graph, rules).unwrap();
        let net = &problem.net;
        let order: Vec<u32> = problem.default_order().iter().map(|op| *op as u32).collect();
        let (from, to) = (order.len() / 5, order.len());
        let mut work = 0;
        let mut bisection = Bisection::new(net, &order, from, to, &mut work);
        while bisection.advance(net, 0, u64::MAX, &mut work) {}
        let found: Vec<usize> = bisection.order().iter().map(|op| *op as usize).collect();
        prop_assert_eq!(&bisection.order()[..from], &order[..from]);
        prop_assert!(problem.measure(&found).is_ok());
    }
}
