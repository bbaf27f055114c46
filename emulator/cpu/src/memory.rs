//! The board's memories: bytes that core, devices and reports share.
//!
//! A core's loads and stores find most of them by the top byte of an address: that is their fast way. Everything
//! else is left to the host: devices, memories whose accesses are seen, stores to read-only memory and to code.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

/// How the core reaches a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// It loads and stores; neither is seen.
    Plain,
    /// It loads, which is not seen; stores are.
    ReadOnly,
    /// The host sees each access.
    Seen,
}

/// Bits of an address within what is found by its top byte.
const WINDOW_BITS: u32 = 24;

/// What the core finds by an address' top byte.
#[derive(Clone, Debug, Default)]
struct Window {
    start: u32,
    /// Stores from this offset on are plain.
    plain_from: u32,
    bytes: Vec<u8>,
}

/// A memory without a gap.
#[derive(Clone, Debug)]
struct Place {
    start: u32,
    reach: Reach,
    /// Its bytes, unless its window has them.
    bytes: Vec<u8>,
    windowed: bool,
    /// A bit for each halfword that was decoded as code, where stores can change it.
    code: Vec<u64>,
}

/// All memories. Their bytes stay where they are on this computer.
#[derive(Clone, Debug)]
pub struct Memory {
    windows: Box<[Window; 256]>,
    places: Vec<Place>,
    /// Code was changed since it was asked last.
    changed: bool,
    unseen: Lately,
    /// Counts changes of what is reached plainly.
    state: u32,
}

/// Bytes whose loads nobody sees, although those of their memory are seen: of a line that was loaded from last.
#[derive(Clone, Copy, Debug, Default)]
struct Lately {
    start: u32,
    count: u32,
    /// The memory's number, and where they are in it.
    place: usize,
    offset: u32,
}

/// Bytes of a memory that is seen which can be loaded unseen, until a load is seen again.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unseen<'a> {
    /// Address of the first, and how many.
    pub start: u32,
    pub count: u32,
    /// Number of the memory, its bytes, and the offset of the first there.
    pub memory: usize,
    pub bytes: &'a [u8],
    pub offset: u32,
}

/// What is reached plainly with a top byte.
#[derive(Clone, Copy, Debug)]
pub struct Plain<'a> {
    pub start: u32,
    pub bytes: &'a [u8],
    /// Stores from this offset on are plain.
    pub stores_from: u32,
}

impl Default for Memory {
    fn default() -> Self {
        let windows = Box::new(core::array::from_fn(|_| Window::default()));
        let (places, unseen) = (Vec::new(), Lately::default());
        Self { windows, places, changed: false, unseen, state: 0 }
    }
}

macro_rules! access {
    ($load:ident, $store:ident, $type:ty) => {
        /// Loads, if that needs no host.
        #[inline(always)]
        #[must_use]
        pub fn $load(&self, address: u32) -> Option<$type> {
            let window = &self.windows[(address >> WINDOW_BITS) as usize];
            let at = address.wrapping_sub(window.start) as usize;
            Some(<$type>::from_le_bytes(*window.bytes.get(at..)?.first_chunk()?))
        }

        /// Stores, if that needs no host.
        #[inline(always)]
        #[must_use]
        pub fn $store(&mut self, address: u32, value: $type) -> Option<()> {
            let window = &mut self.windows[(address >> WINDOW_BITS) as usize];
            let at = address.wrapping_sub(window.start);
            if at < window.plain_from {
                return None;
            }
            *window.bytes.get_mut(at as usize..)?.first_chunk_mut()? = value.to_le_bytes();
            Some(())
        }
    };
}

impl Memory {
    access!(load32, store32, u32);
    access!(load16, store16, u16);
    access!(load8, store8, u8);

    /// Adds a memory of zeros.
    pub fn add(&mut self, start: u32, bytes: usize, reach: Reach) {
        let last = start.saturating_add((bytes as u32).saturating_sub(1));
        let fits = start >> WINDOW_BITS == last >> WINDOW_BITS && reach != Reach::Seen;
        let window = &mut self.windows[(start >> WINDOW_BITS) as usize];
        let windowed = fits && window.bytes.is_empty();
        let mut place = Place { start, reach, bytes: Vec::new(), windowed, code: Vec::new() };
        let plain_from = if reach == Reach::Plain { 0 } else { u32::MAX };
        if windowed {
            *window = Window { start, plain_from, bytes: vec![0; bytes] };
        } else {
            place.bytes = vec![0; bytes];
        }
        self.places.push(place);
        self.state += 1;
    }

