//! Checksums of sectors that programs write to the card, in the arena, or tags of what was sealed; made when a sector is written, compared when it is read (FORMAT.md, copies).

use tilewright_plan::{PlanImage, SectorChecksums};
use tilewright_runtime::card::{CardError, SECTOR};
use tilewright_runtime::{Run, Transfer};
use tilewright_seal::{Key, Piece, TAG_BYTES, Tag};

use crate::crc::{self, checksum};
use crate::rng;

/// What stands for a sector that was not written since start: a checksum, or a number of writings.
const UNKNOWN: u32 = 0;
/// Writings of a sector after which there is a new key: far fewer follow in a frame.
const WORN: u32 = 1 << 31;

const _: () = assert!(TAG_BYTES as u32 + 4 == SectorChecksums::SEAL_BYTES);

/// Makes and compares them.
pub struct SectorChecker {
    kept: SectorChecksums,
    arena: u32,
    /// What seals what programs write; nothing if that lies as it is.
    key: Option<Key>,
    /// Whether a sector was written so often that the key must change.
    worn: bool,
}

impl SectorChecker {
    /// In the arena that begins at `arena`; no sector is known yet.
    pub fn new(kept: SectorChecksums, arena: u32) -> Result<Self, CardError> {
        let mut this = Self { kept, arena, key: None, worn: false };
        this.forget()?;
        Ok(this)
    }

    /// A frame begins, which reads nothing that an earlier one wrote.
    pub fn begin_frame(&mut self) -> Result<(), CardError> {
        if self.worn { self.forget() } else { Ok(()) }
    }

    /// No sector is known any more, and what is sealed from here on has another key.
    fn forget(&mut self) -> Result<(), CardError> {
        if self.kept.sealed {
            self.key = Some(Key::new(rng::bytes().ok_or(CardError::NoKey)?));
        }
        self.worn = false;
        let known = if self.kept.sealed { TAG_BYTES as u32 } else { 0 };
        for number in 0..self.kept.sectors {
            if let Some(place) = self.place(self.kept.first + number) {
                write(place + known, UNKNOWN);
            }
        }
        Ok(())
    }

    fn place(&self, sector: u32) -> Option<u32> {
        self.kept.place(sector).map(|offset| self.arena + offset)
    }

    /// Notes what is going to be written, or seals it where it lies.
    pub fn leave(&mut self, Run { source, destination, bytes }: Run) {
        for number in 0..bytes / SECTOR {
            let (sector, memory) = (destination / SECTOR + number, source + number * SECTOR);
            let Some(place) = self.place(sector) else { continue };
            let Some(key) = &self.key else {
                write(place, sum_of(memory));
                continue;
            };
            let count = read(place + TAG_BYTES as u32).wrapping_add(1);
            self.worn |= count >= WORN;
            let tag = key.seal(Piece::Written { sector, count }, bytes_at(memory, SECTOR));
            write_tag(place, &tag);
            write(place + TAG_BYTES as u32, count);
        }
    }

    /// The first sector of what was read that holds other bytes than were written; what is sealed is decrypted.
    pub fn arrive(&self, Run { source, destination, bytes }: Run) -> Option<u32> {
        let sectors = (0..bytes / SECTOR).map(|number| (number, source / SECTOR + number));
        sectors.into_iter().find_map(|(number, sector)| {
            let (place, memory) = (self.place(sector)?, destination + number * SECTOR);
            let is_right = match &self.key {
                None => [UNKNOWN, sum_of(memory)].contains(&read(place)),
                Some(key) => match read(place + TAG_BYTES as u32) {
                    UNKNOWN => true,
                    count => {
                        let piece = Piece::Written { sector, count };
                        key.open(piece, bytes_at(memory, SECTOR), &read_tag(place))
                    }
                },
            };
            (!is_right).then_some(sector)
        })
    }
}

/// Whether what a copy brought from the store image, to a space that begins at `base`, is what the number says; if
/// it is sealed, it is decrypted.
pub fn is_stored(image: &PlanImage<'_>, number: u32, base: u32, copy: &Transfer) -> bool {
    let to = &copy.destination;
    let Some(words) = image.key() else {
        return image.copy_checksum(number) == Some(checksum(base, to));
    };
    let key = Key::new(bytes_of(words));
    let (mut place, mut memory) = (copy.source.offset, base + to.offset);
    let end = place + to.rows * to.row_bytes;
    for number in number.. {
        let Some([start, tag @ ..]) = image.part(number) else { return false };
        let next = image.part(number + 1).map_or(end, |[next, ..]| *next);
        let bytes = next.min(end).saturating_sub(place);
        // Another place than the plan's: nothing that was made so.
        if *start != place || bytes == 0 {
            return false;
        }
        if !key.open(Piece::Part(number), bytes_at(memory, bytes), &bytes_of(tag)) {
            return false;
        }
        (place, memory) = (place + bytes, memory + bytes);
        if place == end {
            return true;
        }
    }
    false
}

fn bytes_of<const BYTES: usize>(words: &[u32]) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    for (place, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
        *place = word.to_le_bytes();
    }
    bytes
}

fn sum_of(memory: u32) -> u32 {
    crc::of_sector(memory).max(UNKNOWN + 1)
}

fn read_tag(place: u32) -> Tag {
    bytes_of(&[0, 4, 8, 12].map(|offset| read(place + offset)))
}

fn write_tag(place: u32, tag: &Tag) {
    for (offset, word) in (0..).step_by(4).zip(tag.as_chunks().0) {
        write(place + offset, u32::from_le_bytes(*word));
    }
}

/// What an engine has written, or is going to read.
#[expect(unsafe_code, reason = "engines use memory that the core holds no slice of")]
fn bytes_at(first: u32, bytes: u32) -> &'static mut [u8] {
    // SAFETY: the image's reader proved that spans lie inside their spaces, which never end; from when its step
    // may begin until it is complete, nobody but the engine and its driver uses these bytes, and the driver
    // holds one slice of them at a time.
    unsafe { core::slice::from_raw_parts_mut(first as *mut u8, bytes as usize) }
}

#[expect(unsafe_code, reason = "memory of the arena that programs do not use")]
fn read(place: u32) -> u32 {
    // SAFETY: the image's reader proved that it lies in the arena, aligned.
    unsafe { (place as *const u32).read_volatile() }
}

#[expect(unsafe_code, reason = "memory of the arena that programs do not use")]
fn write(place: u32, word: u32) {
    // SAFETY: the image's reader proved that it lies in the arena, aligned.
    unsafe { (place as *mut u32).write_volatile(word) }
}
