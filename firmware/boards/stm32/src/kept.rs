//! Checksums of what programs write to the card, one for each sector, in the arena: noted when a sector is
//! written, compared when it is read (FORMAT.md, copies).

use tilewright_plan::Kept;
use tilewright_runtime::Run;
use tilewright_runtime::card::SECTOR;

use crate::crc;

/// What stands for a sector that was not written since start.
const UNKNOWN: u32 = 0;

/// The checksums.
pub struct Sums {
    kept: Kept,
    arena: u32,
}

impl Sums {
    /// In the arena that begins at `arena`; no sector is known yet.
    pub fn new(kept: Kept, arena: u32) -> Self {
        let this = Self { kept, arena };
        for number in 0..kept.sectors {
            if let Some(place) = this.place(kept.first + number) {
                write(place, UNKNOWN);
            }
        }
        this
    }

    fn place(&self, sector: u32) -> Option<*mut u32> {
        self.kept.place(sector).map(|offset| (self.arena + offset) as *mut u32)
    }

    /// Notes what is going to be written.
    pub fn note(&self, Run { source, destination, bytes }: Run) {
        for number in 0..bytes / SECTOR {
            if let Some(place) = self.place(destination / SECTOR + number) {
                write(place, sum_of(source + number * SECTOR));
            }
        }
    }

    /// The first sector of what was read that holds other bytes than were written.
    pub fn differs(&self, Run { source, destination, bytes }: Run) -> Option<u32> {
        let sectors = (0..bytes / SECTOR).map(|number| (number, source / SECTOR + number));
        sectors.into_iter().find_map(|(number, sector)| {
            let known = read(self.place(sector)?);
            let is_other = known != UNKNOWN && known != sum_of(destination + number * SECTOR);
            is_other.then_some(sector)
        })
    }
}

fn sum_of(memory: u32) -> u32 {
    crc::of_sector(memory).max(UNKNOWN + 1)
}

#[expect(unsafe_code, reason = "memory of the arena that programs do not use")]
fn read(place: *const u32) -> u32 {
    // SAFETY: the image's reader proved that it lies in the arena, aligned.
    unsafe { place.read_volatile() }
}

#[expect(unsafe_code, reason = "memory of the arena that programs do not use")]
fn write(place: *mut u32, sum: u32) {
    // SAFETY: the image's reader proved that it lies in the arena, aligned.
    unsafe { place.write_volatile(sum) }
}
