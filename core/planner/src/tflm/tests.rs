use proptest::prelude::*;
use tilewright_model::file_graph::{
    FileGraph, FileOperator, FileSubgraph, FileTensor, NO_OFFSET, Storage,
};
use tilewright_plan::Bytes;

use super::greedy::{Request, place};
use super::lives::{Life, lives};
use super::{TflmError, arena, rearrange};
use tilewright_order::Budget;

fn budget() -> Budget {
    Budget { work: 20_000_000, memory: 8 << 20 }
}

fn tensor(bytes: u64, storage: Storage) -> FileTensor {
    FileTensor { name: format!("{bytes} bytes"), bytes, storage }
}

fn operator(inputs: &[usize], outputs: &[usize]) -> FileOperator {
    FileOperator {
        name: format!("to {outputs:?}"),
        inputs: inputs.to_vec(),
        outputs: outputs.to_vec(),
        ..FileOperator::default()
    }
}

fn graph(
    sizes: &[u64],
    operators: Vec<FileOperator>,
    inputs: &[usize],
    outputs: &[usize],
) -> FileGraph {
    let tensors = sizes.iter().map(|bytes| tensor(*bytes, Storage::Arena)).collect();
    let (inputs, outputs) = (inputs.to_vec(), outputs.to_vec());
    FileGraph {
        subgraphs: vec![FileSubgraph { tensors, operators, inputs, outputs }],
        offsets: None,
    }
}

fn request((bytes, first, last): (u64, i64, i64)) -> Request {
    Request { bytes, life: Life { first, last }, offset: None }
}

fn height(requests: &[Request], offsets: &[u64]) -> u64 {
    requests.iter().zip(offsets).map(|(r, offset)| r.bytes + offset).max().unwrap()
}

/// What the runtime's tests of its planner expect.
#[test]
fn the_runtimes_planner_is_as_recorded() {
    let medium = [(10, 0, 1), (20, 1, 2), (30, 2, 3), (40, 3, 4), (50, 0, 1)].map(request);
    assert_eq!(place(&medium), [50, 70, 40, 0, 0]);
    let basic = [(10, 0, 1), (20, 2, 3)].map(request);
    assert_eq!(place(&basic), [0, 0]);
    let overlap = [(100, 0, 1), (50, 2, 3), (20, 1, 2)].map(request);
    assert_eq!(height(&overlap, &place(&overlap)), 120);
}

#[test]
fn prescribed_offsets_come_first_and_others_go_between_them() {
    let mut requests = [(48, 0, 1), (48, 1, 2), (16, 0, 1), (64, 1, 1)].map(request);
    requests[0].offset = Some(0);
    requests[1].offset = Some(64);
    assert_eq!(place(&requests), [0, 64, 48, 112]);
}

/// A chain whose middle is large, twice, from one input: one after the other needs less than side
/// by side.
fn branches() -> FileGraph {
    let operators = vec![
        operator(&[0], &[1]),
        operator(&[0], &[2]),
        operator(&[1], &[3]),
        operator(&[2], &[4]),
        operator(&[3, 4], &[5]),
    ];
    graph(&[16, 160, 160, 16, 16, 16], operators, &[0], &[5])
}

#[test]
fn lives_are_counted_in_scopes() {
    let lives = lives(&branches(), &[0, 2, 1, 3, 4]).unwrap();
    let life = |first, last| Life { first, last };
    let expected = [life(0, 3), life(1, 2), life(3, 4), life(2, 5), life(4, 5), life(5, 5)];
    assert_eq!(lives.tensors, expected);
    assert_eq!(lives.operators, [(1, 1), (3, 3), (2, 2), (4, 4), (5, 5)]);
}

#[test]
fn branches_run_one_after_the_other() {
    let graph = branches();
    let found = rearrange(&graph, budget(), &mut || true).unwrap();
    // Side by side: 160 + 160 + 16. One after the other: input, 160 and a result.
    assert_eq!(found.report.before, Bytes(336));
    assert_eq!(found.report.file_order, Bytes(336));
    assert_eq!(found.report.arena, Bytes(192));
    assert!(found.report.is_proved());
    assert_eq!(found.report.moved, 2);
    intact(&graph, &found.order, &found.offsets).unwrap();
}

#[test]
fn an_order_that_gains_nothing_is_left_as_it_is() {
    let operators = (0..6).map(|index| operator(&[index], &[index + 1])).collect();
    let graph = graph(&[64; 7], operators, &[0], &[6]);
    let found = rearrange(&graph, budget(), &mut || true).unwrap();
    assert_eq!(found.order, [0, 1, 2, 3, 4, 5]);
    assert_eq!((found.report.moved, found.report.arena), (0, Bytes(128)));
}

