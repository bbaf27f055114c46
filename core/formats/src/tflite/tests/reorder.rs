//! Files in another order.

use proptest::prelude::*;
use tilewright_model::file_graph::{FileGraph, NO_OFFSET, Storage};
use tilewright_model::{Data, int8};
use tilewright_tflite_schema as fb;

use super::build::{File, Tensor};
use crate::reorder::{OFFSETS, ReorderError, graph, write};
use crate::{Limits, open};

fn limits() -> Limits {
    Limits { tensor_elements: 1 << 16, ..Limits::default() }
}

const NAMES: [&str; 12] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];

fn add_options(
    b: &mut flatbuffers::FlatBufferBuilder<'_>,
) -> flatbuffers::WIPOffset<flatbuffers::UnionWIPOffset> {
    fb::AddOptions::create(b, &fb::AddOptionsArgs::default()).as_union_value()
}

/// Operators that each read one or two tensors before theirs; what nothing reads is an output.
fn network(reads: &[(usize, Option<usize>)]) -> File {
    let mut file = File::default().tensor(Tensor::int8(NAMES[0], &[1, 8], 0.5, 3));
    let mut is_read = vec![false; reads.len() + 1];
    for (index, (first, second)) in reads.iter().enumerate() {
        let name = NAMES[index + 1];
        file = file.tensor(Tensor::int8(name, &[1, 8], 0.25 + index as f32 / 16.0, 5));
        let result = [index as i32 + 1];
        let mut inputs = vec![*first as i32];
        inputs.extend(second.map(|second| second as i32));
        for input in &inputs {
            is_read[*input as usize] = true;
        }
        file = match second {
            Some(_) => {
                let options = Some((fb::BuiltinOptions::AddOptions, add_options as _));
                file.operator(fb::BuiltinOperator::ADD, &inputs, &result, options)
            }
            None => file.operator(fb::BuiltinOperator::RELU, &inputs, &result, None),
        };
    }
    let outputs: Vec<i32> =
        (1..is_read.len()).filter(|tensor| !is_read[*tensor]).map(|tensor| tensor as i32).collect();
    file.interface(&[0], &outputs)
}

/// An order in which the operators can run, chosen by `choices`.
fn some_order(graph: &FileGraph, choices: &[u8]) -> Vec<usize> {
    let main = graph.main().unwrap();
    let mut there = vec![false; main.tensors.len()];
    for input in &main.inputs {
        there[*input] = true;
    }
    let mut left: Vec<usize> = (0..main.operators.len()).collect();
    let mut order = Vec::new();
    while !left.is_empty() {
        let can = |o: &&usize| main.operators[**o].inputs.iter().all(|tensor| there[*tensor]);
        let ready: Vec<usize> = left.iter().filter(can).copied().collect();
        let next = ready[usize::from(choices[order.len() % choices.len()]) % ready.len()];
        left.retain(|o| *o != next);
        main.operators[next].outputs.iter().for_each(|tensor| there[*tensor] = true);
        order.push(next);
    }
    order
}

fn outputs(bytes: &[u8]) -> Vec<Vec<i8>> {
    let model = open("net.tflite", bytes, &limits(), &[]).unwrap();
    let input: Vec<i8> = (0..8).map(|value: i8| value.wrapping_mul(31).wrapping_sub(100)).collect();
    let outputs = int8::run(&model, &[Data::I8(input)], &mut |_, _| {}).unwrap();
    outputs.iter().map(|data| data.as_i8().unwrap().to_vec()).collect()
}

fn diamond() -> Vec<u8> {
    network(&[(0, None), (0, None), (1, None), (2, None), (3, Some(4))]).bytes()
}

#[test]
fn a_file_is_told_as_it_is() {
    let graph = graph(&diamond(), &limits()).unwrap();
    let main = graph.main().unwrap();
    assert_eq!(graph.offsets, None);
    assert_eq!((main.inputs.as_slice(), main.outputs.as_slice()), (&[0][..], &[5][..]));
    assert_eq!(main.operators[4].name, "ADD 'f'");
    assert_eq!(main.operators[4].inputs, [3, 4]);
    assert!(main.tensors.iter().all(|t| t.bytes == 8 && t.storage == Storage::Arena));
}

