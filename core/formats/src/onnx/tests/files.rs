//! Real files, where they are present, against tract.

use std::path::{Path, PathBuf};

use super::against_tract;
use crate::{FormatError, Limits, open};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn check(path: &Path, dims: &[usize]) -> bool {
    let Ok(bytes) = std::fs::read(path) else {
        println!("skipped: {} is not there", path.display());
        return false;
    };
    against_tract(&bytes, &[dims]);
    true
}

#[test]
fn bundled_models() {
    assert!(check(&root().join("models/lenet5.onnx"), &[1, 1, 32, 32]));
    assert!(check(&root().join("models/fashion-mobilenet.onnx"), &[1, 1, 28, 28]));
}

/// Models that are no part of the project, from a folder beside it.
#[test]
fn models_beside_the_project() {
    let folder = root().join("../shared/models");
    check(&folder.join("mlperf_resnet8_float.onnx"), &[1, 3, 32, 32]);
    check(&folder.join("onnx_light_squeezenet.onnx"), &[1, 3, 224, 224]);
    for (file, op) in [
        ("deeploy_CNN_Linear1.onnx", "PACTOps.RequantShift"),
        ("deeploy_miniMobileNet.onnx", "RequantShift"),
        ("mlperf_resnet8_int8_qdq.onnx", "DequantizeLinear"),
        ("onnx_light_bvlc_alexnet.onnx", "LRN"),
    ] {
        let Ok(bytes) = std::fs::read(folder.join(file)) else {
            println!("skipped: {file} is not there");
            continue;
        };
        match open(file, &bytes, &Limits::default(), &[]) {
            Err(FormatError::UnsupportedOperators { first, .. }) => assert_eq!(first.op, op),
            other => panic!("{file}: {other:?}"),
        }
    }
}
