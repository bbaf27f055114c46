//! Figures as text: exact bytes, sensible units of time, grouped digits.

pub use tilewright_report::quantity::{binary, duration, fixed, joules, three_digits};

/// Digits in groups of three, separated by a narrow space that does not break.
#[must_use]
pub fn grouped(value: u64) -> String {
    tilewright_plan::grouped(value).replace(',', "\u{202f}")
}

/// Exact bytes: `51 200 B`.
#[must_use]
pub fn bytes(value: u64) -> String {
    format!("{} B", grouped(value))
}

/// Bytes in powers of 1000, as cards are sold: `2.03 GB`.
#[must_use]
pub fn decimal(bytes: f64) -> String {
    let units = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")];
    let fits = units.into_iter().find(|(unit, _)| bytes >= 0.9995 * unit);
    let (unit, name) = fits.unwrap_or((1.0, "B"));
    format!("{} {name}", three_digits(bytes / unit))
}

/// Years; days where they are few.
#[must_use]
pub fn years(value: f64) -> String {
    match value {
        years if years < 1.0 => format!("{} days", three_digits(years * 365.0)),
        years if years < 9.95 => format!("{} years", fixed(years, 1)),
        years => format!("{} years", grouped(years.round() as u64)),
    }
}

/// A count in thousands, millions or billions: `416 k`.
#[must_use]
pub fn compact(value: u64) -> String {
    let scaled = value as f64;
    match value {
        0..1_000 => value.to_string(),
        1_000..1_000_000 => format!("{} k", three_digits(scaled / 1e3)),
        1_000_000..1_000_000_000 => format!("{} M", three_digits(scaled / 1e6)),
        _ => format!("{} G", three_digits(scaled / 1e9)),
    }
}

/// A frequency: `216 MHz`.
#[must_use]
pub fn hertz(value: u64) -> String {
    match value {
        0..1_000 => format!("{value} Hz"),
        1_000..1_000_000 => format!("{} kHz", three_digits(value as f64 / 1e3)),
        _ => format!("{} MHz", three_digits(value as f64 / 1e6)),
    }
}

/// A share of a whole in per cent; `<0.1 %` rather than a zero that is none.
#[must_use]
pub fn percent(part: f64, whole: f64) -> String {
    if whole <= 0.0 {
        return "–".to_owned();
    }
    let share = part / whole * 100.0;
    match share {
        s if s <= 0.0 => "0 %".to_owned(),
        s if s < 0.1 => "<0.1 %".to_owned(),
        s if s < 9.95 => format!("{} %", fixed(s, 1)),
        s => format!("{} %", fixed(s, 0)),
    }
}

/// A shape: `28×28×6`; vectors as their length.
#[must_use]
pub fn shape([h, w, c]: [u32; 3]) -> String {
    if h == 1 && w == 1 { c.to_string() } else { format!("{h}×{w}×{c}") }
}

/// An address: `0x2000_4000`.
#[must_use]
pub fn address(value: u64) -> String {
    format!("0x{:04x}_{:04x}", value >> 16, value & 0xffff)
}

/// A difference with its sign.
#[must_use]
pub fn signed(value: f64, decimals: u32) -> String {
    let sign = if value < 0.0 { '−' } else { '+' };
    format!("{sign}{}", fixed(value.abs(), decimals))
}

/// A round step such that at most `most` steps (at least one) reach `largest`.
#[must_use]
pub fn axis_step(largest: f64, most: usize, binary: bool) -> f64 {
    if largest <= 0.0 {
        return 1.0;
    }
    let rough = largest / most.max(1) as f64;
    let mut base = 1.0;
    if binary {
        while base < rough {
            base *= 2.0;
        }
        return base;
    }
    while base > rough {
        base /= 10.0;
    }
    while base * 10.0 <= rough {
        base *= 10.0;
    }
    [1.0, 2.0, 5.0].into_iter().map(|m| m * base).find(|s| *s >= rough).unwrap_or(base * 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn energy_bytes_and_years_have_sensible_units() {
        assert_eq!(
            [joules(0.5), joules(616_056.0), joules(2.5e6)],
            ["0.50 µJ", "616 mJ", "2.50 J"]
        );
        assert_eq!(
            [decimal(0.0), decimal(999.9), decimal(2.03e9)],
            ["0.00 B", "1.00 kB", "2.03 GB"]
        );
        assert_eq!(
            [years(0.1), years(2.4), years(1_459.6)],
            ["36.5 days", "2.4 years", "1\u{202f}460 years"]
        );
    }

    #[test]
    fn digits_are_grouped_from_the_right() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_000), "1\u{202f}000");
        assert_eq!(grouped(12_345_678), "12\u{202f}345\u{202f}678");
    }

    #[test]
    fn binary_units_change_before_four_digits_show() {
        assert_eq!(binary(1023), "1023 B");
        assert_eq!(binary(1024), "1.00 KiB");
        assert_eq!(binary(311_296), "304 KiB");
        assert_eq!(binary(1_048_575), "1.00 MiB");
        assert_eq!(binary(8 << 20), "8.00 MiB");
    }

    #[test]
    fn durations_choose_their_unit() {
        assert_eq!(duration(0.0), "0 µs");
        assert_eq!(duration(0.25), "250 ns");
        assert_eq!(duration(1.0), "1.00 µs");
        assert_eq!(duration(12_345.0), "12.3 ms");
        assert_eq!(duration(999_600.0), "1.00 s");
        assert_eq!(duration(f64::NAN), "unknown");
    }

    #[test]
    fn small_shares_are_not_zero() {
        assert_eq!(percent(1.0, 100_000.0), "<0.1 %");
        assert_eq!(percent(0.0, 100.0), "0 %");
        assert_eq!(percent(1.0, 0.0), "–");
        assert_eq!(percent(50.0, 100.0), "50 %");
    }

    #[test]
    fn an_axis_has_round_steps_and_not_too_many() {
        for largest in [1.0, 7.0, 99.0, 12_345.0, 311_296.0] {
            for binary in [false, true] {
                let step = axis_step(largest, 5, binary);
                assert!(largest / step <= 5.0, "{largest} in steps of {step}");
            }
        }
        assert_eq!(axis_step(12_345.0, 5, false), 5_000.0);
        assert_eq!(axis_step(300_000.0, 5, true), 65_536.0);
    }

    #[test]
    fn fixed_numbers_round_and_keep_their_zeros() {
        assert_eq!(fixed(1.005, 1), "1.0");
        assert_eq!(fixed(-0.04, 1), "0.0");
        assert_eq!(fixed(-2.45, 1), "-2.5");
        assert_eq!(fixed(3.07, 2), "3.07");
        assert_eq!(fixed(0.999, 2), "1.00");
        assert_eq!(fixed(12.0, 0), "12");
    }

    #[test]
    fn shapes_and_addresses_read_well() {
        assert_eq!(shape([1, 1, 10]), "10");
        assert_eq!(shape([28, 28, 6]), "28×28×6");
        assert_eq!(address(0x2000_4000), "0x2000_4000");
    }
}
