//! States known to have no solution, so that none is searched twice.

/// A state by its hash: 128 bits, so that two states are never taken for each other in practice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State(u64, u64);

impl State {
    /// Adds a remaining item: its least offset, and whether it has to rest on another.
    #[inline]
    pub fn add(&mut self, item: u32, least: u64, held: bool) {
        let word = least
            .wrapping_mul(2)
            .wrapping_add(u64::from(held))
            .wrapping_add(u64::from(item).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        self.0 = self.0.wrapping_add(mix(word, 0xBF58_476D_1CE4_E5B9));
        self.1 = self.1.wrapping_add(mix(!word, 0x94D0_49BB_1331_11EB));
    }
}

#[inline]
fn mix(word: u64, factor: u64) -> u64 {
    let product = u128::from(word ^ (word >> 31)) * u128::from(factor);
    let folded = (product as u64) ^ ((product >> 64) as u64);
    (folded ^ (folded >> 29)).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

const MOST_STATES: usize = 1 << 20;

/// The states. When there is no more room, new ones replace old ones.
#[derive(Debug, Default)]
pub struct Refuted {
    slots: Vec<State>,
    used: usize,
}

impl Refuted {
    fn slot(&self, state: State) -> usize {
        (state.0 as usize) & (self.slots.len() - 1)
    }

    /// Whether the state is known to have no solution.
    #[inline]
    #[must_use]
    pub fn holds(&self, state: State) -> bool {
        if self.slots.is_empty() {
            return false;
        }
        let slot = self.slot(state);
        self.slots[slot] == state || self.slots[slot ^ 1] == state
    }

    /// Notes that the state has no solution.
    pub fn note(&mut self, state: State) {
        if self.used * 2 >= self.slots.len() && self.slots.len() < MOST_STATES {
            let old = std::mem::take(&mut self.slots);
            self.slots = vec![State::default(); (old.len() * 2).max(1024)];
            self.used = 0;
            for state in old.into_iter().filter(|state| *state != State::default()) {
                self.put(state);
            }
        }
        self.put(state);
    }

    fn put(&mut self, state: State) {
        let first = self.slot(state);
        let empty = State::default();
        let slot = if self.slots[first] == empty || self.slots[first ^ 1] != empty {
            first
        } else {
            first ^ 1
        };
        if self.slots[slot] == empty {
            self.used += 1;
        } else {
            // The older one moves over.
            self.slots[slot ^ 1] = self.slots[slot];
        }
        self.slots[slot] = state;
    }
}
