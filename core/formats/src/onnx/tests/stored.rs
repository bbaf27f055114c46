//! Constants that stay in the file, and those in files beside it.

use std::sync::Arc;

use tilewright_model::{Model, Source, Store};

use super::build::Attribute::Int;
use super::build::File;
use super::{against_tract, names};
use crate::onnx::messages::StringStringEntryProto;
use crate::onnx::messages::tensor_proto::DataLocation;
use crate::{FormatError, Limits, ModelFile, open, open_file};

fn is_ranged(model: &Model, node: usize) -> bool {
    let weights = model.tensor(model.nodes[node].inputs[1]);
    matches!(weights.source, Some(Source::Ranged(_)))
}

/// The weights are folded, transposed and permuted as those in memory are.
#[test]
fn large_weights_stay_in_the_file() {
    let transposed = |transposed: i64| {
        File::new()
            .input("x", &["1", "8", "2", "64"])
            .weights("w", &[1024, 1024])
            .weights("b", &[1024])
            .node("Relu", &["x"], "r", &[])
            .node("Flatten", &["r"], "f", &[])
            .node("Gemm", &["f", "w", "b"], "y", &[("transB", Int(transposed))])
            .output("y")
    };
    for (bytes, node) in [(transposed(0).bytes(), 2), (transposed(1).bytes(), 2)] {
        let model = against_tract(&bytes, &[&[1, 8, 2, 64]]);
        assert_eq!(names(&model), ["ReLU", "Reshape", "FullyConnected"]);
        assert!(is_ranged(&model, node));
    }
    let file = File::new()
        .input("x", &["1", "128", "5", "4"])
        .weights("k", &[1024, 128, 4, 2])
        .weights("scale", &[1024])
        .weights("offset", &[1024])
        .weights("mean", &[1024])
        .floats("variance", &[1024], (0..1024).map(|c| 0.5 + c as f32 / 700.0).collect())
        .weights("down", &[1024, 1024, 1, 1])
        .node("Conv", &["x", "k"], "c", &[])
        .node("BatchNormalization", &["c", "scale", "offset", "mean", "variance"], "n", &[])
        .node("ConvTranspose", &["n", "down"], "y", &[])
        .output("y");
    let model = against_tract(&file.bytes(), &[&[1, 128, 5, 4]]);
    assert_eq!(names(&model), ["Conv2D", "TransposeConv2D"]);
    assert!(is_ranged(&model, 0) && is_ranged(&model, 1));
}

fn small() -> File {
    File::new()
        .input("x", &["1", "2", "6", "5"])
        .weights("k", &[3, 2, 3, 3])
        .weights("b", &[3])
        .node("Conv", &["x", "k", "b"], "y", &[])
        .output("y")
}

/// Keys and values of where a constant is.
type Entries = Vec<(String, String)>;

/// The file with the values of its constants in another, and that other; `change` may lie about
/// where they are.
fn apart(mut file: File, location: &str, change: &dyn Fn(&mut Entries)) -> Moved {
    let mut data = b"before".to_vec();
    for tensor in &mut file.graph().initializer {
        let raw = std::mem::take(&mut tensor.raw_data);
        let entry = |key: &str, value: String| (key.to_owned(), value);
        let mut entries = vec![
            entry("location", location.to_owned()),
            entry("offset", data.len().to_string()),
            entry("length", raw.len().to_string()),
        ];
        change(&mut entries);
        tensor.data_location = DataLocation::External as i32;
        tensor.external_data =
            entries.into_iter().map(|(key, value)| StringStringEntryProto { key, value }).collect();
        data.extend_from_slice(&raw);
    }
    Moved { bytes: file.bytes(), data }
}

struct Moved {
    bytes: Vec<u8>,
    data: Vec<u8>,
}

impl Moved {
    fn open(&self) -> Result<Model, FormatError> {
        let beside = |path: &str| {
            let data: Arc<dyn Store> = Arc::new(self.data.clone());
            Ok((path == "weights/net.data").then_some(data))
        };
        let bytes = Arc::new(self.bytes.clone());
        let file = ModelFile { name: "test.onnx", bytes, beside: &beside };
        open_file(&file, &Limits::default(), &[])
    }
}

#[test]
fn weights_in_another_file_are_the_same() {
    let whole = open("test.onnx", &small().bytes(), &Limits::default(), &[]).unwrap();
    let moved = apart(small(), "./weights/net.data", &|_| {});
    assert_eq!(moved.open().unwrap(), whole);
    let shorter = apart(small(), "weights/net.data", &|entries| entries.truncate(2));
    assert_eq!(shorter.open().unwrap(), whole);
}

#[test]
fn what_is_wrong_with_another_file_names_it_and_the_constant() {
    let moved = apart(small(), "other.data", &|_| {});
    let missing =
        FormatError::MissingData { tensor: "k".to_owned(), file: "other.data".to_owned() };
    assert_eq!(moved.open(), Err(missing.clone()));
    assert_eq!(open("x", &moved.bytes, &Limits::default(), &[]), Err(missing));

    let refusal = |change: &dyn Fn(&mut Entries)| {
        apart(small(), "weights/net.data", change).open().unwrap_err().to_string()
    };
    let set = |at: usize, value: &'static str| {
        move |entries: &mut Entries| entries[at].1 = value.to_owned()
    };
    for (at, value, words) in [
        (0, "/etc/passwd", "a relative path without '..'"),
        (0, "../net.data", "a relative path without '..'"),
        (0, "", "a relative path without '..'"),
        (1, "18446744073709551615", "from byte 18446744073709551615 on"),
        (1, "1000000", "but the file has 234"),
        (1, "-1", "its offset is '-1'"),
        (2, "12", "12 bytes for values of 216"),
        (2, "many", "its length is 'many'"),
    ] {
        let error = refusal(&set(at, value));
        assert!(error.starts_with("the values of 'k' in the file '"), "{error}");
        assert!(error.contains(words), "{error}");
    }
    let beside = |_: &str| Err("it is a link elsewhere".to_owned());
    let file = ModelFile { name: "x", bytes: Arc::new(moved.bytes), beside: &beside };
    let error = open_file(&file, &Limits::default(), &[]).unwrap_err().to_string();
    assert!(error.ends_with("'other.data': it is a link elsewhere"), "{error}");
}

#[test]
fn large_weights_that_are_no_numbers_are_refused() {
    let mut values = vec![0.5; 1 << 20];
    values[(1 << 20) - 1] = f32::INFINITY;
    let file = File::new()
        .input("x", &["1", "1024"])
        .floats("w", &[1024, 1024], values)
        .node("MatMul", &["x", "w"], "y", &[])
        .output("y");
    let error = open("x", &file.bytes(), &Limits::default(), &[]).unwrap_err();
    assert_eq!(error, FormatError::NotFinite { tensor: "w".to_owned() });
}

/// Floats that are listed and not raw are found in the file, too.
#[test]
fn listed_floats_of_a_large_constant_stay_in_the_file() {
    let mut file = File::new()
        .input("x", &["1", "1024"])
        .weights("w", &[1024, 1024])
        .node("MatMul", &["x", "w"], "y", &[])
        .output("y");
    let tensor = &mut file.graph().initializer[0];
    let raw = std::mem::take(&mut tensor.raw_data);
    tensor.float_data =
        raw.as_chunks::<4>().0.iter().map(|word| f32::from_le_bytes(*word)).collect();
    let model = against_tract(&file.bytes(), &[&[1, 1024]]);
    assert!(is_ranged(&model, 0));
}
