//! Multiplications and divisions (DDI 0403E, A5.3.16 and A5.3.17). A fourth register stands in the immediate's low four
//! bits, and what else is to be known above.

use super::Decoder;
use crate::execute::Kind;
use crate::operation::R;

impl Decoder {
    pub(super) fn multiply(&mut self, h: u32, l: u32) {
        let (n, d, m, sum) = (R::number(h), R::number(l >> 8), R::number(l), l >> 12);
        let (adds, second) = (sum != 15, l >> 4 & 3);
        let halves = [Kind::Smlabb, Kind::Smlabt, Kind::Smlatb, Kind::Smlatt];
        let x = second & 1;
        if l & 0xc0 != 0 {
            return self.undefined();
        }
        let (kind, immediate) = match (h >> 4 & 7, second) {
            (0, 0) if adds => (Kind::Mla, sum),
            (0, 0) => (Kind::Mul, 0),
            (0, 1) => (Kind::Mls, sum),
            (1, which) if adds => (halves[which as usize], sum),
            (1, which) => (Kind::Smulxy, which),
            (2, 0) if adds => (Kind::Smlad, sum),
            (2, 1) if adds => (Kind::Smladx, sum),
            (2, 0 | 1) => (Kind::Smuad, x),
            (3, 0 | 1) if adds => (Kind::Smlaw, sum | x << 4),
            (3, 0 | 1) => (Kind::Smulw, x),
            (4, 0 | 1) if adds => (Kind::Smlsd, sum | x << 4),
            (4, 0 | 1) => (Kind::Smusd, x),
            (5, 0) if adds => (Kind::Smmla, sum),
            (5, 1) if adds => (Kind::Smmlar, sum),
            (5, 0 | 1) => (Kind::Smmul, x),
            (6, 0 | 1) => (Kind::Smmls, sum | x << 4),
            (7, 0) if adds => {
                self.push(Kind::Usad8, R::T, n, m, 0);
                return self.push(Kind::Add, d, R::number(sum), R::T, 0);
            }
            (7, 0) => (Kind::Usad8, 0),
            _ => return self.undefined(),
        };
        self.push(kind, d, n, m, immediate);
    }

    pub(super) fn long_multiply(&mut self, h: u32, l: u32) {
        let (n, low, d, m) = (R::number(h), l >> 12, R::number(l >> 8), R::number(l));
        let second = l >> 4 & 15;
        let (kind, above) = match (h >> 4 & 7, second) {
            (0, 0) => (Kind::Smull, 0),
            (1, 15) => (Kind::Sdiv, 0),
            (2, 0) => (Kind::Umull, 0),
            (3, 15) => (Kind::Udiv, 0),
            (4, 0) => (Kind::Smlal, 0),
            (4, 8..=11) => (Kind::Smlalxy, second & 3),
            (4, 12 | 13) => (Kind::Smlald, second & 1),
            (5, 12 | 13) => (Kind::Smlsld, second & 1),
            (6, 0) => (Kind::Umlal, 0),
            (6, 6) => (Kind::Umaal, 0),
            _ => return self.undefined(),
        };
        self.push(kind, d, n, m, low | above << 4);
    }
}