#[test]
fn a_reshape_lies_where_its_input_lies() {
    let mut reshape = operator(&[1], &[2]);
    reshape.keeps_bytes = true;
    let operators = vec![operator(&[0], &[1]), reshape, operator(&[2], &[3])];
    let graph = graph(&[16, 1000, 1000, 16], operators, &[0], &[3]);
    let found = rearrange(&graph, budget(), &mut || true).unwrap();
    assert_eq!(found.report.before, Bytes(2 * 1008));
    assert_eq!(found.report.arena, Bytes(1008 + 16));
    assert_eq!(found.offsets[1], found.offsets[2]);
    assert!(found.report.is_proved());
}

#[test]
fn constants_variables_and_empty_tensors_have_no_offset() {
    let operators = vec![operator(&[0, 1, 2, 3], &[4])];
    let mut graph = graph(&[16, 16, 16, 0, 16], operators, &[0], &[4]);
    graph.subgraphs[0].tensors[1].storage = Storage::Constant;
    graph.subgraphs[0].tensors[2].storage = Storage::Variable;
    let found = rearrange(&graph, budget(), &mut || true).unwrap();
    assert_eq!(found.offsets[1..4], [NO_OFFSET; 3]);
    assert_eq!(found.report.arena, Bytes(32));
}

#[test]
fn what_nothing_names_shares_its_place() {
    let operators = vec![operator(&[0], &[1])];
    let graph = graph(&[16, 16, 640, 640], operators, &[0], &[1]);
    let found = rearrange(&graph, budget(), &mut || true).unwrap();
    assert_eq!((found.report.before, found.report.arena), (Bytes(1280), Bytes(640)));
    assert!(found.report.is_proved());
}

#[test]
fn called_graphs_are_counted_and_left_to_the_runtime() {
    let mut calls = operator(&[1], &[2]);
    calls.calls = vec![1];
    let operators = vec![operator(&[0], &[1]), calls, operator(&[2], &[3])];
    let mut graph = graph(&[16, 16, 16, 16], operators, &[0], &[3]);
    let called = FileSubgraph {
        tensors: vec![tensor(320, Storage::Arena), tensor(16, Storage::Variable)],
        operators: vec![operator(&[0, 1], &[0])],
        ..FileSubgraph::default()
    };
    graph.subgraphs.push(called);
    let found = rearrange(&graph, budget(), &mut || true).unwrap();
    assert_eq!(found.report.arena, Bytes(320 + 32));
    assert!(found.report.is_proved());
    // The runtime mistakes the offset of tensor 1 for that of the variable.
    assert_eq!(found.offsets[1], NO_OFFSET);
    assert_eq!(found.offsets[4..], [NO_OFFSET; 2]);

    graph.subgraphs[1].operators[0].calls = vec![1];
    let error = rearrange(&graph, budget(), &mut || true).unwrap_err();
    assert_eq!(error, TflmError::Calls { subgraph: 1 });
}

#[test]
fn what_is_wrong_is_named() {
    let wrong = |graph: &FileGraph| rearrange(graph, budget(), &mut || true).unwrap_err();
    let mut late = branches();
    late.subgraphs[0].operators.swap(0, 4);
    assert!(wrong(&late).to_string().contains("must come first"), "{}", wrong(&late));
    let mut large = branches();
    large.subgraphs[0].tensors[3].bytes = 1 << 32;
    assert!(matches!(wrong(&large), TflmError::TooLarge { .. }));
    let mut lost = branches();
    lost.subgraphs[0].operators[2].inputs = vec![77];
    assert!(matches!(wrong(&lost), TflmError::Mismatch(_)));
    let many = graph(&vec![4; super::MOST_TENSORS + 1], Vec::new(), &[], &[]);
    assert!(matches!(wrong(&many), TflmError::TooMany { .. }));
    let stopped = rearrange(&branches(), budget(), &mut || false).unwrap_err();
    assert_eq!(stopped, TflmError::Cancelled);
    assert!(matches!(arena(&branches(), &[0], Some(&[0])), Err(TflmError::Mismatch(_))));
}

/// Runs a graph on an arena whose cells hold what was written last, and looks whether everything
/// that is read is still there.
fn intact(graph: &FileGraph, order: &[usize], offsets: &[i32]) -> Result<(), String> {
    let main = &graph.subgraphs[0];
    let mut cells = vec![usize::MAX; 1 << 12];
    // What a tensor holds: the tensor whose bytes they were first.
    let mut content: Vec<usize> = (0..main.tensors.len()).collect();
    let range = |tensor: usize| {
        let cells = |bytes: u64| usize::try_from(bytes / 16).unwrap();
        let bytes = cells(main.tensors[tensor].bytes.next_multiple_of(16));
        assert_eq!(offsets[tensor] % 16, 0);
        let start = cells(offsets[tensor].try_into().unwrap());
        start..start + bytes
    };
    for tensor in &main.inputs {
        cells[range(*tensor)].fill(*tensor);
    }
    let check = |cells: &[usize], content: &[usize], tensor: usize| {
        let whole = cells[range(tensor)].iter().all(|cell| *cell == content[tensor]);
        if whole { Ok(()) } else { Err(format!("tensor {tensor} is overwritten")) }
    };
    for index in order {
        let operator = &main.operators[*index];
        for tensor in &operator.inputs {
            check(&cells, &content, *tensor)?;
        }
        for tensor in &operator.outputs {
            if operator.keeps_bytes {
                content[*tensor] = content[operator.inputs[0]];
            }
            cells[range(*tensor)].fill(content[*tensor]);
        }
        // Nothing that it reads may go while it writes.
        for tensor in &operator.inputs {
            check(&cells, &content, *tensor)?;
        }
    }
    main.outputs.iter().try_for_each(|tensor| check(&cells, &content, *tensor))
}

