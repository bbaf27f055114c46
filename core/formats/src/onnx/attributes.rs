//! Attributes of nodes, typed, with errors that name the node.

use crate::numbers::signed;
use crate::onnx::messages::{AttributeProto, NodeProto};

use crate::FormatError;

/// A node with its place in the file.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) node: &'a NodeProto,
    pub(crate) index: usize,
    pub(crate) opset: i64,
}

impl<'a> Place<'a> {
    /// The node's name, or that of its first result.
    pub(crate) fn name(&self) -> &'a str {
        let result = self.node.output.first().map_or("", String::as_str);
        if self.node.name.is_empty() { result } else { &self.node.name }
    }

    pub(crate) fn bad(&self, reason: impl Into<String>) -> FormatError {
        FormatError::Node {
            node: self.name().to_owned(),
            index: self.index,
            op: self.node.op_type.clone(),
            reason: reason.into(),
        }
    }

    /// The file may be right, but nothing here computes the node so.
    pub(crate) fn unsupported(&self, reason: impl Into<String>) -> FormatError {
        FormatError::Unsupported {
            node: self.name().to_owned(),
            index: self.index,
            op: self.node.op_type.clone(),
            reason: reason.into(),
        }
    }

    pub(crate) fn attribute(&self, name: &str) -> Option<&'a AttributeProto> {
        self.node.attribute.iter().find(|attribute| attribute.name == name)
    }

    pub(crate) fn int(&self, name: &str, default: i64) -> i64 {
        self.attribute(name).map_or(default, |attribute| attribute.i)
    }

    pub(crate) fn float(&self, name: &str, default: f32) -> Result<f32, FormatError> {
        let value = self.attribute(name).map_or(default, |attribute| attribute.f);
        if value.is_nan() {
            Err(self.bad(format!("attribute {name} is no number")))
        } else {
            Ok(value)
        }
    }

    pub(crate) fn flag(&self, name: &str, default: bool) -> Result<bool, FormatError> {
        match self.int(name, i64::from(default)) {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(self.bad(format!("attribute {name} is {other}, not 0 or 1"))),
        }
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<&'a str>, FormatError> {
        self.attribute(name)
            .map(|attribute| std::str::from_utf8(&attribute.s))
            .transpose()
            .map_err(|_| self.bad(format!("attribute {name} is no text")))
    }

    pub(crate) fn ints(&self, name: &str) -> Option<&'a [i64]> {
        self.attribute(name).map(|attribute| attribute.ints.as_slice())
    }

    /// `N` sizes, or nothing if the attribute is absent or empty. All at least `least`.
    pub(crate) fn sizes<const N: usize>(
        &self,
        name: &str,
        least: i64,
    ) -> Result<Option<[usize; N]>, FormatError> {
        let Some(values) = self.ints(name).filter(|values| !values.is_empty()) else {
            return Ok(None);
        };
        // Products of two such sizes fit 32 bits, as wide as addresses are in a browser.
        let in_range = |value: &&i64| **value >= least && **value < 1 << 15;
        let sizes = values.iter().filter(in_range).filter_map(|value| usize::try_from(*value).ok());
        let sizes: Vec<usize> = sizes.collect();
        <[usize; N]>::try_from(sizes).map(Some).map_err(|_| {
            self.bad(format!(
                "attribute {name} is {values:?}; {N} sizes from {least} to 32767 are needed"
            ))
        })
    }

    /// An axis counted from the back where negative.
    pub(crate) fn axis(&self, axis: i64, rank: usize) -> Result<usize, FormatError> {
        let from_front = if axis < 0 { axis.checked_add(signed(rank)) } else { Some(axis) };
        from_front
            .and_then(|axis| usize::try_from(axis).ok())
            .filter(|axis| *axis < rank)
            .ok_or_else(|| self.bad(format!("axis {axis} of a tensor of rank {rank}")))
    }
}
