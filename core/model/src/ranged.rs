//! Weights that stay where they are, in a file mostly, until they are asked for. Who has the file
//! reads it: this crate does no IO.

use std::fmt;
use std::sync::Arc;

use crate::data::Data;
use crate::tensor::DType;

/// Bytes that can be read in parts.
pub trait Store: fmt::Debug + Send + Sync {
    /// `length` bytes from `offset` on; nothing if they cannot be read, or not any more.
    fn read(&self, offset: u64, length: usize) -> Option<Vec<u8>>;
}

impl Store for Vec<u8> {
    fn read(&self, offset: u64, length: usize) -> Option<Vec<u8>> {
        let start = usize::try_from(offset).ok()?;
        self.get(start..start.checked_add(length)?).map(<[u8]>::to_vec)
    }
}

/// Little-endian values in a range of a store.
#[derive(Clone, Debug)]
pub struct Ranged {
    store: Arc<dyn Store>,
    offset: u64,
    elements: usize,
    dtype: DType,
}

impl Ranged {
    /// `elements` values of a type from byte `offset` on.
    #[must_use]
    pub const fn new(store: Arc<dyn Store>, offset: u64, elements: usize, dtype: DType) -> Self {
        Self { store, offset, elements, dtype }
    }

    /// Element type.
    #[must_use]
    pub const fn dtype(&self) -> DType {
        self.dtype
    }

    /// Number of elements.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.elements
    }

    /// Whether there are no elements.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.elements == 0
    }

    /// All values, read now; none if the store does not give them.
    #[must_use]
    pub fn values(&self) -> Data {
        let length = self.elements.checked_mul(self.dtype.bytes());
        let bytes = length.and_then(|length| {
            self.store.read(self.offset, length).filter(|bytes| bytes.len() == length)
        });
        let bytes = bytes.unwrap_or_default();
        let (words, _) = bytes.as_chunks::<4>();
        match self.dtype {
            DType::F32 => Data::F32(words.iter().map(|word| f32::from_le_bytes(*word)).collect()),
            DType::I32 => Data::I32(words.iter().map(|word| i32::from_le_bytes(*word)).collect()),
            DType::I8 => Data::I8(bytes.into_iter().map(|byte| byte as i8).collect()),
        }
    }
}

/// The same range of the same store.
impl PartialEq for Ranged {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.store, &other.store)
            && (self.offset, self.elements, self.dtype)
                == (other.offset, other.elements, other.dtype)
    }
}

/// As its bytes: who gets them has no access to the store.
#[cfg(feature = "serde")]
impl serde::Serialize for Ranged {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let length = self.elements.saturating_mul(self.dtype.bytes());
        let bytes = self.store.read(self.offset, length);
        let bytes = bytes.ok_or_else(|| serde::ser::Error::custom("weights cannot be read"))?;
        (bytes, self.elements, self.dtype).serialize(serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Ranged {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (bytes, elements, dtype) = <(Vec<u8>, usize, DType)>::deserialize(deserializer)?;
        Ok(Self::new(Arc::new(bytes), 0, elements, dtype))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{Build, noise};
    use crate::quantise::{QuantiseOptions, quantise};
    use crate::{Model, RunError, Source, Window, float, int8};

    /// The model with its weights and biases in one store.
    fn outsourced(model: &Model) -> Model {
        let mut model = model.clone();
        let mut file: Vec<u8> = vec![7; 3];
        let mut ranges = Vec::new();
        for (index, tensor) in model.tensors.iter().enumerate() {
            let Some(source) = &tensor.source else { continue };
            ranges.push((index, file.len() as u64, source.len(), source.dtype()));
            match source.values().as_ref() {
                Data::F32(values) => file.extend(values.iter().flat_map(|v| v.to_le_bytes())),
                Data::I32(values) => file.extend(values.iter().flat_map(|v| v.to_le_bytes())),
                Data::I8(values) => file.extend(values.iter().map(|v| *v as u8)),
            }
        }
        let store: Arc<dyn Store> = Arc::new(file);
        for (index, offset, elements, dtype) in ranges {
            let ranged = Ranged::new(Arc::clone(&store), offset, elements, dtype);
            model.tensors[index].source = Some(Source::Ranged(ranged));
        }
        model
    }

    fn network() -> Model {
        let mut build = Build::new(&[1, 4, 4, 2]);
        build.conv(Window::dense([3, 3]), &[5, 3, 3, 2], noise(90, 1), Some(noise(5, 2)), 1);
        build.depthwise(Window::dense([2, 2]), 2, noise(40, 3), None);
        build.reshape(&[1, 10]);
        build.dense(3, noise(30, 4), Some(noise(3, 5)));
        build.finish();
        build.model
    }

    #[test]
    fn weights_from_a_store_give_the_same_results() {
        let model = network();
        let input = Data::F32(noise(32, 6));
        let run = |model: &Model| float::run(model, std::slice::from_ref(&input), &mut |_, _| {});
        assert_eq!(run(&outsourced(&model)).unwrap(), run(&model).unwrap());
        let samples = vec![vec![input.clone()]];
        let options = QuantiseOptions::default();
        let (inline, _) = quantise(&model, &samples, &options).unwrap();
        assert_eq!(quantise(&outsourced(&model), &samples, &options).unwrap().0, inline);
        let input = [Data::I8(vec![5; 32])];
        let run = |model: &Model| int8::run(model, &input, &mut |_, _| {});
        assert_eq!(run(&outsourced(&inline)).unwrap(), run(&inline).unwrap());
    }

    #[test]
    fn a_store_that_gives_nothing_is_named() {
        let mut model = network();
        let weights = model.nodes[0].inputs[1];
        let short: Arc<dyn Store> = Arc::new(vec![0u8; 100]);
        let ranged = Ranged::new(short, 0, 90, DType::F32);
        model.tensors[weights.0].source = Some(Source::Ranged(ranged));
        model.verify().unwrap();
        let name = model.tensor(weights).name.clone();
        let error = float::run(&model, &[Data::F32(noise(32, 6))], &mut |_, _| {}).unwrap_err();
        assert_eq!(error, RunError::NoValues { tensor: name });
        let samples = vec![vec![Data::F32(noise(32, 6))]];
        assert!(quantise(&model, &samples, &QuantiseOptions::default()).is_err());
    }
}
