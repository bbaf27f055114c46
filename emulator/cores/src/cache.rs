//! A data cache, as far as time is concerned: which lines it holds and which of them are dirty, not
//! what they hold.

/// One way of one set.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// Address of its line, in lines.
    line: u32,
    valid: bool,
    dirty: bool,
}

/// What an access met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The line was there.
    pub hit: bool,
    /// A dirty line was written back to make room: the address of its first byte.
    pub written_back: Option<u32>,
}

/// Set-associative, with its victims taken in turn: the Cortex-M7 draws them (DDI 0489, 5.7), which
/// is as good and not the same each time.
#[derive(Clone, Debug)]
pub struct DataCache {
    places: Vec<Place>,
    ways: usize,
    /// Sets less one: a mask.
    sets: u32,
    /// Bits of an address within a line.
    line_bits: u32,
    /// Next victim of each set.
    victims: Vec<u8>,
}

impl DataCache {
    /// An empty cache of `bytes` in lines of `line_bytes` and `ways` ways; sizes that are no powers of
    /// two are rounded down to one.
    #[must_use]
    pub fn new(bytes: u32, line_bytes: u32, ways: u32) -> Self {
        let line_bits = line_bytes.max(4).ilog2();
        let ways = ways.clamp(1, 128);
        let sets = 1u32 << ((bytes.max(1) / ways) >> line_bits).max(1).ilog2();
        Self {
            places: vec![Place::default(); sets as usize * ways as usize],
            ways: ways as usize,
            sets: sets - 1,
            line_bits,
            victims: vec![0; sets as usize],
        }
    }

    /// Bytes of a line.
    #[must_use]
    pub const fn line_bytes(&self) -> u32 {
        1 << self.line_bits
    }

    fn set(&mut self, line: u32) -> &mut [Place] {
        let first = (line & self.sets) as usize * self.ways;
        &mut self.places[first..first + self.ways]
    }

    fn find(&mut self, line: u32) -> Option<&mut Place> {
        self.set(line).iter_mut().find(|place| place.valid && place.line == line)
    }

    /// A read or write of an address; `allocates`: a miss fetches the line, `dirties`: the line differs
    /// from memory from now on.
    #[inline]
    pub fn access(&mut self, address: u32, allocates: bool, dirties: bool) -> Access {
        let line = address >> self.line_bits;
        if let Some(place) = self.find(line) {
            place.dirty |= dirties;
            return Access { hit: true, written_back: None };
        }
        if !allocates {
            return Access { hit: false, written_back: None };
        }
        let (set, ways, bits) = ((line & self.sets) as usize, self.ways, self.line_bits);
        let places = &self.places[set * ways..(set + 1) * ways];
        let victim = places.iter().position(|place| !place.valid).unwrap_or_else(|| {
            let next = usize::from(self.victims[set]);
            self.victims[set] = ((next + 1) % ways) as u8;
            next
        });
        let place = &mut self.places[set * ways + victim];
        let written_back = (place.valid && place.dirty).then_some(place.line << bits);
        *place = Place { line, valid: true, dirty: dirties };
        Access { hit: false, written_back }
    }

    /// Cleans the line of an address; true if it was dirty.
    pub fn clean(&mut self, address: u32) -> bool {
        let line = address >> self.line_bits;
        self.find(line).is_some_and(|place| std::mem::take(&mut place.dirty))
    }

    /// Forgets the line of an address; true if it was dirty, and its bytes are lost.
    pub fn invalidate(&mut self, address: u32) -> bool {
        let line = address >> self.line_bits;
        self.find(line).is_some_and(|place| std::mem::take(place).dirty)
    }

    /// Whether the line of an address is there, and dirty.
    pub fn is_dirty(&mut self, address: u32) -> bool {
        let line = address >> self.line_bits;
        self.find(line).is_some_and(|place| place.dirty)
    }

    /// The address of the line in a set and way, as maintenance registers name them: the way in the
    /// upper bits, the set above the bits of a line (DDI 0403E, B2.2.7). Nothing if it is empty.
    #[must_use]
    pub fn line_in(&self, set_and_way: u32) -> Option<u32> {
        let way_bits = self.ways.next_power_of_two().ilog2();
        let way = if way_bits == 0 { 0 } else { set_and_way >> (32 - way_bits) };
        let set = set_and_way >> self.line_bits & self.sets;
        let place = self.places.get(set as usize * self.ways + way as usize)?;
        place.valid.then_some(place.line << self.line_bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_are_kept_until_their_set_is_full() {
        let mut cache = DataCache::new(4096, 32, 4);
        let miss = Access { hit: false, written_back: None };
        // Addresses 1024 bytes apart share a set.
        for way in 0..4 {
            assert_eq!(cache.access(way * 1024, true, way == 0), miss);
        }
        assert!(cache.access(31, true, false).hit);
        assert!(!cache.access(32, true, false).hit);
        assert_eq!(cache.access(4096, true, false).written_back, Some(0), "the first goes first");
        assert_eq!(cache.access(5120, true, false), miss);
        assert!(!cache.access(1024, false, false).hit);
    }

    #[test]
    fn maintenance_reaches_lines_by_address_and_by_place() {
        let mut cache = DataCache::new(4096, 32, 4);
        cache.access(0x40, true, true);
        assert!(cache.is_dirty(0x5f) && cache.clean(0x44) && !cache.clean(0x44));
        assert_eq!((cache.line_in(0x40), cache.line_in(1 << 30 | 0x40)), (Some(0x40), None));
        cache.access(0x40, true, true);
        assert!(cache.invalidate(0x40) && !cache.access(0x40, false, false).hit);
    }

    proptest! {
        /// The last lines of each set, as many as it has ways, are there.
        #[test]
        fn what_was_accessed_last_is_there(lines in proptest::collection::vec(0u32..64, 1..200)) {
            let mut cache = DataCache::new(1024, 32, 2);
            for line in &lines {
                cache.access(line * 32, true, false);
                prop_assert!(cache.access(line * 32 + 31, false, false).hit);
            }
        }
    }
}
