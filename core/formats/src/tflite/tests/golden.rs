//! What TensorFlow Lite's reference kernels compute, recorded by `models/golden`, against the int8
//! reference interpreter, bit for bit.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tilewright_model::{DType, Data, Model, Quantisation, int8};

use crate::{Limits, open};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Bytes of xorshift64*, as `models/golden/reference.py` draws them.
fn noise(seed: u64, count: usize) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 56) as u8
    };
    (0..count).map(|_| next()).collect()
}

/// The inputs of a model that were recorded: bytes as int8, or for a float input of the file
/// byte / 255.
fn inputs(model: &Model, seed: u64, is_float: bool) -> Vec<Data> {
    let draw = |(number, id): (usize, &tilewright_model::TensorId)| {
        let tensor = model.tensor(*id);
        assert_eq!(tensor.dtype, DType::I8);
        let bytes = noise(seed + number as u64, tensor.shape.elements().unwrap());
        Data::I8(match &tensor.quantisation {
            Some(quantisation) if is_float => quantised(quantisation, &bytes),
            _ => bytes.iter().map(|byte| byte.cast_signed()).collect(),
        })
    };
    model.inputs.iter().enumerate().map(draw).collect()
}

fn quantised(quantisation: &Quantisation, bytes: &[u8]) -> Vec<i8> {
    let real: Vec<f32> = bytes.iter().map(|byte| f32::from(*byte) / 255.0).collect();
    quantisation.quantise(&real)
}

fn crc(values: &[i8]) -> u32 {
    let bytes: Vec<u8> = values.iter().map(|value| value.cast_unsigned()).collect();
    crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC).checksum(&bytes)
}

/// Every int8 tensor of the record that the model still has, and every output, is equal; how many
/// those are. Passes leave out channels that are constant: such tensors are not counted.
fn compare(name: &str, model: &Model, record: &str) -> Result<usize, String> {
    let mut seed = 0;
    let mut wanted = BTreeMap::new();
    let mut is_float = false;
    for line in record.lines() {
        let (key, rest) = line.split_once(' ').unwrap();
        match key {
            "seed" => seed = rest.parse().unwrap(),
            "float-input" => is_float = true,
            "tensor" => {
                let mut words = rest.splitn(3, ' ');
                let sum = u32::from_str_radix(words.next().unwrap(), 16).unwrap();
                let count: usize = words.next().unwrap().parse().unwrap();
                wanted.insert(words.next().unwrap().to_owned(), (sum, count));
            }
            _ => {}
        }
    }
    let mut compared = 0;
    let mut wrong = Vec::new();
    let inputs = inputs(model, seed, is_float);
    let result = int8::run(model, &inputs, &mut |id, results| {
        let node = &model.nodes[id.0];
        for (output, data) in node.outputs.iter().zip(results) {
            let name = &model.tensor(*output).name;
            let (Some((sum, count)), Some(values)) = (wanted.get(name), data.as_i8()) else {
                continue;
            };
            if values.len() < *count && !model.outputs.contains(output) {
                continue;
            }
            compared += 1;
            if values.len() != *count || crc(values) != *sum {
                wrong.push(format!("{} ({})", name, node.op.name()));
            }
        }
    });
    if let Err(error) = result {
        return Err(format!("{name}: {error}"));
    }
    if !wrong.is_empty() {
        return Err(format!("{name}: {} of {compared} differ: {}", wrong.len(), wrong.join(", ")));
    }
    Ok(compared)
}

/// int8 models that are no part of the project, from a folder beside it.
#[test]
fn models_beside_the_project() {
    let folder = root().join("../shared/models");
    let mut covered = 0;
    let mut rest = Vec::new();
    let mut wrong = Vec::new();
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|file| file.path())
        .collect();
    files.sort();
    for path in files.iter().filter(|path| path.extension().is_some_and(|end| end == "tflite")) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let bytes = std::fs::read(path).unwrap();
        let model = match open(&name, &bytes, &Limits::default(), &[]) {
            Ok(model) => model,
            Err(error) => {
                rest.push(format!("{name}: {error}"));
                continue;
            }
        };
        if !model.is_int8() {
            rest.push(format!("{name}: a float model"));
            continue;
        }
        let record = root().join("models/golden/whole").join(&name).with_extension("txt");
        let Ok(record) = std::fs::read_to_string(record) else {
            rest.push(format!("{name}: nothing recorded"));
            continue;
        };
        let hash: String = Sha256::digest(&bytes).iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(record.lines().next(), Some(format!("sha256 {hash}").as_str()), "{name}");
        match compare(&name, &model, &record) {
            Ok(count) if count > 0 => {
                covered += 1;
                println!("{name}: {count} tensors equal");
            }
            Ok(_) => rest.push(format!("{name}: no tensor has the name of a recorded one")),
            Err(error) => wrong.push(error),
        }
    }
    println!("{covered} int8 models equal the TensorFlow Lite reference; not covered: {rest:#?}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}
