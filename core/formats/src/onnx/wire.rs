//! A walk over a protobuf file before it is decoded: tells other files and cut off ones apart, and
//! counts records, so that decoding cannot take much more memory than the file has bytes. Tensors'
//! values are passed over.

use super::window::{Field, Window, Wrong};
use crate::{FormatError, Limits};

/// Messages that decoding makes structures of; other fields are counted but not entered.
#[derive(Clone, Copy)]
enum Kind {
    Model,
    Graph,
    Node,
    Attribute,
    Tensor,
    Value,
    Other,
}

impl Kind {
    /// What a field of bytes holds.
    const fn field(self, number: u64) -> Option<Self> {
        Some(match (self, number) {
            (Self::Model, 7) | (Self::Attribute, 6 | 11) => Self::Graph,
            (Self::Model, 8 | 14 | 20 | 25) | (Self::Graph, 14 | 15) => Self::Other,
            (Self::Graph, 1) => Self::Node,
            (Self::Graph, 5) | (Self::Attribute, 5 | 10) => Self::Tensor,
            (Self::Graph, 11..=13) => Self::Value,
            (Self::Node, 5) => Self::Attribute,
            (Self::Value, 2) | (Self::Tensor, 13) => Self::Other,
            _ => return None,
        })
    }
}

/// Number of the model's field that holds its graph.
const GRAPH: u64 = 7;

/// Deepest nesting entered; ONNX files without control flow need five.
const DEEPEST: u32 = 24;

struct Walk<'a> {
    file: Window<'a>,
    records: usize,
    limit: usize,
    in_graph: bool,
}

/// Where and why a walk stopped.
enum Stop {
    Damaged(Wrong),
    TooMany,
}

impl From<Wrong> for Stop {
    fn from(wrong: Wrong) -> Self {
        Self::Damaged(wrong)
    }
}

/// Refuses what is not ONNX, is cut off, or has more records than allowed.
pub(super) fn check(file: Window<'_>, limits: &Limits) -> Result<(), FormatError> {
    let not = |reason: &str| Err(FormatError::NotAModel { reason: reason.to_owned() });
    let length = file.length();
    if length == 0 {
        return not("the file is empty");
    }
    let mut walk = Walk { file, records: 0, limit: limits.records, in_graph: false };
    let first = walk.file.bytes(0, length.min(16)).map_err(|wrong| wrong.damaged(length))?;
    if let Some(kind) = other_format(&first) {
        return not(kind);
    }
    // The first field of an ONNX file is one of the model's, in a fixed order in practice.
    let begins_as_onnx = matches!(first[0], 0x08 | 0x12 | 0x1a | 0x22 | 0x28 | 0x32 | 0x3a | 0x42);
    if !begins_as_onnx {
        return not("its first bytes are not those of an ONNX file");
    }
    match walk.message(0, length, Kind::Model, 0) {
        Ok(()) => Ok(()),
        Err(Stop::TooMany) => Err(FormatError::TooLarge {
            what: "records of the file".to_owned(),
            size: format!("more than {}", limits.records),
            limit: limits.records,
        }),
        // A file that is cut off inside its graph has got that far; others stop sooner.
        Err(Stop::Damaged(Wrong { at, reason, field }))
            if at < 16 && !walk.in_graph && field != GRAPH =>
        {
            not(&format!("it begins like ONNX but {reason} at byte {at}"))
        }
        Err(Stop::Damaged(wrong)) => Err(wrong.damaged(length)),
    }
}

fn other_format(bytes: &[u8]) -> Option<&'static str> {
    let begins = |magic: &[u8]| bytes.starts_with(magic);
    Some(match () {
        () if begins(b"PK\x03\x04") => "it is a ZIP archive (PyTorch, Keras?): export it as ONNX",
        () if begins(b"\x89HDF") => "it is an HDF5 file (Keras?): export it as ONNX",
        () if begins(b"\x1f\x8b") => "it is compressed by gzip: unpack it first",
        () if begins(b"\x89PNG") || begins(b"\xff\xd8\xff") => "it is a picture",
        () if begins(b"\x93NUMPY") => "it is a NumPy array",
        () if begins(b"\x80\x02") || begins(b"\x80\x04") => {
            "it is a Python pickle (PyTorch?): export it as ONNX"
        }
        () => return None,
    })
}

impl Walk<'_> {
    fn message(&mut self, start: usize, end: usize, kind: Kind, depth: u32) -> Result<(), Stop> {
        let mut at = start;
        while at < end {
            self.records += 1;
            if self.records > self.limit {
                return Err(Stop::TooMany);
            }
            let Field { number, inside } = self.file.field(at, end)?;
            let Some((from, to)) = inside.bytes() else {
                at = inside.end();
                continue;
            };
            self.in_graph |= depth == 0 && number == GRAPH;
            if let Some(inner) = kind.field(number) {
                if depth == DEEPEST {
                    let reason = "records are nested too deep";
                    return Err(Wrong { at, reason, field: number }.into());
                }
                self.message(from, to, inner, depth + 1)?;
            }
            at = to;
        }
        Ok(())
    }
}
