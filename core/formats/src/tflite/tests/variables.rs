//! Variables that live from one run to the next.

use tilewright_model::{Data, Model, int8};
use tilewright_tflite_schema as fb;

use super::build::{File, Options, Tensor};
use crate::{FormatError, Limits, open};

const NAMED: Option<(fb::BuiltinOptions, Options)> =
    Some((fb::BuiltinOptions::VarHandleOptions, |b| {
        let shared_name = Some(b.create_string("sum"));
        let args = fb::VarHandleOptionsArgs { shared_name, ..Default::default() };
        fb::VarHandleOptions::create(b, &args).as_union_value()
    }));

const ONCE: Option<(fb::BuiltinOptions, Options)> =
    Some((fb::BuiltinOptions::CallOnceOptions, |b| {
        let args = fb::CallOnceOptionsArgs { init_subgraph_index: 1 };
        fb::CallOnceOptions::create(b, &args).as_union_value()
    }));

/// sum = max(sum, x), which is also the output; the sum begins with 5.
fn running_maximum() -> File {
    let handle = || Tensor::new("handle", &[], fb::TensorType::RESOURCE);
    let before = File::default()
        .tensor(handle())
        .tensor(Tensor::int8("first", &[1, 2], 0.5, 3).data(vec![5, 5]))
        .operator(fb::BuiltinOperator::VAR_HANDLE, &[], &[0], NAMED)
        .operator(fb::BuiltinOperator::ASSIGN_VARIABLE, &[0, 1], &[], None);
    let mut file = File::default()
        .tensor(Tensor::int8("x", &[1, 2], 0.5, 3))
        .tensor(handle())
        .tensor(Tensor::int8("old", &[1, 2], 0.5, 3))
        .tensor(Tensor::int8("new", &[1, 2], 0.5, 3))
        .operator(fb::BuiltinOperator::CALL_ONCE, &[], &[], ONCE)
        .operator(fb::BuiltinOperator::VAR_HANDLE, &[], &[1], NAMED)
        .operator(fb::BuiltinOperator::READ_VARIABLE, &[1], &[2], None)
        .operator(fb::BuiltinOperator::MAXIMUM, &[0, 2], &[3], None)
        .operator(fb::BuiltinOperator::ASSIGN_VARIABLE, &[1, 3], &[], None)
        .interface(&[0], &[3]);
    file.second = Some(Box::new(before));
    file
}

fn opened(file: &File) -> Result<Model, FormatError> {
    open("x.tflite", &file.bytes(), &Limits::default(), &[])
}

#[test]
fn a_variable_is_an_input_and_an_output() {
    let model = opened(&running_maximum()).unwrap();
    let [state] = model.states.as_slice() else { panic!("{:?}", model.states) };
    assert_eq!((state.name.as_str(), state.input, state.output), ("sum", 1, Some(1)));
    let mut before = model.first_state(1).unwrap();
    assert_eq!(before, Data::I8(vec![5, 5]));
    for (x, after) in [([7, -9], [7, 5]), ([6, 8], [7, 8])] {
        let inputs = [Data::I8(x.to_vec()), before];
        let outputs = int8::run(&model, &inputs, &mut |_, _| {}).unwrap();
        assert_eq!(outputs, [Data::I8(after.to_vec()), Data::I8(after.to_vec())]);
        before = outputs[1].clone();
    }
}

#[test]
fn without_a_first_value_a_variable_is_zero() {
    let mut file = running_maximum();
    file.second = Some(Box::default());
    assert_eq!(opened(&file).unwrap().first_state(1), Some(Data::I8(vec![3, 3])));
}

#[test]
fn faulty_variables_are_named() {
    let mut file = running_maximum();
    file.second = None;
    let text = opened(&file).unwrap_err().to_string();
    assert!(text.contains("operator 0 calls graph 1 of 1"), "{text}");
    let mut file = running_maximum();
    file.second.as_mut().unwrap().tensors[1].dims = vec![2, 1];
    let text = opened(&file).unwrap_err().to_string();
    assert!(text.contains("'sum' begins with values of another type or shape"), "{text}");
    let mut file = running_maximum();
    file.tensors[3].scales = vec![0.25];
    file.operators[3].0 = fb::BuiltinOperator::RELU;
    file.operators[3].1 = vec![0];
    let text = opened(&file).unwrap_err().to_string();
    assert!(text.contains("variable 'sum' is 1×2 and assigned 1×2, or quantised"), "{text}");
}

/// A recurrent operator changes tensors that no other operator makes: they are counted, each with its
/// value before and after the run.
#[test]
fn states_of_recurrent_operators_are_variables() {
    let lstm = fb::BuiltinOperator::UNIDIRECTIONAL_SEQUENCE_LSTM;
    let file = File::default()
        .tensor(Tensor::int8("x", &[1, 4, 2], 0.5, 3))
        .tensor(Tensor::int8("hidden", &[1, 6], 0.5, 3).variable())
        .tensor(Tensor::new("cell", &[1, 6], fb::TensorType::INT16).variable())
        .tensor(Tensor::new("odd", &[1, 6], fb::TensorType::FLOAT16).variable())
        .tensor(Tensor::int8("a", &[1, 4, 6], 0.5, 3))
        .tensor(Tensor::int8("b", &[1, 4, 6], 0.5, 3))
        .operator(lstm, &[0, 1, 1, 2, 3], &[4], None)
        .operator(lstm, &[4, 1], &[5], None)
        .interface(&[0], &[5]);
    let model = opened(&file).unwrap();
    let named = |ids: &[tilewright_model::TensorId]| -> Vec<String> {
        ids.iter().map(|id| model.tensor(*id).name.clone()).collect()
    };
    assert_eq!(named(&model.inputs), ["x", "hidden", "cell"]);
    assert_eq!(named(&model.outputs), ["b", "hidden.next.2", "cell.next"]);
    let states: Vec<_> = model.states.iter().map(|state| (state.input, state.output)).collect();
    assert_eq!(states, [(1, Some(1)), (2, Some(2))]);
    assert_eq!(named(&model.nodes[0].inputs), ["x", "hidden", "hidden", "cell"]);
    assert_eq!(named(&model.nodes[1].inputs), ["a", "hidden.next"]);
    assert_eq!(model.tensor(model.outputs[2]).bytes(), Some(12));
    assert_eq!(model.first_state(1), Some(Data::I8(vec![3; 6])));
}

#[test]
fn zero_points_may_lie_at_any_word() {
    let names = ["x", "xx", "xxx", "xxxx", "xxxxx", "xxxxxxxx", "xxxxxxxxxxxx"];
    let mut odd = 0;
    for (name, zero) in names.into_iter().zip(-3i64..) {
        let file = File::default()
            .tensor(Tensor::int8(name, &[1, 2], 0.5, zero))
            .tensor(Tensor::int8("y", &[1, 2], 0.5, zero))
            .operator(fb::BuiltinOperator::RELU, &[0], &[1], None)
            .interface(&[0], &[1]);
        let model = opened(&file).unwrap();
        let quantisation = model.tensor(model.inputs[0]).quantisation.clone().unwrap();
        assert_eq!(i64::from(quantisation.zero()), zero);
        let bytes = file.bytes();
        let found = bytes.windows(8).position(|window| window == zero.to_le_bytes());
        odd += usize::from(zero != 0 && found.is_some_and(|at| !at.is_multiple_of(8)));
    }
    assert!(odd > 0, "all lie at multiples of 8 bytes");
}
