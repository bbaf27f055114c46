//! Values that follow from the manual's pseudocode (DDI 0403E, A2.5).

use super::number::Format::{Double, Half, Single};
use super::status::{
    ALTERNATIVE_HALF, DEFAULT_NAN, FLUSH, INEXACT, INPUT_DENORMAL, INVALID, OVERFLOW, UNDERFLOW,
};
use super::{Fixed, Rounding};
use crate::core::{Core, Floats};

const UP: u32 = 1 << 22;
const DOWN: u32 = 2 << 22;
const ONE: u64 = 0x3f80_0000;
const INFINITY: u64 = 0x7f80_0000;
const SIGN: u64 = 0x8000_0000;
const QUIET: u64 = 0x7fc0_0001;
const SIGNALLING: u64 = 0x7f80_0002;

/// The result of an operation in a mode, and the exceptions that it raised.
fn under(mode: u32, does: impl Fn(&mut Floats) -> u64) -> (u64, u32) {
    let mut floats = Floats { status: mode, ..Floats::default() };
    let result = does(&mut floats);
    (result, floats.status & !mode)
}

#[test]
fn results_are_small_before_they_are_rounded() {
    // 2^-126 × (1 - 2^-24) rounds to 2^-126.
    let product = |f: &mut Floats| f.multiply(Single, 0x0080_0000, 0x3f7f_ffff);
    assert_eq!(under(0, product), (0x0080_0000, UNDERFLOW | INEXACT));
    assert_eq!(under(FLUSH, product), (0, UNDERFLOW));
    // An exact denormal result is none too small.
    let half = |f: &mut Floats| f.multiply(Single, 0x8080_0000, 0x3f00_0000);
    assert_eq!(under(0, half), (0x8040_0000, 0));
    assert_eq!(under(FLUSH, half), (SIGN, UNDERFLOW));
}

#[test]
fn denormal_operands_are_flushed() {
    assert_eq!(under(FLUSH, |f| f.add(Single, 0x8000_0001, SIGN)), (SIGN, INPUT_DENORMAL));
    assert_eq!(under(0, |f| f.add(Single, 0x8000_0001, SIGN)), (0x8000_0001, 0));
    // Not those of half precision.
    assert_eq!(under(FLUSH, |f| f.reformat(Half, Single, 1)), (0x3380_0000, 0));
}

#[test]
fn overflow_depends_on_the_rounding() {
    let most = 0x7f7f_ffff;
    let twice = |f: &mut Floats| f.add(Single, most, most);
    assert_eq!(under(0, twice), (INFINITY, OVERFLOW | INEXACT));
    assert_eq!(under(DOWN, twice), (most, OVERFLOW | INEXACT));
}

#[test]
fn zero_sums_have_a_sign() {
    assert_eq!(under(0, |f| f.subtract(Single, ONE, ONE)), (0, 0));
    assert_eq!(under(DOWN, |f| f.subtract(Single, ONE, ONE)), (SIGN, 0));
    assert_eq!(under(0, |f| f.add(Single, SIGN, SIGN)), (SIGN, 0));
}

#[test]
fn nans_go_on() {
    // The first that signals, else the first.
    let sum = |f: &mut Floats| f.add(Single, QUIET, SIGNALLING);
    assert_eq!(under(0, sum), (0x7fc0_0002, INVALID));
    assert_eq!(under(DEFAULT_NAN, sum), (0x7fc0_0000, INVALID));
    assert_eq!(under(0, |f| f.add(Single, ONE, QUIET | SIGN)), (QUIET | SIGN, 0));
    // A subtraction leaves a NaN's sign alone.
    assert_eq!(under(0, |f| f.subtract(Single, ONE, QUIET)), (QUIET, 0));
    assert_eq!(under(0, |f| f.subtract(Single, INFINITY, INFINITY)), (0x7fc0_0000, INVALID));
    let wide = 0x7ff8_0000_2000_0001;
    assert_eq!(under(0, |f| f.reformat(Double, Single, wide)), (QUIET, 0));
}

#[test]
fn fused_products_are_not_rounded() {
    // (1 + 2^-12)² - (1 + 2^-11) = 2^-24.
    let (a, minus) = (0x3f80_0800, 0xbf80_1000);
    assert_eq!(under(0, |f| f.multiply_add(Single, minus, a, a)), (0x3380_0000, 0));
    // An infinity times zero is invalid even if a quiet NaN is added.
    let product = |f: &mut Floats| f.multiply_add(Single, QUIET, INFINITY, 0);
    assert_eq!(under(0, product), (0x7fc0_0000, INVALID));
    let product = |f: &mut Floats| f.multiply_add(Single, SIGNALLING, INFINITY, 0);
    assert_eq!(under(0, product), (0x7fc0_0002, INVALID));
}

#[test]
fn roots_are_exact_or_say_so() {
    let two = 0x4000_0000_0000_0000;
    assert_eq!(under(0, |f| f.square_root(Double, two)), (0x3ff6_a09e_667f_3bcd, INEXACT));
    assert_eq!(under(DOWN, |f| f.square_root(Double, two)), (0x3ff6_a09e_667f_3bcc, INEXACT));
    assert_eq!(under(0, |f| f.square_root(Single, 0x4080_0000)), (0x4000_0000, 0));
    assert_eq!(under(0, |f| f.square_root(Single, SIGN)), (SIGN, 0));
    assert_eq!(under(0, |f| f.square_root(Single, ONE | SIGN)), (0x7fc0_0000, INVALID));
}

