//! Texts into memory of the caller, as `snprintf` writes them.
#![expect(unsafe_code, reason = "memory and functions of C")]

use core::ffi::c_char;
use core::fmt::{self, Write};

/// Memory for a text: as much of it as there is room for, up to a whole character, and a 0 behind it.
pub struct Text {
    place: *mut c_char,
    /// Bytes that there are, one of them for the 0.
    room: usize,
    written: usize,
    /// Bytes of the whole text.
    length: usize,
}

impl Text {
    /// At `place`; a null pointer has no room.
    ///
    /// # Safety
    /// `place` is null, or nothing else uses its `room` bytes while this exists.
    pub const unsafe fn new(place: *mut c_char, room: usize) -> Self {
        let room = if place.is_null() { 0 } else { room };
        Self { place, room, written: 0, length: 0 }
    }

    fn put(&mut self, index: usize, byte: u8) {
        // SAFETY: whoever made this promised `room` bytes, and `index` is less.
        unsafe {
            self.place.add(index).write(byte.cast_signed() as c_char);
        }
    }

    /// Ends it, and gives the bytes of the whole text.
    pub fn end(mut self) -> usize {
        if self.room > 0 {
            self.put(self.written, 0);
        }
        self.length
    }
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            let bytes = character.len_utf8();
            // Once a character has no room, none behind it has.
            if self.written == self.length && self.written + bytes < self.room {
                for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                    self.put(self.written, byte);
                    self.written += 1;
                }
            }
            self.length += bytes;
        }
        Ok(())
    }
}