#[test]
fn the_same_order_changes_no_byte() {
    let old = diamond();
    let new = write(&old, &limits(), &[0, 1, 2, 3, 4], &[NO_OFFSET; 6]).unwrap();
    assert!(new.ends_with(&old));
    let head = new.len() - old.len();
    assert!(head.is_multiple_of(64) && head <= 320, "{head}");
    let (before, after) = (graph(&old, &limits()).unwrap(), graph(&new, &limits()).unwrap());
    assert_eq!(before.subgraphs, after.subgraphs);
    assert_eq!(after.offsets, Some(vec![NO_OFFSET; 6]));
    assert_eq!(outputs(&old), outputs(&new));
}

#[test]
fn offsets_lie_where_the_runtime_looks() {
    let offsets = [0, 16, 32, 48, 64, 0];
    let new = write(&diamond(), &limits(), &[0, 2, 1, 3, 4], &offsets).unwrap();
    let model = fb::root_as_model(&new).unwrap();
    assert_eq!(model.version(), 3);
    let metadata = model.metadata().unwrap();
    assert_eq!(metadata.get(0).name(), Some(OFFSETS));
    let data = model.buffers().unwrap().get(metadata.get(0).buffer() as usize).data().unwrap();
    assert!(data.bytes().as_ptr().addr().wrapping_sub(new.as_ptr().addr()).is_multiple_of(16));
    let words: Vec<i32> =
        data.bytes().chunks_exact(4).map(|w| i32::from_le_bytes(w.try_into().unwrap())).collect();
    assert_eq!(words[..3], [1, 1, 6]);
    assert_eq!(words[3..], offsets);
}

#[test]
fn a_second_time_only_the_offsets_change() {
    let first = write(&diamond(), &limits(), &[0, 2, 1, 3, 4], &[0; 6]).unwrap();
    let second = write(&first, &limits(), &[0, 2, 1, 3, 4], &[16; 6]).unwrap();
    assert_eq!(first.len(), second.len());
    let graph = graph(&second, &limits()).unwrap();
    assert_eq!(graph.offsets, Some(vec![16; 6]));
    // Twice the same permutation, which is its own inverse.
    let names: Vec<&str> = graph.main().unwrap().operators.iter().map(|o| &o.name[..]).collect();
    assert_eq!(names, ["RELU 'b'", "RELU 'c'", "RELU 'd'", "RELU 'e'", "ADD 'f'"]);
}

/// The same bytes with another name of the metadata.
fn renamed(bytes: &[u8], name: &str) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let at = bytes.windows(OFFSETS.len()).position(|w| w == OFFSETS.as_bytes()).unwrap();
    bytes[at..at + name.len()].copy_from_slice(name.as_bytes());
    bytes
}

#[test]
fn other_metadata_stay() {
    let first = write(&diamond(), &limits(), &[0, 1, 2, 3, 4], &[7; 6]).unwrap();
    let foreign = renamed(&first, "SomeOneElsesMemoryStuff");
    assert_eq!(graph(&foreign, &limits()).unwrap().offsets, None);
    let second = write(&foreign, &limits(), &[0, 2, 1, 3, 4], &[32; 6]).unwrap();
    let model = fb::root_as_model(&second).unwrap();
    let metadata = model.metadata().unwrap();
    let names: Vec<_> = metadata.iter().filter_map(|entry| entry.name()).collect();
    assert_eq!(names, ["SomeOneElsesMemoryStuff", OFFSETS]);
    let data = |index: usize| {
        let buffer = metadata.get(index).buffer() as usize;
        model.buffers().unwrap().get(buffer).data().unwrap().bytes()[12..16].to_vec()
    };
    assert_eq!((data(0), data(1)), (vec![7, 0, 0, 0], vec![32, 0, 0, 0]));
    assert_eq!(outputs(&diamond()), outputs(&second));
}

#[test]
fn what_must_stay_as_it_is_is_refused() {
    let same = [0, 1, 2, 3, 4];
    let write = |order: &[usize], offsets: &[i32]| write(&diamond(), &limits(), order, offsets);
    let words = |order: &[usize], offsets: &[i32]| write(order, offsets).unwrap_err().to_string();
    assert!(words(&[2, 0, 1, 3, 4], &[0; 6]).contains("RELU 'd' stands before RELU 'b'"));
    assert!(words(&[0, 1, 2, 3, 3], &[0; 6]).contains("each of 5 operators once"));
    assert!(words(&[0, 1], &[0; 6]).contains("each of 5 operators once"));
    assert!(words(&same, &[0; 5]).contains("5 offsets for 6 tensors"));
    assert!(words(&same, &[-2; 6]).contains("-2 is no offset"));
    assert_eq!(graph(b"onnx?", &limits()), Err(ReorderError::NotTfLite));
    let written = write(&same, &[0; 6]).unwrap();
    // The name of metadata is as long as its field says.
    let name = "model_control_dependencies";
    let mut b = flatbuffers::FlatBufferBuilder::new();
    let text = Some(b.create_string(name));
    let entry = fb::Metadata::create(&mut b, &fb::MetadataArgs { name: text, buffer: 0 });
    let metadata = Some(b.create_vector(&[entry]));
    let args = fb::ModelArgs { version: 3, metadata, ..Default::default() };
    let model = fb::Model::create(&mut b, &args);
    fb::finish_model_buffer(&mut b, model);
    let error = graph(b.finished_data(), &limits()).unwrap_err();
    assert!(matches!(error, ReorderError::Fixed { .. }) && error.to_string().contains(name));
    let small = Limits { file_bytes: written.len() - 1, ..limits() };
    assert!(graph(&written, &small).unwrap_err().to_string().contains("too large"));
}

