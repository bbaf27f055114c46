//! NumPy's archives of arrays: ZIP files with an array file for each name.

use std::io::{Cursor, Read};

use zip::ZipArchive;

use super::npy::{self, NpyArray};
use super::{InputError, NpyError};

/// First bytes of such a file.
pub(super) const MAGIC: &[u8] = b"PK\x03\x04";
/// Bytes that arrays may have together once they are unpacked.
const MOST_BYTES: u64 = 256 << 20;
/// Most arrays.
const MOST_ARRAYS: usize = 256;

/// An array with its name.
pub struct Named {
    pub name: String,
    pub array: NpyArray,
}

/// Reads all arrays. What the archive says of their sizes is checked while they are unpacked: nothing grows beyond
/// [`MOST_BYTES`].
///
/// # Errors
/// If it is damaged, too large, or holds something else than arrays.
pub fn parse(bytes: &[u8]) -> Result<Vec<Named>, InputError> {
    let fault = |error: &dyn std::fmt::Display| InputError::Archive(error.to_string());
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| fault(&error))?;
    if archive.len() > MOST_ARRAYS {
        return Err(fault(&format!("it has {} files, more than {MOST_ARRAYS}", archive.len())));
    }
    let mut rest = MOST_BYTES;
    let mut arrays = Vec::new();
    for index in 0..archive.len() {
        let file = archive.by_index(index).map_err(|error| fault(&error))?;
        let name = file.name().to_owned();
        let Some(stem) = name.strip_suffix(".npy") else { continue };
        let mut unpacked = Vec::new();
        file.take(rest + 1).read_to_end(&mut unpacked).map_err(|error| fault(&error))?;
        rest = rest
            .checked_sub(unpacked.len() as u64)
            .ok_or_else(|| fault(&format!("its arrays have more than {} MiB", MOST_BYTES >> 20)))?;
        arrays.push(Named { name: stem.to_owned(), array: npy::parse(&unpacked)? });
    }
    if arrays.is_empty() {
        return Err(NpyError::Damaged("the archive holds no .npy file").into());
    }
    Ok(arrays)
}

/// The array for a tensor: that of its name, else the first that `suits`, else the first.
pub fn array_for<'a>(
    arrays: &'a [Named],
    tensor: &str,
    suits: impl Fn(&NpyArray) -> bool,
) -> Option<&'a NpyArray> {
    let named = arrays.iter().find(|named| named.name == tensor);
    let found = named.or_else(|| arrays.iter().find(|named| suits(&named.array)));
    found.or(arrays.first()).map(|named| &named.array)
}
