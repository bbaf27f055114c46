//! Authenticated encryption of what lies on a card: ChaCha20-Poly1305 (RFC 8439), with the nonces that
//! images and firmware share.
//!
//! A piece is encrypted in place, as long as it was; its tag lies where nobody else writes. Weights have a key
//! of their image, activations one of each start of the firmware, so that nonces need not be told apart
//! between images, nor between starts.
//!
//! # Threat model
//!
//! It is against who takes the card, reads it, writes to it or puts another in. An older tile, one from elsewhere and a changed one have
//! another tag than the one in SRAM. The weights' key lies in the microcontroller's flash, in the plan image and in every file that is
//! flashed: a debugger reads it unless read-out protection is set (RDP level 1 or 2). Keys and activations lie in SRAM while
//! a board runs. Which sectors are moved, and when, is not hidden.
#![no_std]

use chacha20poly1305::{AeadInPlace, ChaCha20Poly1305, KeyInit};

/// Bytes of a key.
pub const KEY_BYTES: usize = 32;
/// Bytes of a tag.
pub const TAG_BYTES: usize = 16;

/// A tag: what shows that a piece is the one that was sealed, at its place and at its time.
pub type Tag = [u8; TAG_BYTES];

/// A key.
#[derive(Clone)]
pub struct Key([u8; KEY_BYTES]);

/// What is sealed once with a key. Each has a nonce of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A part of a store image, by the number of its tag.
    Part(u32),
    /// What a program writes to a sector, for the so-manieth time since start.
    Written {
        /// The sector.
        sector: u32,
        /// The number of the writing, from 1 on; never twice for a sector.
        count: u32,
    },
}

impl Piece {
    fn nonce(self) -> [u8; 12] {
        let words = match self {
            Self::Part(number) => [0, number, 0],
            Self::Written { sector, count } => [1, sector, count],
        };
        let mut nonce = [0; 12];
        for (place, word) in nonce.as_chunks_mut::<4>().0.iter_mut().zip(words) {
            *place = word.to_le_bytes();
        }
        nonce
    }
}

impl Key {
    /// A key of these bytes, which nobody can guess.
    #[must_use]
    pub const fn new(bytes: [u8; KEY_BYTES]) -> Self {
        Self(bytes)
    }

    /// Its bytes, for where it is kept.
    #[must_use]
    pub const fn bytes(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }

    /// Encrypts a piece in place; gives its tag.
    ///
    /// A piece is sealed once: two contents of one nonce would give away how they differ, and let anyone
    /// forge tags.
    #[must_use]
    pub fn seal(&self, piece: Piece, bytes: &mut [u8]) -> Tag {
        let cipher = ChaCha20Poly1305::new(&self.0.into());
        let tag = cipher.encrypt_in_place_detached(&piece.nonce().into(), &[], bytes);
        tag.expect("a piece has fewer bytes than 256 GiB").into()
    }

    /// Decrypts a piece in place if it is what was sealed; else leaves it as it is.
    #[must_use]
    pub fn open(&self, piece: Piece, bytes: &mut [u8], tag: &Tag) -> bool {
        let cipher = ChaCha20Poly1305::new(&self.0.into());
        let nonce = piece.nonce();
        cipher.decrypt_in_place_detached(&nonce.into(), &[], bytes, tag.into()).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Key = Key::new([7; KEY_BYTES]);
    const HERE: Piece = Piece::Written { sector: 9, count: 1 };

    #[test]
    fn what_was_sealed_opens_at_its_place_and_time_alone() {
        let plain: [u8; 512] = core::array::from_fn(|index| index as u8);
        let mut bytes = plain;
        let tag = KEY.seal(HERE, &mut bytes);
        assert_ne!(bytes, plain);
        let sealed = bytes;
        let others = [
            Piece::Written { sector: 10, count: 1 },
            Piece::Written { sector: 9, count: 2 },
            Piece::Part(9),
        ];
        for other in others {
            assert!(!KEY.open(other, &mut bytes, &tag), "{other:?}");
            assert_eq!(bytes, sealed);
        }
        assert!(!Key::new([8; KEY_BYTES]).open(HERE, &mut bytes, &tag));
        assert!(KEY.open(HERE, &mut bytes, &tag));
        assert_eq!(bytes, plain);
    }

    #[test]
    fn a_bit_that_turned_is_told() {
        for at in [0, 511 * 8 + 7] {
            let mut bytes = [0; 512];
            let mut tag = KEY.seal(HERE, &mut bytes);
            bytes[at / 8] ^= 1 << (at % 8);
            assert!(!KEY.open(HERE, &mut bytes, &tag));
            bytes[at / 8] ^= 1 << (at % 8);
            tag[at % 16] ^= 1;
            assert!(!KEY.open(HERE, &mut bytes, &tag));
        }
    }

    #[test]
    fn no_two_pieces_share_a_nonce() {
        let written = |sector, count| Piece::Written { sector, count };
        let pieces = [Piece::Part(0), Piece::Part(1), written(0, 1), written(1, 1), written(1, 0)];
        for (index, piece) in pieces.iter().enumerate() {
            assert!(pieces[..index].iter().all(|other| other.nonce() != piece.nonce()));
        }
    }
}
