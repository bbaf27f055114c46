//! Quantities as text, in the unit that people would choose.

/// Bytes, rounded for reading: `50.0 KiB`; plain bytes below 1 KiB.
#[must_use]
pub fn binary(value: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if value < 1024 {
        return format!("{value} B");
    }
    let mut scaled = value as f64 / 1024.0;
    let mut unit = 0;
    while scaled >= 1023.95 && unit + 1 < UNITS.len() {
        scaled /= 1024.0;
        unit += 1;
    }
    format!("{} {}", three_digits(scaled), UNITS[unit])
}

/// A duration given in microseconds, in the unit that people would choose.
#[must_use]
pub fn duration(micros: f64) -> String {
    if !micros.is_finite() {
        return "unknown".to_owned();
    }
    let (value, unit) = match micros.abs() {
        0.0 => return "0 µs".to_owned(),
        m if m < 0.9995 => (micros * 1e3, "ns"),
        m if m < 999.5 => (micros, "µs"),
        m if m < 999.5e3 => (micros / 1e3, "ms"),
        m if m < 120e6 => (micros / 1e6, "s"),
        _ => (micros / 60e6, "min"),
    };
    format!("{} {unit}", three_digits(value))
}

/// Energy given in microjoules: `616 mJ`.
#[must_use]
pub fn joules(micros: f64) -> String {
    let (value, unit) = match micros {
        m if m < 999.5 => (m, "µJ"),
        m if m < 999.5e3 => (m / 1e3, "mJ"),
        m => (m / 1e6, "J"),
    };
    format!("{} {unit}", three_digits(value))
}

/// Three significant digits below a thousand, whole numbers above.
#[must_use]
pub fn three_digits(value: f64) -> String {
    match value.abs() {
        v if v < 9.995 => fixed(value, 2),
        v if v < 99.95 => fixed(value, 1),
        _ => fixed(value, 0),
    }
}

/// A number with so many digits behind the point, at most 9; beyond 10¹⁵ / 10^`decimals` the
/// largest that can be said. (The standard library's way would be a tenth of the page's code.)
#[must_use]
pub fn fixed(value: f64, decimals: u32) -> String {
    let power = 10u64.pow(decimals.min(9));
    let scaled = (value.abs() * power as f64).round().min(1e15) as u64;
    let sign = if value < 0.0 && scaled > 0 { "-" } else { "" };
    let (whole, rest) = (scaled / power, scaled % power);
    if decimals == 0 {
        return format!("{sign}{whole}");
    }
    format!("{sign}{whole}.{rest:0width$}", width = decimals as usize)
}
