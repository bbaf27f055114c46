//! Four signed bytes at once.

use super::instruction;

/// Joins two words byte by byte.
#[cfg(not(armv7e_m))]
#[inline(always)]
fn each(a: u32, b: u32, choose: impl Fn(i8, i8) -> i8) -> u32 {
    let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
    u32::from_le_bytes(core::array::from_fn(|i| choose(a[i] as i8, b[i] as i8) as u8))
}

instruction! {
    /// `SSUB8` and `SEL`: the larger of each two signed bytes.
    larger_bytes(a: u32, b: u32) -> u32, out "ssub8 {result}, {a}, {b}\nsel {result}, {a}, {b}";
    each(a, b, i8::max)
}

instruction! {
    /// `SSUB8` and `SEL`: the smaller of each two signed bytes.
    smaller_bytes(a: u32, b: u32) -> u32, out "ssub8 {result}, {a}, {b}\nsel {result}, {b}, {a}";
    each(a, b, i8::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bytes_are_compared_with_their_signs(a in any::<[i8; 4]>(), b in any::<[i8; 4]>()) {
            let word = |bytes: [i8; 4]| u32::from_le_bytes(bytes.map(|byte| byte as u8));
            for i in 0..4 {
                let of = |word: u32| word.to_le_bytes()[i] as i8;
                prop_assert_eq!(of(larger_bytes(word(a), word(b))), a[i].max(b[i]));
                prop_assert_eq!(of(smaller_bytes(word(a), word(b))), a[i].min(b[i]));
            }
        }
    }
}
