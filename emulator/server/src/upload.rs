//! What a client uploads for a run. Its parts lie in a file without a name while they come and while
//! the run waits, so that they take none of the server's memory.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use tempfile::SpooledTempFile;
use tilewright_protocol::Mode;

/// Bytes that stay in memory: small uploads need no file.
const IN_MEMORY: usize = 32 << 10;

/// An upload whose parts are of type `B`: [`Part`]s in the server, their lengths on the way to the
/// process that does the run, bytes there.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Upload<B> {
    /// Plan image.
    pub image: Option<B>,
    /// Its store image of external flash.
    pub external_flash: Option<B>,
    /// Its store image of a card.
    pub card: Option<B>,
    /// Model file.
    pub model: Option<B>,
    /// Files that the model keeps weights in, and their names.
    pub data: Vec<(String, B)>,
    /// A network of the zoo.
    pub zoo: Option<String>,
    /// The model file's name.
    pub model_name: Option<String>,
    pub samples: Option<B>,
    /// How ranges follow from them.
    pub calibration: Option<String>,
    /// The range in which the network takes pixels.
    pub pixels: Option<String>,
    pub input: Option<B>,
    /// Sizes of dimensions that the model leaves open.
    pub dims: Vec<(String, usize)>,
    /// Whether the outputs of all layers are kept.
    pub layers: bool,
    /// How much of the steps is executed.
    pub mode: Mode,
    /// The limit of latency in microseconds that chooses a sub-network; nothing: the main program runs.
    pub limit_us: Option<u32>,
}

impl<B> Default for Upload<B> {
    fn default() -> Self {
        Self {
            image: None,
            external_flash: None,
            card: None,
            model: None,
            data: Vec::new(),
            zoo: None,
            model_name: None,
            samples: None,
            calibration: None,
            pixels: None,
            input: None,
            dims: Vec::new(),
            layers: false,
            mode: Mode::default(),
            limit_us: None,
        }
    }
}

impl<B> Upload<B> {
    /// The upload with other parts in place of its own, always asked for in the same order.
    ///
    /// # Errors
    /// The first of `other`.
    pub fn map<C, E>(self, mut other: impl FnMut(B) -> Result<C, E>) -> Result<Upload<C>, E> {
        let data = self.data.into_iter();
        let data = data.map(|(name, part)| Ok((name, other(part)?))).collect::<Result<_, E>>()?;
        let mut each = |part: Option<B>| part.map(&mut other).transpose();
        Ok(Upload {
            image: each(self.image)?,
            external_flash: each(self.external_flash)?,
            card: each(self.card)?,
            model: each(self.model)?,
            samples: each(self.samples)?,
            input: each(self.input)?,
            data,
            zoo: self.zoo,
            model_name: self.model_name,
            calibration: self.calibration,
            pixels: self.pixels,
            dims: self.dims,
            layers: self.layers,
            mode: self.mode,
            limit_us: self.limit_us,
        })
    }
}

/// Where an upload's parts lie, one behind the other.
#[derive(Clone, Debug)]
pub struct Spool(Arc<Mutex<SpooledTempFile>>);

impl Default for Spool {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(SpooledTempFile::new(IN_MEMORY))))
    }
}

impl Spool {
    /// A part that begins behind all that was written, empty so far.
    ///
    /// # Errors
    /// What the system says.
    pub fn part(&self) -> io::Result<Part> {
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let start = file.seek(SeekFrom::End(0))?;
        Ok(Part { spool: self.clone(), start, length: 0 })
    }
}

/// A part of an upload.
#[derive(Clone, Debug)]
pub struct Part {
    spool: Spool,
    start: u64,
    length: usize,
}

impl Part {
    /// Bytes that are read at a time.
    pub const PIECE: usize = 256 << 10;

    /// Where its pieces start.
    pub fn starts(&self) -> impl Iterator<Item = usize> + use<> {
        (0..self.length).step_by(Self::PIECE)
    }

    /// Adds bytes to the last part.
    ///
    /// # Errors
    /// What the system says.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut file = self.spool.0.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(self.start + self.length as u64))?;
        file.write_all(bytes)?;
        self.length += bytes.len();
        Ok(())
    }

    /// Number of bytes.
    #[must_use]
    pub const fn length(&self) -> usize {
        self.length
    }

    /// At most `length` bytes from `from` on.
    ///
    /// # Errors
    /// What the system says.
    pub fn read(&self, from: usize, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length.min(self.length.saturating_sub(from))];
        let mut file = self.spool.0.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(self.start + from as u64))?;
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// All bytes.
    ///
    /// # Errors
    /// What the system says.
    pub fn whole(&self) -> io::Result<Vec<u8>> {
        self.read(0, self.length)
    }

    /// All bytes, a piece at a time; an empty piece if one cannot be read.
    pub fn pieces(self) -> impl Iterator<Item = Vec<u8>> {
        self.starts().map(move |start| self.read(start, Self::PIECE).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_lie_one_behind_the_other_and_are_read_as_they_came() {
        let spool = Spool::default();
        let large: Vec<u8> = (0..3 * Part::PIECE + 5).map(|index| index as u8).collect();
        let mut upload = Upload::default();
        for (bytes, place) in [(&large[..7], &mut upload.input), (&large[..], &mut upload.model)] {
            let mut part = spool.part().unwrap();
            bytes.chunks(1000).for_each(|chunk| part.write(chunk).unwrap());
            *place = Some(part);
        }
        let lengths = upload.clone().map(|part| Ok::<_, io::Error>(part.length())).unwrap();
        assert_eq!((lengths.model, lengths.input), (Some(large.len()), Some(7)));
        let pieces: Vec<u8> = upload.model.clone().unwrap().pieces().flatten().collect();
        assert_eq!(pieces, large);
        let whole = upload.map(|part| part.whole()).unwrap();
        assert_eq!(
            (whole.model.unwrap(), whole.input.unwrap()),
            (large.clone(), large[..7].to_vec())
        );
    }
}