#[test]
fn data_outside_the_flat_buffer_is_refused() {
    let mut b = flatbuffers::FlatBufferBuilder::new();
    let args = fb::BufferArgs { offset: 4096, size: 16, ..Default::default() };
    let buffer = fb::Buffer::create(&mut b, &args);
    let buffers = Some(b.create_vector(&[buffer]));
    let args = fb::ModelArgs { version: 3, buffers, ..Default::default() };
    let model = fb::Model::create(&mut b, &args);
    fb::finish_model_buffer(&mut b, model);
    let error = graph(b.finished_data(), &limits()).unwrap_err();
    assert_eq!(error, ReorderError::Outside { what: "buffer 0".to_owned() });
}

#[test]
fn tensors_without_a_size_are_refused() {
    let refused = |tensor: Tensor| {
        let file = network(&[]).tensor(tensor);
        graph(&file.bytes(), &limits()).unwrap_err().to_string()
    };
    let open = Tensor::new("open", &[-1, 8], fb::TensorType::INT8);
    assert!(refused(open).contains("'open': TensorFlow Lite Micro needs a fixed size"));
    let text = Tensor::new("text", &[1], fb::TensorType::STRING);
    assert!(refused(text).contains("'text'"));
    let huge = Tensor::new("huge", &[1 << 16, 1 << 16], fb::TensorType::INT8);
    assert!(refused(huge).contains("4294967296 bytes"));
}

prop_compose! {
    fn reads()(
        reads in prop::collection::vec((any::<u8>(), any::<Option<u8>>()), 1..11),
    ) -> Vec<(usize, Option<usize>)> {
        let within = |value: u8, index: usize| usize::from(value) % (index + 1);
        let pair = |(index, (first, second)): (usize, (u8, Option<u8>))| {
            (within(first, index), second.map(|second| within(second, index)))
        };
        reads.into_iter().enumerate().map(pair).collect()
    }
}

proptest! {
    #[test]
    fn every_order_computes_the_same(reads in reads(), choices in prop::collection::vec(any::<u8>(), 12)) {
        let old = network(&reads).bytes();
        let before = graph(&old, &limits()).unwrap();
        let order = some_order(&before, &choices);
        let offsets: Vec<i32> = (0..=reads.len() as i32).map(|tensor| 16 * tensor).collect();
        let new = write(&old, &limits(), &order, &offsets).unwrap();
        let after = graph(&new, &limits()).unwrap();
        prop_assert_eq!(after.offsets.as_deref(), Some(offsets.as_slice()));
        let (before, after) = (before.main().unwrap(), after.main().unwrap());
        prop_assert_eq!(&before.tensors, &after.tensors);
        for (position, index) in order.iter().enumerate() {
            prop_assert_eq!(&after.operators[position], &before.operators[*index]);
        }
        prop_assert_eq!(outputs(&old), outputs(&new));
    }

    #[test]
    fn changed_files_never_panic(
        changes in prop::collection::vec((any::<u16>(), any::<u8>()), 1..12),
        written in any::<bool>(),
    ) {
        let mut bytes = diamond();
        if written {
            bytes = write(&bytes, &limits(), &[0, 2, 1, 3, 4], &[0; 6]).unwrap();
        }
        for (at, value) in changes {
            let at = usize::from(at) % bytes.len();
            bytes[at] = value;
        }
        if let Ok(graph) = graph(&bytes, &limits()) {
            let count = graph.main().map_or(0, |main| main.operators.len());
            let mut order: Vec<usize> = (0..count).collect();
            if count > 2 {
                order.swap(1, 2);
            }
            let _ = write(&bytes, &limits(), &order, &vec![0; graph.tensors().count()]);
        }
    }
}
