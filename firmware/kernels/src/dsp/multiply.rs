//! Products of halves and of words.

#[cfg(not(armv7e_m))]
use super::halves::halves;
use super::instruction;

instruction! {
    /// `SMLAD`: `sum + a₀ · b₀ + a₁ · b₁` of signed halves, wrapping.
    products(a: u32, b: u32, sum: i32) -> i32, lateout "smlad {result}, {a}, {b}, {sum}";
    {
        let ([a0, a1], [b0, b1]) = (halves(a), halves(b));
        sum.wrapping_add(a0.wrapping_mul(b0)).wrapping_add(a1.wrapping_mul(b1))
    }
}

instruction! {
    /// `SMLADX`: `sum + a₀ · b₁ + a₁ · b₀` of signed halves, wrapping.
    products_crossed(a: u32, b: u32, sum: i32) -> i32, lateout "smladx {result}, {a}, {b}, {sum}";
    {
        let ([a0, a1], [b0, b1]) = (halves(a), halves(b));
        sum.wrapping_add(a0.wrapping_mul(b1)).wrapping_add(a1.wrapping_mul(b0))
    }
}

instruction! {
    /// `SMLABB`: `sum + a₀ · b₀` of signed halves, wrapping.
    product_low_low(a: u32, b: u32, sum: i32) -> i32, lateout "smlabb {result}, {a}, {b}, {sum}";
    sum.wrapping_add(halves(a)[0] * halves(b)[0])
}

instruction! {
    /// `SMLABT`: `sum + a₀ · b₁` of signed halves, wrapping.
    product_low_high(a: u32, b: u32, sum: i32) -> i32, lateout "smlabt {result}, {a}, {b}, {sum}";
    sum.wrapping_add(halves(a)[0] * halves(b)[1])
}

instruction! {
    /// `SMLATB`: `sum + a₁ · b₀` of signed halves, wrapping.
    product_high_low(a: u32, b: u32, sum: i32) -> i32, lateout "smlatb {result}, {a}, {b}, {sum}";
    sum.wrapping_add(halves(a)[1] * halves(b)[0])
}

instruction! {
    /// `SMLATT`: `sum + a₁ · b₁` of signed halves, wrapping.
    product_high_high(a: u32, b: u32, sum: i32) -> i32, lateout "smlatt {result}, {a}, {b}, {sum}";
    sum.wrapping_add(halves(a)[1] * halves(b)[1])
}

instruction! {
    /// `SMMLAR`: `sum` and the high 32 bits of `a · b`, halves rounded up; wrapping.
    high_product_sum(a: i32, b: i32, sum: i32) -> i32,
    lateout "smmlar {result}, {a}, {b}, {sum}", preserves_flags;
    sum.wrapping_add(((i64::from(a) * i64::from(b) + (1 << 31)) >> 32) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn word([low, high]: [i16; 2]) -> u32 {
        u32::from(high as u16) << 16 | u32::from(low as u16)
    }

    fn edge() -> impl Strategy<Value = i16> {
        prop_oneof![any::<i16>(), Just(i16::MIN), Just(i16::MAX), -1..2i16]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2048))]

        #[test]
        fn products_of_halves_wrap(
            a in [edge(), edge()],
            b in [edge(), edge()],
            sum in any::<i32>(),
        ) {
            let product = |i: usize, j: usize| i64::from(a[i]) * i64::from(b[j]);
            let added = |products: i64| (i64::from(sum) + products) as i32;
            let (x, y) = (word(a), word(b));
            prop_assert_eq!(products(x, y, sum), added(product(0, 0) + product(1, 1)));
            prop_assert_eq!(products_crossed(x, y, sum), added(product(0, 1) + product(1, 0)));
            prop_assert_eq!(product_low_low(x, y, sum), added(product(0, 0)));
            prop_assert_eq!(product_low_high(x, y, sum), added(product(0, 1)));
            prop_assert_eq!(product_high_low(x, y, sum), added(product(1, 0)));
            prop_assert_eq!(product_high_high(x, y, sum), added(product(1, 1)));
        }

        #[test]
        fn high_products_round_halves_up(a in any::<i32>(), b in any::<i32>(), sum in any::<i32>()) {
            let wide = (i128::from(sum) << 32) + i128::from(a) * i128::from(b);
            let expected = (wide + (1 << 31)).div_euclid(1 << 32) as i32;
            prop_assert_eq!(high_product_sum(a, b, sum), expected);
        }
    }
}
