//! Files whose nodes are in any order.

use proptest::prelude::*;

use super::build::File;
use crate::onnx::messages::NodeProto;
use crate::onnx::order::sort;
use crate::{Limits, open};

fn refused(bytes: &[u8]) -> String {
    open("x.onnx", bytes, &Limits::default(), &[]).unwrap_err().to_string()
}

#[test]
fn nodes_that_need_their_own_result_are_named() {
    let itself = File::new().input("x", &["1"]).node("Add", &["x", "y"], "y", &[]).output("y");
    assert_eq!(
        refused(&itself.bytes()).to_string(),
        "node 0 'y' (Add): it needs its own result, so that no order of nodes can run"
    );
    let around = File::new()
        .input("x", &["1"])
        .node("Relu", &["c"], "y", &[])
        .node("Add", &["x", "c"], "a", &[])
        .node("Relu", &["a"], "b", &[])
        .node("Relu", &["b"], "c", &[])
        .output("y");
    let message = refused(&around.bytes()).to_string();
    let ways = [
        "node 1 'a' (Add): it needs its own result by way of 'c', 'b',",
        "node 2 'b' (Relu): it needs its own result by way of 'a', 'c',",
        "node 3 'c' (Relu): it needs its own result by way of 'b', 'a',",
    ];
    assert!(ways.iter().any(|way| message.starts_with(way)), "{message}");
    let mut long = File::new().input("x", &["1"]).node("Add", &["x", "r8"], "r0", &[]);
    for (from, to) in [("r0", "r1"), ("r1", "r2"), ("r2", "r3"), ("r3", "r4")] {
        long = long.node("Relu", &[from], to, &[]);
    }
    for (from, to) in [("r4", "r5"), ("r5", "r6"), ("r6", "r7"), ("r7", "r8")] {
        long = long.node("Relu", &[from], to, &[]);
    }
    assert!(refused(&long.output("r8").bytes()).to_string().contains("' and 3 more, so that"));
}

fn chain() -> File {
    File::new()
        .input("x", &["1", "2", "8", "8"])
        .weights("k", &[2, 2, 3, 3])
        .node("Conv", &["x", "k"], "c", &[])
        .node("Relu", &["c"], "r", &[])
        .node("Sigmoid", &["c"], "s", &[])
        .node("Mul", &["r", "s"], "m", &[])
        .node("GlobalAveragePool", &["m"], "y", &[])
        .output("y")
}

#[test]
fn the_same_model_in_any_order() {
    let expected = open("x.onnx", &chain().bytes(), &Limits::default(), &[]).unwrap();
    for order in [[4, 3, 2, 1, 0], [1, 0, 4, 2, 3], [3, 0, 1, 2, 4]] {
        let mut file = chain();
        let nodes = file.graph().node.clone();
        file.graph().node = order.iter().map(|index| nodes[*index].clone()).collect();
        let model = open("x.onnx", &file.bytes(), &Limits::default(), &[]).unwrap();
        let made = |model: &tilewright_model::Model| -> Vec<String> {
            let mut names: Vec<_> = model.nodes.iter().map(|node| node.name.clone()).collect();
            names.sort();
            names
        };
        assert_eq!(made(&model), made(&expected));
        assert_eq!(model.outputs.len(), 1);
    }
}

/// A message names a node by its place in the file.
#[test]
fn nodes_keep_their_places_in_messages() {
    let file = File::new()
        .input("x", &["1", "2", "8", "8"])
        .node("Flatten", &["r"], "f", &[])
        .node("Conv", &["f", "k"], "y", &[])
        .weights("k", &[2, 2, 3, 3])
        .node("Relu", &["x"], "r", &[])
        .output("y");
    let message = refused(&file.bytes());
    assert!(message.starts_with("node 1 'y' (Conv) is not supported: "), "{message}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    /// Node `i` reads some of the nodes before it; then all are shuffled.
    #[test]
    fn nodes_come_after_what_they_read(
        reads in prop::collection::vec(prop::collection::vec(any::<prop::sample::Index>(), 0..4), 1..30),
        keys in prop::collection::vec(any::<u32>(), 30),
    ) {
        let name = |index: usize| format!("t{index}");
        let sorted: Vec<NodeProto> = reads.iter().enumerate().map(|(index, operands)| {
            let given = operands.iter().filter(|_| index > 0).map(|one| name(one.index(index.max(1))));
            NodeProto { input: given.collect(), output: vec![name(index)], ..NodeProto::default() }
        }).collect();
        let mut kept = sorted.clone();
        prop_assert_eq!(sort(&mut kept).unwrap(), (0..sorted.len()).collect::<Vec<_>>());
        prop_assert_eq!(&kept, &sorted);
        let mut places: Vec<usize> = (0..sorted.len()).collect();
        places.sort_by_key(|place| keys[*place]);
        let shuffled: Vec<NodeProto> = places.iter().map(|place| sorted[*place].clone()).collect();
        let mut nodes = shuffled.clone();
        let order = sort(&mut nodes).unwrap();
        prop_assert_eq!(nodes.len(), shuffled.len());
        let mut made = std::collections::BTreeSet::new();
        for (node, place) in nodes.iter().zip(order) {
            prop_assert_eq!(node, &shuffled[place]);
            prop_assert!(node.input.iter().all(|operand| made.contains(operand)));
            made.extend(node.output.iter().cloned());
        }
    }
}