    /// From now on so many bytes from an offset into the memory of a number can be loaded unseen, of which all loads
    /// are seen otherwise: nobody has to know.
    #[inline]
    pub fn pass_unseen(&mut self, number: usize, offset: u32, count: u32) {
        let Some(place) = self.places.get(number) else { return };
        let count = count.min((place.bytes.len() as u32).saturating_sub(offset));
        let start = place.start.wrapping_add(offset);
        self.unseen = Lately { start, count, place: number, offset };
    }

    /// Loads 1, 2 or 4 bytes of those that can be loaded unseen.
    #[inline]
    #[must_use]
    pub fn load_unseen(&self, address: u32, bytes: u32) -> Option<u32> {
        let Lately { start, count, place, offset } = self.unseen;
        let at = address.wrapping_sub(start);
        if at >= count.saturating_sub(bytes - 1) {
            return None;
        }
        let (from, bytes) = ((offset + at) as usize, bytes as usize);
        let mut word = [0; 4];
        word.get_mut(..bytes)?
            .copy_from_slice(self.places.get(place)?.bytes.get(from..from + bytes)?);
        Some(u32::from_le_bytes(word))
    }

    /// What can be loaded unseen.
    pub(crate) fn unseen(&self) -> Unseen<'_> {
        let Lately { start, count, place, offset } = self.unseen;
        match self.places.get(place) {
            Some(it) => Unseen { start, count, memory: place, bytes: &it.bytes, offset },
            None => Unseen::default(),
        }
    }

    /// Whether what lies at an address is loaded plainly.
    pub(crate) fn is_plain(&self, address: u32) -> bool {
        self.load8(address).is_some()
    }

    /// What is reached plainly, by the top byte of its address.
    pub(crate) fn plain(&self) -> impl Iterator<Item = Option<Plain<'_>>> {
        self.windows.iter().map(|Window { start, plain_from, bytes }| {
            let plain = Plain { start: *start, bytes, stores_from: *plain_from };
            (!bytes.is_empty()).then_some(plain)
        })
    }

    /// Another number each time that something else is reached plainly.
    pub(crate) const fn state(&self) -> u32 {
        self.state
    }

    fn bytes<'a>(&'a self, place: &'a Place) -> &'a [u8] {
        let window = &self.windows[(place.start >> WINDOW_BITS) as usize];
        if place.windowed { &window.bytes } else { &place.bytes }
    }

    /// The memory that holds bytes, its number and their offset; nothing if not one memory holds them all.
    fn place(&self, address: u32, bytes: usize) -> Option<(usize, usize)> {
        self.places.iter().enumerate().find_map(|(number, place)| {
            let offset = address.checked_sub(place.start)? as usize;
            (offset.checked_add(bytes)? <= self.bytes(place).len()).then_some((number, offset))
        })
    }

    /// Whether one memory holds all of these bytes.
    #[must_use]
    pub fn holds(&self, address: u32, bytes: usize) -> bool {
        self.place(address, bytes).is_some()
    }

    /// The bytes of each memory that the core loads and stores unseen.
    pub fn written(&self) -> impl Iterator<Item = &[u8]> {
        let plain = self.places.iter().filter(|place| place.reach == Reach::Plain);
        plain.map(|place| self.bytes(place))
    }

    /// How the core reaches what lies at an address.
    #[must_use]
    pub fn reach(&self, address: u32) -> Option<Reach> {
        self.place(address, 1).map(|(number, _)| self.places[number].reach)
    }

    /// Number of the memory that holds an address.
    #[must_use]
    pub fn number(&self, address: u32) -> Option<usize> {
        self.place(address, 1).map(|(number, _)| number)
    }

    /// Up to eight bytes at an offset into the memory of a number, as a little-endian word; zero if they are not there.
    #[inline]
    #[must_use]
    pub fn word(&self, number: usize, offset: usize, bytes: usize) -> u64 {
        let Some(place) = self.places.get(number) else { return 0 };
        let all = self.bytes(place);
        let bits = 64 - 8 * bytes.clamp(1, 8);
        if let Some(word) = all.get(offset..).and_then(|rest| rest.first_chunk()) {
            return u64::from_le_bytes(*word) << bits >> bits;
        }
        let last = all.get(offset..).unwrap_or(&[]).iter().take(bytes.min(8));
        last.rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
    }

    /// Reads bytes; false if they are not there.
    #[inline]
    #[must_use]
    pub fn read(&self, address: u32, to: &mut [u8]) -> bool {
        let Some((number, offset)) = self.place(address, to.len()) else { return false };
        to.copy_from_slice(&self.bytes(&self.places[number])[offset..offset + to.len()]);
        true
    }

    /// Writes bytes, whatever the core may do there; false if they are not there.
    #[inline]
    pub fn write(&mut self, address: u32, from: &[u8]) -> bool {
        let Some((number, offset)) = self.place(address, from.len()) else { return false };
        self.changes_code(number, offset, from.len());
        if let Some(all) = self.bytes_mut(number) {
            all[offset..offset + from.len()].copy_from_slice(from);
        }
        true
    }

    fn bytes_mut(&mut self, number: usize) -> Option<&mut Vec<u8>> {
        let place = self.places.get_mut(number)?;
        let window = &mut self.windows[(place.start >> WINDOW_BITS) as usize];
        Some(if place.windowed { &mut window.bytes } else { &mut place.bytes })
    }

    /// The bytes of the memory at an address, from there to its end: for an engine that has a way of its own to them.
    /// They stay where they are as long as this value lives.
    #[must_use]
    pub fn from_mut(&mut self, address: u32) -> Option<&mut [u8]> {
        let (number, offset) = self.place(address, 1)?;
        self.bytes_mut(number)?.get_mut(offset..)
    }

    /// The bytes that can be fetched from an address on; none where nothing lies.
    #[must_use]
    pub fn code(&self, address: u32) -> &[u8] {
        let Some((number, offset)) = self.place(address, 1) else { return &[] };
        if self.places[number].reach == Reach::Seen {
            return &[];
        }
        self.bytes(&self.places[number]).get(offset..).unwrap_or(&[])
    }

    /// Notes that bytes were decoded as code: stores to them are told by [`Self::is_code_changed`].
    pub fn note_code(&mut self, address: u32, bytes: u32) {
        let Some((number, offset)) = self.place(address, bytes as usize) else { return };
        let len = self.bytes(&self.places[number]).len();
        let place = &mut self.places[number];
        place.code.resize(len.div_ceil(128), 0);
        for half in offset / 2..(offset + bytes as usize).div_ceil(2) {
            place.code[half / 64] |= 1 << (half % 64);
        }
        if place.windowed {
            let window = &mut self.windows[(place.start >> WINDOW_BITS) as usize];
            let plain_from = window.plain_from.max(offset as u32 + bytes);
            self.state += u32::from(plain_from != window.plain_from);
            window.plain_from = plain_from;
        }
    }

    /// From now on the host is asked for each load and store.
    pub fn show_all(&mut self) {
        self.state += 1;
        for place in self.places.iter_mut().filter(|place| place.windowed) {
            let window = &mut self.windows[(place.start >> WINDOW_BITS) as usize];
            place.bytes = core::mem::take(&mut window.bytes);
            place.windowed = false;
        }
    }

    fn changes_code(&mut self, number: usize, offset: usize, bytes: usize) {
        let place = &self.places[number];
        let is_code =
            |half: usize| place.code.get(half / 64).is_some_and(|w| w >> (half % 64) & 1 != 0);
        if !place.code.is_empty() && (offset / 2..(offset + bytes).div_ceil(2)).any(is_code) {
            self.changed = true;
        }
    }

    /// Whether code was changed since [`Self::forget_code`]: what was decoded is no longer what lies there.
    #[inline]
    #[must_use]
    pub const fn is_code_changed(&self) -> bool {
        self.changed
    }

    /// Forgets what was decoded as code.
    pub fn forget_code(&mut self) {
        self.changed = false;
        self.state += 1;
        for place in self.places.iter_mut().filter(|place| !place.code.is_empty()) {
            place.code.clear();
            if place.windowed && place.reach == Reach::Plain {
                self.windows[(place.start >> WINDOW_BITS) as usize].plain_from = 0;
            }
        }
    }
}
