//! Weights that stay where they are, in a file mostly, until they are asked for. Who has the file
//! reads it: this crate does no IO.
//!
//! Passes permute and scale values that will be read: tensors of a million elements and more are read each time somebody asks for
//! them. Files of weights beside the model are nothing special, and the host says which may be read at all.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::data::Data;
use crate::interpret::layout::transpose;
use crate::shape::Shape;
use crate::tensor::DType;

/// Bytes that can be read in parts.
pub trait Store: fmt::Debug + Send + Sync {
    /// How many bytes there are.
    fn size(&self) -> u64;

    /// `length` bytes from `offset` on; nothing if they cannot be read, or not any more.
    fn read(&self, offset: u64, length: usize) -> Option<Vec<u8>>;
}

impl Store for Vec<u8> {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read(&self, offset: u64, length: usize) -> Option<Vec<u8>> {
        let start = usize::try_from(offset).ok()?;
        self.get(start..start.checked_add(length)?).map(<[u8]>::to_vec)
    }
}

/// What is done to values after they were read.
#[derive(Clone, Debug, PartialEq)]
enum View {
    /// Dimension `i` of the result is dimension `permutation[i]` of the values, which are of
    /// these dimensions.
    Permuted { dims: Vec<usize>, permutation: Vec<usize> },
    /// Value `p` times factor `p / inner`, counted round.
    Scaled { factors: Arc<[f64]>, inner: usize },
}

/// Elements that are read at once: they and the values are in memory together.
const PIECE: usize = 1 << 20;

/// Little-endian values in a range of a store, permuted and scaled as they are read.
#[derive(Clone, Debug)]
pub struct Ranged {
    store: Arc<dyn Store>,
    offset: u64,
    elements: usize,
    dtype: DType,
    views: Vec<View>,
}

impl Ranged {
    /// `elements` values of a type from byte `offset` on.
    #[must_use]
    pub const fn new(store: Arc<dyn Store>, offset: u64, elements: usize, dtype: DType) -> Self {
        Self { store, offset, elements, dtype, views: Vec::new() }
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

    /// The same values, which are of these dimensions, with dimension `permutation[i]` as dimension
    /// `i`.
    #[must_use]
    pub fn permuted(&self, dims: &[usize], permutation: &[usize]) -> Self {
        let mut view = self.clone();
        if !permutation.is_sorted() {
            let (dims, permutation) = (dims.to_vec(), permutation.to_vec());
            view.views.push(View::Permuted { dims, permutation });
        }
        view
    }

    /// The same values of 32-bit floats, value `p` times factor `p / inner`, counted round.
    #[must_use]
    pub fn scaled(&self, factors: &[f64], inner: usize) -> Self {
        let mut view = self.clone();
        view.views.push(View::Scaled { factors: factors.into(), inner });
        view
    }

    /// All values, read now; none if the store does not give them.
    #[must_use]
    pub fn values(&self) -> Data {
        let values = match self.dtype {
            DType::F32 => Data::F32(self.read(f32::from_le_bytes).unwrap_or_default()),
            DType::I32 => Data::I32(self.read(i32::from_le_bytes).unwrap_or_default()),
            DType::I8 => Data::I8(self.read(|[byte]: [u8; 1]| byte as i8).unwrap_or_default()),
            DType::I16 | DType::I64 | DType::U8 => return Data::I8(Vec::new()),
        };
        if values.len() != self.elements {
            return values;
        }
        self.views.iter().fold(values, seen)
    }

    /// The 8-bit integers in a range; nothing if these are others or cannot be read.
    #[must_use]
    pub fn integers(&self, range: Range<usize>) -> Option<Vec<i8>> {
        let whole = !self.views.is_empty();
        let at = self.offset.checked_add(range.start as u64)?;
        let part = Self::new(Arc::clone(&self.store), at, range.len(), self.dtype);
        let values = if whole { self.values() } else { part.values() };
        let range = if whole { range } else { 0..range.len() };
        values.as_i8()?.get(range).map(<[i8]>::to_vec)
    }

    fn read<const N: usize, T>(&self, value: impl Fn([u8; N]) -> T) -> Option<Vec<T>> {
        let end = (self.elements as u64).checked_mul(N as u64)?.checked_add(self.offset)?;
        // Checked before memory is taken.
        if end > self.store.size() {
            return None;
        }
        let mut values = Vec::with_capacity(self.elements);
        while values.len() < self.elements {
            let count = PIECE.min(self.elements - values.len());
            let at = self.offset + (values.len() * N) as u64;
            let bytes = self.store.read(at, count * N)?;
            let (words, _) = bytes.as_chunks::<N>();
            if words.len() != count {
                return None;
            }
            values.extend(words.iter().map(|word| value(*word)));
        }
        Some(values)
    }

    /// Whether all values of a range of 32-bit floats can be read and are numbers.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        let pieces = (0..self.elements).step_by(PIECE);
        pieces.into_iter().all(|start| {
            let count = PIECE.min(self.elements - start);
            let at = self.offset.saturating_add(start as u64 * 4);
            let piece = Self::new(Arc::clone(&self.store), at, count, DType::F32).values();
            piece.as_f32().is_some_and(|values| {
                values.len() == count && values.iter().all(|value| value.is_finite())
            })
        })
    }
}

