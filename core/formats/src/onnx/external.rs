//! Constants whose values are in files beside the model.

use super::constant::Piece;
use super::messages::{TensorProto, tensor_proto::DataLocation};
use super::skeleton::Place;
use crate::file::inside;
use crate::{FormatError, ModelFile};

/// Where a constant's values are, as its file says.
pub(super) struct Location {
    /// As the file has it.
    file: String,
    offset: u64,
    length: Option<u64>,
}

/// Where the tensor's values are, if in another file.
pub(super) fn location(proto: &TensorProto, name: &str) -> Result<Option<Location>, FormatError> {
    if proto.data_location != DataLocation::External as i32 {
        return Ok(None);
    }
    let entry = |key: &str| {
        let mut entries = proto.external_data.iter().filter(|entry| entry.key == key);
        entries.next_back().map(|entry| entry.value.as_str())
    };
    let file = entry("location").unwrap_or_default().to_owned();
    let number = |key: &str| {
        let Some(text) = entry(key) else { return Ok(None) };
        text.trim().parse::<u64>().map(Some).map_err(|_| FormatError::Data {
            tensor: name.to_owned(),
            file: file.clone(),
            reason: format!("its {key} is '{text}', which is no number of bytes"),
        })
    };
    let (offset, length) = (number("offset")?.unwrap_or(0), number("length")?);
    Ok(Some(Location { file, offset, length }))
}

impl Location {
    /// The values' `bytes` in the file that holds them.
    pub(super) fn find(
        self,
        tensor: &str,
        bytes: u64,
        model: &ModelFile<'_>,
    ) -> Result<Piece, FormatError> {
        let Self { file, offset, length } = self;
        let bad = |reason: String| FormatError::Data {
            tensor: tensor.to_owned(),
            file: file.clone(),
            reason,
        };
        let path = inside(&file).ok_or_else(|| {
            bad("it must lie in the model's folder or below: a relative path without '..'".into())
        })?;
        if let Some(length) = length.filter(|length| *length != bytes) {
            return Err(bad(format!("{length} bytes for values of {bytes}")));
        }
        let store = (model.beside)(&path).map_err(bad)?;
        let store = store.ok_or_else(|| FormatError::MissingData {
            tensor: tensor.to_owned(),
            file: path.clone(),
        })?;
        let (size, end) = (store.size(), offset.checked_add(bytes));
        if end.is_none_or(|end| end > size) {
            return Err(bad(format!(
                "they are {bytes} bytes from byte {offset} on, but the file has {size}"
            )));
        }
        Ok(Piece { store, place: Place { offset, length: bytes } })
    }
}
