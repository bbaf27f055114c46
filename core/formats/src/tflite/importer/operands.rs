//! What an operator of a file reads: its operands, and what is known of them.

use std::rc::Rc;

use tilewright_model::{DType, TensorId};
use tilewright_tflite_schema as fb;

use super::{Importer, Refused, Value, unsupported};
use crate::FormatError;
use crate::tflite::quantised;
use crate::tflite::verified_file::Place;

/// Most numbers of a shape, of axes, of indices: messages may repeat them.
const MOST_INTEGERS: usize = 4096;

impl<'a> Importer<'_, 'a> {
    /// The file's tensor that is operand `position`.
    pub(in crate::tflite) fn operand(
        &self,
        place: &Place<'a>,
        position: usize,
    ) -> Result<usize, FormatError> {
        self.optional(place, position)
            .ok_or_else(|| place.bad(format!("operand {position} is missing")))
    }

    /// The file's tensor that is operand `position`, if the operator has one.
    pub(in crate::tflite) fn optional(&self, place: &Place<'a>, position: usize) -> Option<usize> {
        let index = place.inputs.get(position).copied().flatten()?;
        Some(self.aliases.get(&index).copied().unwrap_or(index))
    }

    pub(in crate::tflite) fn value(
        &self,
        place: &Place<'a>,
        position: usize,
    ) -> Result<Value, FormatError> {
        let index = self.operand(place, position)?;
        let stored = &self.file.tensors[index];
        if let Some(fault) = &stored.fault {
            return Err(place.bad(format!("'{}': {fault}", stored.name)));
        }
        self.values[index]
            .clone()
            .ok_or_else(|| place.bad(format!("'{}' is made by no operator before it", stored.name)))
    }

    /// Sizes of operand `position`.
    pub(in crate::tflite) fn dims(
        &self,
        place: &Place<'a>,
        position: usize,
    ) -> Result<Vec<usize>, FormatError> {
        Ok(match self.value(place, position)? {
            Value::Stored | Value::Hidden | Value::Handle(_) => {
                self.file.tensors[self.operand(place, position)?].dims.clone()
            }
            Value::Ints { dims, .. } | Value::Floats { dims, .. } => dims,
            Value::Activated(id) => self.shape(id).to_vec(),
        })
    }

    pub(in crate::tflite) fn shape(&self, id: TensorId) -> &[usize] {
        self.model.tensor(id).shape.dims()
    }

    /// Operand `position` as integers, if it is constant.
    pub(in crate::tflite) fn ints(&self, place: &Place<'a>, position: usize) -> Option<Vec<i64>> {
        match self.value(place, position).ok()? {
            Value::Stored => quantised::ints(&self.file.tensors[self.optional(place, position)?]),
            Value::Ints { values, .. } => Some(values.to_vec()),
            _ => None,
        }
    }

    /// Operand `position` as integers, which must be constant.
    pub(in crate::tflite) fn needed_ints(
        &self,
        place: &Place<'a>,
        position: usize,
        what: &str,
    ) -> Result<Vec<i64>, Refused> {
        self.value(place, position)?;
        match self.ints(place, position) {
            Some(values) if values.len() > MOST_INTEGERS => {
                unsupported(format!("its {what} is {} numbers", values.len()))
            }
            Some(values) => Ok(values),
            None => unsupported(format!("its {what} is not constant")),
        }
    }

    /// Real values of operand `position`, if it is constant.
    pub(in crate::tflite) fn floats(
        &self,
        place: &Place<'a>,
        position: usize,
    ) -> Option<Rc<[f32]>> {
        match self.value(place, position).ok()? {
            Value::Stored => {
                quantised::floats(&self.file.tensors[self.optional(place, position)?]).map(Rc::from)
            }
            Value::Floats { values, .. } => Some(values),
            _ => None,
        }
    }

    /// Whether the operator computes with real numbers: no operand is int8 before it runs.
    pub(in crate::tflite) fn is_float(&self, place: &Place<'a>) -> bool {
        let is_int8 = |index: &usize| match &self.values[*index] {
            Some(Value::Activated(id)) => self.model.tensor(*id).dtype == DType::I8,
            _ => false,
        };
        let result = place.outputs.first().map(|index| self.file.tensors[*index].kind);
        let eight = matches!(result, Some(fb::TensorType::INT8 | fb::TensorType::UINT8));
        !eight && !place.inputs.iter().flatten().any(is_int8)
    }

    /// Whether the file's result is uint8: TensorFlow Lite computes some operators in another way
    /// then.
    pub(in crate::tflite) fn is_uint8(&self, place: &Place<'a>) -> Result<bool, FormatError> {
        Ok(self.file.tensors[self.result(place, 0)?].kind == fb::TensorType::UINT8)
    }
}
