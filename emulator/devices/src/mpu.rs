//! The memory protection unit: DDI 0403E, B3.5. What it makes of an address decides whether the core
//! may access it, and through the cache or not.

use crate::access::Write;

const REGIONS: usize = 8;
/// TYPE, CTRL, RNR, RBAR, RASR, and three aliases of the last two, as offsets from 0xE000E000.
pub const FIRST: u32 = 0xd90;
/// The last register.
pub const LAST: u32 = 0xdb8;

/// How an address is cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caching {
    /// Device or strongly-ordered memory: each access as it is.
    Device,
    /// Normal memory, not cached.
    Uncached,
    /// Reads fill lines, writes pass through.
    WriteThrough,
    /// Reads and writes fill lines, writes stay there until the line is evicted or cleaned.
    WriteBack,
}

/// What the core may do with an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// Privileged reads are allowed.
    pub readable: bool,
    /// Privileged writes are allowed.
    pub writable: bool,
    /// How it is cached, if the cache is on.
    pub caching: Caching,
}

/// The registers.
#[derive(Clone, Debug, Default)]
pub struct Mpu {
    control: u32,
    number: u32,
    /// RBAR and RASR of each region.
    regions: [[u32; 2]; REGIONS],
}

impl Mpu {
    /// Reads the register at an offset from 0xE000E000.
    pub fn read(&self, offset: u32) -> Option<u32> {
        let region = self.regions.get(self.selected(offset));
        Some(match offset {
            FIRST => (REGIONS as u32) << 8,
            0xd94 => self.control,
            0xd98 => self.number,
            0xd9c | 0xda4 | 0xdac | 0xdb4 => {
                region.map_or(0, |region| region[0]) | self.selected(offset) as u32
            }
            0xda0 | 0xda8 | 0xdb0 | 0xdb8 => region.map_or(0, |region| region[1]),
            _ => return None,
        })
    }

    /// Writes the register at an offset from 0xE000E000; false if there is none.
    pub fn write(&mut self, offset: u32, write: Write) -> bool {
        match offset {
            FIRST => {}
            0xd94 => self.control = write.over(self.control) & 7,
            0xd98 => self.number = write.over(self.number) & 0xff,
            0xd9c | 0xda4 | 0xdac | 0xdb4 => {
                // VALID: the region's number comes with the address.
                if write.value & 0x10 != 0 {
                    self.number = write.value & 15;
                }
                let selected = self.selected(offset);
                if let Some(region) = self.regions.get_mut(selected) {
                    region[0] = write.value & !0x1f;
                }
            }
            0xda0 | 0xda8 | 0xdb0 | 0xdb8 => {
                let selected = self.selected(offset);
                if let Some(region) = self.regions.get_mut(selected) {
                    region[1] = write.over(region[1]);
                }
            }
            _ => return false,
        }
        true
    }

    /// The region that a register means: aliases number within a group of four.
    fn selected(&self, offset: u32) -> usize {
        match offset.saturating_sub(0xd9c) / 8 {
            0 => self.number as usize,
            alias => (self.number as usize & !3) + alias as usize,
        }
    }

    /// What holds for an address: of several regions the one with the largest number.
    pub fn attributes(&self, address: u32) -> Attributes {
        let nothing = Attributes { readable: false, writable: false, caching: Caching::Device };
        if self.control & 1 == 0 {
            return by_default(address);
        }
        for [base, settings] in self.regions.iter().rev() {
            let size = settings >> 1 & 0x1f;
            if settings & 1 == 0 || size < 4 {
                continue;
            }
            let mask = if size >= 31 { 0 } else { u32::MAX << (size + 1) };
            if (address ^ base) & mask != 0 {
                continue;
            }
            // Subregions, eights of those of 256 bytes and more.
            if size >= 7 && settings >> 8 >> ((address & !mask) >> (size - 2)) & 1 != 0 {
                continue;
            }
            let permission = settings >> 24 & 7;
            return Attributes {
                readable: !matches!(permission, 0 | 4),
                writable: matches!(permission, 1..=3),
                caching: caching(settings >> 16),
            };
        }
        // PRIVDEFENA: privileged code sees the default map elsewhere.
        if self.control & 4 != 0 { by_default(address) } else { nothing }
    }
}

/// TEX, S, C and B in the low bits (DDI 0403E, table B3-13); outer attributes alone count where TEX
/// says both, for the bus behind the cache has none.
fn caching(bits: u32) -> Caching {
    let (tex, cache, buffer) = (bits >> 3 & 7, bits >> 1 & 1 != 0, bits & 1 != 0);
    match (tex, cache, buffer) {
        (0, true, false) | (4.., true, false) => Caching::WriteThrough,
        (0, true, true) | (1, true, true) | (4.., _, true) => Caching::WriteBack,
        (1 | 4.., false, false) => Caching::Uncached,
        _ => Caching::Device,
    }
}

/// The default memory map (DDI 0403E, table B3-1).
fn by_default(address: u32) -> Attributes {
    let caching = match address >> 29 {
        0 => Caching::WriteThrough,
        1 | 3 => Caching::WriteBack,
        4 => Caching::WriteThrough,
        _ => Caching::Device,
    };
    Attributes { readable: true, writable: true, caching }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(value: u32) -> Write {
        Write { value, mask: u32::MAX }
    }

    #[test]
    fn regions_override_the_default_map_and_each_other() {
        let mut mpu = Mpu::default();
        assert_eq!(mpu.attributes(0xc000_0000).caching, Caching::Device);
        assert_eq!(mpu.attributes(0x9000_0000).caching, Caching::WriteThrough);
        // Region 0: 256 MB at 0x90000000, no access. Region 1: 16 MB there, read only, write-through.
        mpu.write(0xd9c, word(0x9000_0010));
        mpu.write(0xda0, word(27 << 1 | 1));
        mpu.write(0xd9c, word(0x9000_0011));
        mpu.write(0xda0, word(5 << 24 | 1 << 17 | 23 << 1 | 1));
        // Region 2: 8 MB at 0xC0000000, write-back, write-allocate.
        mpu.write(0xd98, word(2));
        mpu.write(0xd9c, word(0xc000_0000));
        mpu.write(0xda0, word(3 << 24 | 1 << 19 | 3 << 16 | 22 << 1 | 1));
        mpu.write(0xd94, word(5));
        let flash = mpu.attributes(0x90ff_ffff);
        assert!(flash.readable && !flash.writable);
        assert_eq!(flash.caching, Caching::WriteThrough);
        assert!(!mpu.attributes(0x9100_0000).readable);
        assert_eq!(mpu.attributes(0xc07f_ffff).caching, Caching::WriteBack);
        assert_eq!(mpu.attributes(0xc080_0000).caching, Caching::Device);
        assert_eq!(mpu.read(0xd9c), Some(0xc000_0002));
        // A disabled subregion falls back to what lies below.
        mpu.write(0xda0, word(0x80 << 8 | 3 << 24 | 1 << 19 | 3 << 16 | 22 << 1 | 1));
        assert_eq!(mpu.attributes(0xc07f_ffff).caching, Caching::Device);
        mpu.write(0xd94, word(1));
        assert!(!mpu.attributes(0x2000_0000).readable);
    }
}