fn seen(values: Data, view: &View) -> Data {
    match (view, values) {
        (View::Permuted { dims, permutation }, values) => {
            let shape = Shape::new(dims.as_slice());
            match &values {
                Data::F32(values) => Data::F32(transpose(values, &shape, permutation)),
                Data::I32(values) => Data::I32(transpose(values, &shape, permutation)),
                Data::I8(values) => Data::I8(transpose(values, &shape, permutation)),
            }
        }
        (View::Scaled { factors, inner }, Data::F32(mut values)) => {
            let channels = values.chunks_mut((*inner).max(1)).zip(factors.iter().cycle());
            for (values, factor) in channels {
                values.iter_mut().for_each(|value| *value = (f64::from(*value) * factor) as f32);
            }
            Data::F32(values)
        }
        (View::Scaled { .. }, values) => values,
    }
}

/// The same range of the same store.
impl PartialEq for Ranged {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.store, &other.store)
            && (self.offset, self.elements, self.dtype, &self.views)
                == (other.offset, other.elements, other.dtype, &other.views)
    }
}

/// As its bytes: who gets them has no access to the store.
#[cfg(feature = "serde")]
impl serde::Serialize for Ranged {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let values = self.values();
        if values.len() != self.elements {
            return Err(serde::ser::Error::custom("weights cannot be read"));
        }
        let bytes: Vec<u8> = match values {
            Data::F32(values) => values.into_iter().flat_map(f32::to_le_bytes).collect(),
            Data::I32(values) => values.into_iter().flat_map(i32::to_le_bytes).collect(),
            Data::I8(values) => values.into_iter().map(i8::cast_unsigned).collect(),
        };
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
    fn values_are_permuted_and_scaled_as_they_are_read() {
        let bytes: Vec<u8> = (0..7).flat_map(|value| (value as f32).to_le_bytes()).collect();
        let ranged = Ranged::new(Arc::new(bytes), 4, 6, DType::F32);
        let turned = ranged.permuted(&[2, 3], &[1, 0]).scaled(&[1.0, 10.0, -1.0], 2);
        assert_eq!(turned.values(), Data::F32(vec![1.0, 4.0, 20.0, 50.0, -3.0, -6.0]));
        assert_eq!(ranged.scaled(&[2.0, 3.0], 1).values().as_f32().unwrap()[4..], [10.0, 18.0]);
        assert_ne!(turned, ranged);
        assert!(ranged.is_finite());
        let beyond = Ranged::new(Arc::new(vec![0u8; 8]), u64::MAX - 3, 2, DType::F32);
        assert!(beyond.values().is_empty() && !beyond.is_finite());
        let mut bytes = vec![0u8; 8];
        bytes[4..].copy_from_slice(&f32::NAN.to_le_bytes());
        assert!(!Ranged::new(Arc::new(bytes), 0, 2, DType::F32).is_finite());
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
