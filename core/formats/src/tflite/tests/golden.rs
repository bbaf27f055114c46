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
/// byte / 255; of states what the file says, or zeros.
fn inputs(model: &Model, seed: u64, is_float: bool) -> Vec<Data> {
    let draw = |(number, id): (usize, &tilewright_model::TensorId)| {
        let tensor = model.tensor(*id);
        assert_eq!(tensor.dtype, DType::I8);
        if let Some(state) = model.first_state(number) {
            return state;
        }
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

/// What was recorded of one file.
#[derive(Default)]
struct Record {
    /// Of the file, in hexadecimal.
    sha256: String,
    seed: u64,
    /// The file's inputs are floats.
    is_float: bool,
    /// Checksum and number of elements of each tensor.
    tensors: BTreeMap<String, (u32, usize)>,
}

impl Record {
    fn read(text: &str) -> Self {
        let mut record = Self::default();
        for line in text.lines() {
            let (key, rest) = line.split_once(' ').unwrap();
            match key {
                "sha256" => rest.clone_into(&mut record.sha256),
                "seed" => record.seed = rest.parse().unwrap(),
                "float-input" => record.is_float = true,
                "tensor" | "output" => {
                    let mut words = rest.splitn(3, ' ');
                    let sum = u32::from_str_radix(words.next().unwrap(), 16).unwrap();
                    let count: usize = words.next().unwrap().parse().unwrap();
                    record.tensors.insert(words.next().unwrap().to_owned(), (sum, count));
                }
                _ => {}
            }
        }
        record
    }

    fn check_file(&self, name: &str, bytes: &[u8]) {
        let hash: String = Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(self.sha256, hash, "{name} is another file than the one recorded");
    }
}

fn bytes_of(data: &Data) -> Option<Vec<u8>> {
    match data {
        Data::I8(values) => Some(values.iter().map(|value| value.cast_unsigned()).collect()),
        Data::I32(values) => Some(values.iter().flat_map(|value| value.to_le_bytes()).collect()),
        Data::F32(_) => None,
    }
}

fn crc(bytes: &[u8]) -> u32 {
    crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC).checksum(bytes)
}

/// Every integer tensor of the record that the model still has, and every output, is equal; how
/// many those are. Passes leave out channels that are constant: such tensors are not counted.
fn compare(name: &str, model: &Model, record: &Record) -> Result<usize, String> {
    let mut compared = 0;
    let mut wrong = Vec::new();
    let inputs = inputs(model, record.seed, record.is_float);
    let result = int8::run(model, &inputs, &mut |id, results| {
        let node = &model.nodes[id.0];
        for (output, data) in node.outputs.iter().zip(results) {
            let name = &model.tensor(*output).name;
            let (Some((sum, count)), Some(bytes)) = (record.tensors.get(name), bytes_of(data))
            else {
                continue;
            };
            if data.len() < *count && !model.outputs.contains(output) {
                continue;
            }
            compared += 1;
            if data.len() != *count || crc(&bytes) != *sum {
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

/// Files of one operator that nothing here computes as the runtime does, by the start of their
/// names.
const NOT_COMPUTED: &[&str] = &[
    "batch-to-space",
    "resize-bilinear-3x2-uint8",
    "resize-bilinear-5x2304-uint8",
    "resize-bilinear-9x11-uint8",
    "resize-bilinear-align-9x11-uint8",
    "resize-bilinear-half-3x2-uint8",
    "resize-bilinear-half-5x2304-uint8",
    "resize-bilinear-half-9x11-uint8",
    "space-to-batch",
];

#[test]
fn single_operators() {
    let folder = root().join("models/golden/operators");
    let records = std::fs::read_to_string(folder.join("records.txt")).unwrap();
    let (mut equal, mut wrong) = (0, Vec::new());
    for text in records.split("file ").filter(|text| !text.is_empty()) {
        let (name, text) = text.split_once('\n').unwrap();
        let record = Record::read(text);
        let bytes = std::fs::read(folder.join(name).with_extension("tflite")).unwrap();
        record.check_file(name, &bytes);
        let expected = !NOT_COMPUTED.iter().any(|start| name.starts_with(start));
        let result = match open(name, &bytes, &Limits::default(), &[]) {
            Ok(model) => match model.opaque_in_words() {
                Some(words) => Err(words),
                None => compare(name, &model, &record),
            },
            Err(error) => Err(error.to_string()),
        };
        match result {
            Ok(count) if expected && count == record.tensors.len() => equal += 1,
            Ok(count) if expected => wrong.push(format!("{name}: {count} results compared")),
            Ok(_) => wrong.push(format!("{name}: is computed now")),
            Err(error) if expected => wrong.push(format!("{name}: {error}")),
            Err(error) => println!("{name}: {error}"),
        }
    }
    println!("{equal} files of one operator equal the TensorFlow Lite reference");
    assert!(wrong.is_empty(), "{} differ: {wrong:#?}", wrong.len());
    assert!(equal > 0, "nothing recorded in {}", folder.display());
}

/// int8 models that are no part of the project, from a folder beside it; and those of the folder
/// that `GOLDEN_FOLDER` names, if it does, with their records in the same folder.
#[test]
fn models_beside_the_project() {
    let mut folders = vec![(root().join("../shared/models"), root().join("models/golden/whole"))];
    if let Some(folder) = std::env::var_os("GOLDEN_FOLDER") {
        folders.push((folder.clone().into(), folder.into()));
    }
    let mut covered = 0;
    let mut rest = Vec::new();
    let mut wrong = Vec::new();
    for (models, records) in folders {
        let entries = std::fs::read_dir(&models).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries.map(|file| file.path()).collect();
        files.sort();
        for path in files.iter().filter(|path| path.extension().is_some_and(|end| end == "tflite"))
        {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            match of_file(&name, &std::fs::read(path).unwrap(), &records) {
                Ok(Ok(count)) => {
                    covered += 1;
                    println!("{name}: {count} tensors equal");
                }
                Ok(Err(reason)) => rest.push(format!("{name}: {reason}")),
                Err(difference) => wrong.push(difference),
            }
        }
    }
    println!("{covered} int8 models equal the TensorFlow Lite reference; not covered: {rest:#?}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// How many tensors were compared, or why none were.
///
/// # Errors
/// What differs.
fn of_file(name: &str, bytes: &[u8], records: &Path) -> Result<Result<usize, String>, String> {
    let model = match open(name, bytes, &Limits::default(), &[]) {
        Ok(model) => model,
        Err(error) => return Ok(Err(error.to_string())),
    };
    if let Some(words) = model.opaque_in_words() {
        return Ok(Err(words));
    }
    if !model.is_int8() {
        return Ok(Err("a float model".to_owned()));
    }
    let Ok(record) = std::fs::read_to_string(records.join(name).with_extension("txt")) else {
        return Ok(Err("nothing recorded".to_owned()));
    };
    let record = Record::read(&record);
    record.check_file(name, bytes);
    match compare(name, &model, &record)? {
        0 => Ok(Err("no tensor has the name of a recorded one".to_owned())),
        count => Ok(Ok(count)),
    }
}
