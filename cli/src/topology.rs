//! Topologies as JSON: `tensors` with `name` and `bytes`, `ops` with `op`, `ins` and `outs` as
//! indices, `inputs`, `outputs`, and `variables` if there are any. Other keys are left alone.

use std::collections::BTreeMap;

use serde::Deserialize;
use tilewright_app::{Blame, Diagnostic};
use tilewright_order::{Effect, Graph, Operator, Tensor};

/// Largest topology file that is read.
pub const LIMIT: u64 = 64 << 20;

#[derive(Deserialize)]
struct Topology {
    #[serde(default)]
    model: String,
    tensors: Vec<TensorRecord>,
    ops: Vec<OperatorRecord>,
    inputs: Vec<serde_json::Number>,
    outputs: Vec<serde_json::Number>,
    #[serde(default)]
    variables: Vec<serde_json::Number>,
}

#[derive(Deserialize)]
struct TensorRecord {
    #[serde(default)]
    name: String,
    bytes: serde_json::Number,
}

#[derive(Deserialize)]
struct OperatorRecord {
    op: String,
    #[serde(default)]
    name: String,
    ins: Vec<serde_json::Number>,
    outs: Vec<serde_json::Number>,
}

/// The name and the graph of a topology.
///
/// # Errors
/// If the text is no topology; the message says where.
pub fn parse(text: &[u8], place: &str) -> Result<(String, Graph), Diagnostic> {
    let wrong = |error: String| {
        let what = "Give a topology: `tilewright order --help` says what it holds.";
        Diagnostic::new(Blame::BadInput, error, place, what)
    };
    let file: Topology = serde_json::from_slice(text)
        .map_err(|error| wrong(format!("The file is no topology: {error}.")))?;
    let index = |number: &serde_json::Number, who: &str| {
        number.as_u64().and_then(|n| usize::try_from(n).ok()).ok_or_else(|| {
            wrong(format!("{who} names tensor {number}, which is no index from 0 on."))
        })
    };
    let indices = |list: &[serde_json::Number], who: &str| {
        list.iter().map(|number| index(number, who)).collect::<Result<Vec<_>, _>>()
    };
    let mut graph = Graph {
        inputs: indices(&file.inputs, "The list of inputs")?,
        outputs: indices(&file.outputs, "The list of outputs")?,
        variables: indices(&file.variables, "The list of variables")?,
        ..Graph::default()
    };
    for (number, TensorRecord { name, bytes }) in file.tensors.into_iter().enumerate() {
        let bytes = bytes.as_u64().ok_or_else(|| {
            wrong(format!("Tensor {number} ('{name}') has {bytes} bytes, which is no size."))
        })?;
        graph.tensors.push(Tensor { name, bytes });
    }
    for (number, record) in file.ops.into_iter().enumerate() {
        let who = format!("Operator {number} ('{}')", record.op);
        graph.operators.push(Operator {
            inputs: indices(&record.ins, &who)?,
            outputs: indices(&record.outs, &who)?,
            effect: effect(&record.op),
            name: if record.name.is_empty() { record.op } else { record.name },
            after: Vec::new(),
            covered: Vec::new(),
        });
    }
    keep_state(&mut graph);
    Ok((file.model, graph))
}

/// What operators of ONNX and TensorFlow Lite may do in place, by their names there.
fn effect(op: &str) -> Effect {
    let name: String =
        op.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    match name.as_str() {
        "abs" | "add" | "agg" | "batchnormalization" | "clip" | "div" | "dropout" | "elu"
        | "exp" | "floor" | "floordiv" | "hardsigmoid" | "hardswish" | "leakyrelu" | "logistic"
        | "maximum" | "max" | "min" | "minimum" | "mul" | "neg" | "pow" | "prelu" | "relu"
        | "relu6" | "requantshift" | "round" | "rsqrt" | "sigmoid" | "sqrt" | "square" | "sub"
        | "tanh" => Effect::Elementwise,
        "expanddims" | "flatten" | "identity" | "reshape" | "squeeze" | "unsqueeze" => {
            Effect::Alias
        }
        "concat" | "concatenation" => Effect::Concat,
        _ => Effect::Plain,
    }
}

/// Operators that read or write state behind a handle keep their order: the one that sets it up
/// comes first, and those of one handle stay as they are in the file.
fn keep_state(graph: &mut Graph) {
    let mut last: BTreeMap<usize, usize> = BTreeMap::new();
    let mut begun = None;
    for number in 0..graph.operators.len() {
        let operator = &graph.operators[number];
        match operator.name.as_str() {
            "CALL_ONCE" => begun = Some(number),
            "READ_VARIABLE" | "ASSIGN_VARIABLE" => {
                let handle = operator.inputs.first().copied();
                let before = handle.and_then(|handle| last.insert(handle, number));
                graph.operators[number].after.extend(before.into_iter().chain(begun));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        parse(text.as_bytes(), "file").err().unwrap().what
    }

    #[test]
    fn what_is_wrong_is_named() {
        let tensors = r#""tensors":[{"name":"a","bytes":-4}],"inputs":[],"outputs":[]"#;
        assert!(refused(&format!("{{{tensors},\"ops\":[]}}")).contains("'a') has -4 bytes"));
        let huge = tensors.replace("-4", "99999999999999999999999");
        assert!(refused(&format!("{{{huge},\"ops\":[]}}")).contains("no size"));
        let good = tensors.replace("-4", "4");
        let ops = r#""ops":[{"op":"Relu","ins":[-1],"outs":[0]}]"#;
        assert!(
            refused(&format!("{{{good},{ops}}}")).contains("Operator 0 ('Relu') names tensor -1")
        );
        assert!(refused("[").contains("line 1"));
        assert!(refused("{}").contains("missing field"));
    }
}
