//! Which program of an image runs under a limit of latency: sub-networks switch at run time, without reloading weights
//! (section 5.2.1 of Sadiq's thesis).

use super::PlanImage;

/// Limits from here on are none: they name the program of an entry, by its number above this one.
pub const ENTRY: u32 = 1 << 31;

impl PlanImage<'_> {
    /// The number of the entry whose predicted latency in microseconds is the largest that meets a limit; if none does,
    /// of the fastest. A limit of 0 asks for the first program that is no sub-network, one from [`ENTRY`] on for that of an
    /// entry. Nothing if there is none such.
    #[must_use]
    pub fn select(&self, limit_us: u32) -> Option<usize> {
        if let Some(entry) = limit_us.checked_sub(ENTRY) {
            let index = entry as usize;
            return self.entries().get(index).filter(|entry| entry.kind == 0).map(|_| index);
        }
        let mut chosen: Option<(usize, u32)> = None;
        for (index, entry) in self.entries().iter().enumerate() {
            let latency = entry.latency_us;
            if limit_us == 0 && entry.kind == 0 && latency == 0 {
                return Some(index);
            }
            if latency == 0 || limit_us == 0 {
                continue;
            }
            let is_better =
                chosen.is_none_or(|(_, best)| match (best <= limit_us, latency <= limit_us) {
                    (true, meets) => meets && latency > best,
                    (false, meets) => meets || latency < best,
                });
            if is_better {
                chosen = Some((index, latency));
            }
        }
        chosen.map(|(index, _)| index)
    }
}
