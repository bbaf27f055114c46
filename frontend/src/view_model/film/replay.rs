//! What SRAM held, from a recording.

use crate::message::Recording;

/// A recording, played to one of its borders.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    /// How many borders are in the bytes.
    played: usize,
    bytes: Vec<u8>,
}

impl Replay {
    /// What SRAM held when a step of the core had ended, or before the first; nothing if that was not recorded. From one
    /// step to a later one only what changed is played.
    pub fn to(&mut self, recording: &Recording, step: Option<u32>) -> Option<&[u8]> {
        let wanted = 1 + recording.borders.iter().position(|border| border.step == step)?;
        if self.played > wanted || self.bytes.len() != recording.bytes as usize {
            *self = Self { played: 0, bytes: vec![0; recording.bytes as usize] };
        }
        for change in recording.borders[self.played..wanted].iter().flat_map(|b| &b.changes) {
            let start = change.offset as usize;
            let place = start..start.saturating_add(change.bytes.len());
            if let Some(place) = self.bytes.get_mut(place) {
                place.copy_from_slice(&change.bytes);
            }
        }
        self.played = wanted;
        Some(&self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use tilewright_protocol::{Border, Change};

    use super::*;

    #[test]
    fn a_recording_is_played_to_any_border_and_back() {
        let change = |offset, bytes: &[u8]| Change { offset, bytes: bytes.to_vec() };
        let border = |step, changes| Border { step, changes };
        let recording = Recording {
            bytes: 6,
            borders: vec![
                border(None, vec![change(0, &[1, 1])]),
                border(Some(0), vec![change(1, &[2, 2])]),
                border(Some(3), vec![change(4, &[3, 3]), change(9, &[4])]),
            ],
        };
        let mut replay = Replay::default();
        assert_eq!(replay.to(&recording, Some(0)), Some(&[1, 2, 2, 0, 0, 0][..]));
        assert_eq!(replay.to(&recording, Some(3)), Some(&[1, 2, 2, 0, 3, 3][..]));
        assert_eq!(replay.to(&recording, None), Some(&[1, 1, 0, 0, 0, 0][..]));
        assert_eq!(replay.to(&recording, Some(2)), None);
    }
}