#[test]
fn numbers_win_over_quiet_nans() {
    assert_eq!(under(0, |f| f.extreme(Single, QUIET, ONE, true)), (ONE, 0));
    assert_eq!(under(0, |f| f.extreme(Single, ONE, QUIET, false)), (ONE, 0));
    assert_eq!(under(0, |f| f.extreme(Single, SIGNALLING, ONE, true)), (0x7fc0_0002, INVALID));
    assert_eq!(under(0, |f| f.extreme(Single, SIGN, 0, true)), (0, 0));
    assert_eq!(under(0, |f| f.extreme(Single, 0, SIGN, false)), (SIGN, 0));
}

#[test]
fn comparisons_with_quiet_nans_may_be_invalid() {
    let compare = |a: u64, b: u64, signals: bool| {
        under(0, |f| u64::from(f.compare(Single, a, b, signals) >> 28))
    };
    assert_eq!(compare(ONE, QUIET, false), (0b0011, 0));
    assert_eq!(compare(ONE, QUIET, true), (0b0011, INVALID));
    assert_eq!(compare(SIGNALLING, ONE, false), (0b0011, INVALID));
    assert_eq!(compare(0, SIGN, true), (0b0110, 0));
    assert_eq!(compare(ONE | SIGN, 0, true), (0b1000, 0));
    assert_eq!(compare(INFINITY, ONE, true), (0b0010, 0));
}

#[test]
fn integers_saturate() {
    let integer = |bits: u64, unsigned: bool, rounding: Rounding| {
        let to = Fixed { bits: 32, fraction: 0, unsigned };
        let (value, raised) = under(0, |f| f.float_to_fixed(Single, bits, to, rounding));
        (value as u32, raised)
    };
    let zero = Rounding::ToZero;
    // 2^31, -2^31, an infinity, a NaN, -1, -0.5.
    assert_eq!(integer(0x4f00_0000, false, zero), (0x7fff_ffff, INVALID));
    assert_eq!(integer(0xcf00_0000, false, zero), (SIGN as u32, 0));
    assert_eq!(integer(INFINITY | SIGN, false, zero), (SIGN as u32, INVALID));
    assert_eq!(integer(QUIET, false, zero), (0, INVALID));
    assert_eq!(integer(ONE | SIGN, true, zero), (0, INVALID));
    assert_eq!(integer(0xbf00_0000, true, zero), (0, INEXACT));
    // 2.5.
    assert_eq!(integer(0x4020_0000, false, Rounding::Nearest), (2, INEXACT));
    assert_eq!(integer(0x4020_0000, false, Rounding::NearestAway), (3, INEXACT));
    assert_eq!(integer(0xc020_0000, false, Rounding::Down), (-3i32 as u32, INEXACT));
    let half = 0xbf00_0000;
    let round = |f: &mut Floats| f.round_to_integer(Single, half, Rounding::Nearest, true);
    assert_eq!(under(0, round), (SIGN, INEXACT));
}

#[test]
fn half_precision_has_an_alternative() {
    // 2^16 and 2^17.
    let (large, larger) = (0x4780_0000, 0x4800_0000);
    let half = |bits: u64| move |f: &mut Floats| f.reformat(Single, Half, bits);
    assert_eq!(under(0, half(large)), (0x7c00, OVERFLOW | INEXACT));
    assert_eq!(under(ALTERNATIVE_HALF, half(large)), (0x7c00, 0));
    assert_eq!(under(ALTERNATIVE_HALF, half(larger)), (0x7fff, INVALID));
    assert_eq!(under(ALTERNATIVE_HALF, half(INFINITY | SIGN)), (0xffff, INVALID));
    assert_eq!(under(ALTERNATIVE_HALF, half(QUIET | SIGN)), (0x8000, INVALID));
    assert_eq!(under(0, half(0x7fd0_0000)), (0x7e80, 0));
    assert_eq!(under(ALTERNATIVE_HALF, |f| f.reformat(Half, Single, 0x7c00)), (large, 0));
}

#[test]
fn fixed_point_is_rounded_to_nearest_and_integers_as_asked() {
    let mut core = Core::default();
    core.set_fpscr(UP);
    core.set_single(0, 0x0100_0001);
    core.set_single(1, 0x0100_0001);
    // vcvt.f32.s32 s0, s0, #1; vcvt.f32.s32 s1, s1.
    core.float(0xeeba_0aef);
    core.float(0xeef8_0ae0);
    assert_eq!((core.single(0), core.single(1)), (0x4b00_0000, 0x4b80_0001));
    assert_eq!(core.fpscr(), UP | INEXACT);
}

#[test]
fn registers_go_to_the_core_and_back() {
    use crate::operation::R;
    let mut core = Core::default();
    core.set_register(R::R0, 1);
    core.set_register(R::R1, 2);
    // vmov d8, r0, r1; vmov.32 d8[1], r0; vmov r2, s17; vmov r1, r0, s16, s17.
    core.float(0xec41_0b18);
    assert_eq!((core.single(16), core.single(17)), (1, 2));
    core.float(0xee28_0b10);
    core.float(0xee18_2a90);
    assert_eq!(core.register(R::R2), 1);
    core.float(0xec50_1a18);
    assert_eq!((core.register(R::R0), core.register(R::R1)), (1, 1));
    // vmov.f64 d0, #-1.5; vcmp.f64 d0, #0.0; vmrs apsr_nzcv, fpscr.
    core.float(0xeebf_0b08);
    assert_eq!((core.single(1), core.single(0)), (0xbff8_0000, 0));
    core.float(0xeeb5_0b40);
    core.float(0xeef1_fa10);
    assert_eq!(core.apsr() >> 28, 0b1000);
}
