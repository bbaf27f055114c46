//! A walk over a protobuf file before it is decoded: tells other files and cut off ones apart, and
//! counts records, so that decoding cannot take much more memory than the file has bytes.

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

/// Deepest nesting entered; ONNX files without control flow need five.
const DEEPEST: u32 = 24;

struct Walk<'a> {
    bytes: &'a [u8],
    records: usize,
    limit: usize,
    in_graph: bool,
}

/// Where and why a walk stopped.
enum Stop {
    Damaged { at: usize, reason: &'static str },
    TooMany,
}

/// Refuses what is not ONNX, is cut off, or has more records than allowed.
pub(super) fn check(bytes: &[u8], limits: &Limits) -> Result<(), FormatError> {
    let not = |reason: &str| Err(FormatError::NotAModel { reason: reason.to_owned() });
    if bytes.is_empty() {
        return not("the file is empty");
    }
    if let Some(kind) = other_format(bytes) {
        return not(kind);
    }
    // The first field of an ONNX file is one of the model's, in a fixed order in practice.
    let begins_as_onnx = matches!(bytes[0], 0x08 | 0x12 | 0x1a | 0x22 | 0x28 | 0x32 | 0x3a | 0x42);
    if !begins_as_onnx {
        return not("its first bytes are not those of an ONNX file");
    }
    let mut walk = Walk { bytes, records: 0, limit: limits.records, in_graph: false };
    match walk.message(0, bytes.len(), Kind::Model, 0) {
        Ok(()) => Ok(()),
        Err(Stop::TooMany) => Err(FormatError::TooLarge {
            what: "records of the file".to_owned(),
            size: format!("more than {}", limits.records),
            limit: limits.records,
        }),
        // A file that is cut off inside its graph has got that far; others stop sooner.
        Err(Stop::Damaged { at, reason }) if at < 16 && !walk.in_graph => {
            not(&format!("it begins like ONNX but {reason} at byte {at}"))
        }
        Err(Stop::Damaged { at, reason }) => Err(FormatError::Damaged {
            reason: format!("{reason} at byte {at} of {}", bytes.len()),
        }),
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
        let damaged = |at: usize, reason: &'static str| Err(Stop::Damaged { at, reason });
        let mut at = start;
        while at < end {
            self.records += 1;
            if self.records > self.limit {
                return Err(Stop::TooMany);
            }
            let field = at;
            let key = self.varint(&mut at, end)?;
            match key & 7 {
                0 => {
                    self.varint(&mut at, end)?;
                }
                1 => at += 8,
                5 => at += 4,
                2 => {
                    let length = self.varint(&mut at, end)?;
                    self.in_graph |= depth == 0 && key >> 3 == 7;
                    let Some(stop) = usize::try_from(length).ok().and_then(|l| at.checked_add(l))
                    else {
                        return damaged(field, "a length is impossible");
                    };
                    if stop > end {
                        return damaged(field, "a field reaches beyond the end");
                    }
                    if let Some(inner) = kind.field(key >> 3) {
                        if depth == DEEPEST {
                            return damaged(field, "records are nested too deep");
                        }
                        self.message(at, stop, inner, depth + 1)?;
                    }
                    at = stop;
                }
                _ => return damaged(field, "a field has no valid type"),
            }
            if at > end {
                return damaged(field, "a field reaches beyond the end");
            }
        }
        Ok(())
    }

    fn varint(&self, at: &mut usize, end: usize) -> Result<u64, Stop> {
        let mut value = 0u64;
        for shift in (0..70).step_by(7) {
            let Some(byte) = self.bytes.get(*at).filter(|_| *at < end) else {
                return Err(Stop::Damaged { at: *at, reason: "a number is cut off" });
            };
            *at += 1;
            value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Stop::Damaged { at: *at, reason: "a number is too long" })
    }
}