/// All orders in which operators can run.
fn orders(graph: &FileGraph) -> Vec<Vec<usize>> {
    fn extend(main: &FileSubgraph, order: &mut Vec<usize>, all: &mut Vec<Vec<usize>>) {
        if order.len() == main.operators.len() {
            all.push(order.clone());
        }
        for next in 0..main.operators.len() {
            let is_written = |tensor: &usize| {
                main.inputs.contains(tensor)
                    || order.iter().any(|o| main.operators[*o].outputs.contains(tensor))
            };
            if !order.contains(&next) && main.operators[next].inputs.iter().all(is_written) {
                order.push(next);
                extend(main, order, all);
                order.pop();
            }
        }
    }
    let mut all = Vec::new();
    extend(&graph.subgraphs[0], &mut Vec::new(), &mut all);
    all
}

/// Most bytes that live together; what a reshape makes is what it reads.
fn live_bytes(graph: &FileGraph, order: &[usize]) -> u64 {
    let main = &graph.subgraphs[0];
    let lives = lives(graph, order).unwrap().tensors;
    let mut content: Vec<usize> = (0..main.tensors.len()).collect();
    for index in order {
        let operator = &main.operators[*index];
        if operator.keeps_bytes {
            content[operator.outputs[0]] = content[operator.inputs[0]];
        }
    }
    let at = |scope: i64| -> u64 {
        let lives_then =
            |tensor: &usize| (lives[*tensor].first..=lives[*tensor].last).contains(&scope);
        let mut held: Vec<usize> =
            (0..lives.len()).filter(lives_then).map(|tensor| content[tensor]).collect();
        held.sort_unstable();
        held.dedup();
        held.into_iter().map(|tensor| main.tensors[tensor].bytes.next_multiple_of(16)).sum()
    };
    (0..=i64::try_from(main.operators.len()).unwrap()).map(at).max().unwrap()
}

prop_compose! {
    /// Each operator reads up to two tensors that are there and writes one; what nothing reads is an
    /// output.
    fn small()(
        sizes in prop::collection::vec(1u64..200, 7),
        reads in prop::collection::vec((any::<u8>(), any::<Option<u8>>(), 0u8..4), 1..7),
    ) -> FileGraph {
        let mut sizes = sizes;
        let mut operators = Vec::new();
        for (index, (first, second, kind)) in reads.into_iter().enumerate() {
            let first = usize::from(first) % (index + 1);
            let mut inputs = vec![first];
            inputs.extend(second.map(|second| usize::from(second) % (index + 1)));
            let mut operator = operator(&inputs, &[index + 1]);
            if kind == 0 {
                operator.inputs.truncate(1);
                operator.keeps_bytes = true;
                sizes[index + 1] = sizes[first];
            }
            operators.push(operator);
        }
        sizes.truncate(operators.len() + 1);
        let is_read = |tensor: &usize| operators.iter().any(|o| o.inputs.contains(tensor));
        let outputs: Vec<usize> = (1..sizes.len()).filter(|tensor| !is_read(tensor)).collect();
        graph(&sizes, operators, &[0], &outputs)
    }
}

proptest! {
    #[test]
    fn nothing_is_overwritten_and_nothing_is_better(graph in small()) {
        let found = rearrange(&graph, budget(), &mut || true).unwrap();
        prop_assert_eq!(intact(&graph, &found.order, &found.offsets), Ok(()));
        let report = &found.report;
        let all = orders(&graph);
        prop_assert!(all.contains(&found.order));
        let least = all.iter().map(|order| live_bytes(&graph, order)).min().unwrap();
        prop_assert!(report.lower_bound <= Bytes(least), "{} of {least}", report.lower_bound.0);
        prop_assert!(report.arena >= Bytes(least));
        if report.is_proved() {
            prop_assert_eq!(report.arena, Bytes(least));
        }
        prop_assert!(report.arena <= report.file_order && report.file_order <= report.before);
        prop_assert_eq!(arena(&graph, &found.order, Some(&found.offsets)), Ok(report.arena));
    }
}
