//! Values of the command line's words.

use std::fs;

use tilewright_board::OwnBoard;
use tilewright_explore::MOST_GENOTYPES;
use tilewright_plan::{Bytes, Micros};
use tilewright_report::{MOST_FRAMES, SweepAxis, SweepBy};

/// A dimension that a file leaves open, with its value.
pub fn dimension(text: &str) -> Result<(String, usize), String> {
    let (name, value) = text.split_once('=').ok_or("give NAME=VALUE, such as batch=1")?;
    match value.parse() {
        Ok(value) if value > 0 => Ok((name.to_owned(), value)),
        _ => Err(format!("'{value}' is no positive number")),
    }
}

/// Most bytes of a board's file.
const MOST_BOARD_BYTES: u64 = 64 << 10;

/// The id of a board: itself, or what a file says that ends with `.toml`.
pub fn board(text: &str) -> Result<String, String> {
    if !text.ends_with(".toml") {
        return Ok(text.to_owned());
    }
    let not_read = |error: std::io::Error| format!("it cannot be read: {error}");
    if fs::metadata(text).map_err(not_read)?.len() > MOST_BOARD_BYTES {
        return Err("it is larger than 64 KiB, which no board's file is".to_owned());
    }
    let file = fs::read_to_string(text).map_err(not_read)?;
    let own: OwnBoard = toml::from_str(&file).map_err(|error| {
        format!("it says no board: {error}give `base`, the id of a board of `tilewright boards`, and what differs from it")
    })?;
    let id = own.to_string();
    tilewright_board::find(&id).map_err(|error| error.to_string())?;
    Ok(id)
}

/// A part of one, in thousandths.
pub fn part(text: &str) -> Result<u16, String> {
    match text.parse::<f64>() {
        Ok(part) if (0.0..=1.0).contains(&part) => Ok((part * 1000.0).round() as u16),
        _ => Err("give a part from 0 to 1, such as 0.4".to_owned()),
    }
}

/// Per cent, from 0 on.
pub fn per_cent(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.0..=1000.0).contains(number));
    number.ok_or_else(|| "give per cent from 0 to 1000".to_owned())
}

/// How many frames.
pub fn frames(text: &str) -> Result<u32, String> {
    let frames = text.parse().ok().filter(|frames| (1..=MOST_FRAMES).contains(frames));
    frames.ok_or_else(|| format!("give a number of frames from 1 to {MOST_FRAMES}"))
}

/// How many genotypes.
pub fn genotypes(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|count| (1..=MOST_GENOTYPES).contains(count));
    count.ok_or_else(|| format!("give a number of genotypes from 1 to {MOST_GENOTYPES}"))
}

/// A time with its unit.
pub fn period(text: &str) -> Result<Micros, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match &text[digits.len()..] {
        "us" => 1.0,
        "ms" => 1e3,
        "s" => 1e6,
        "min" => 60e6,
        "h" => 3600e6,
        other => return Err(format!("unknown unit '{other}': use us, ms, s, min or h")),
    };
    match digits.trim_end().parse::<f64>() {
        Ok(number) if number > 0.0 && number * factor <= 1e15 => Ok(Micros(number * factor)),
        _ => Err(format!("'{text}' is no time above zero")),
    }
}

/// Limits of latency, in microseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits(pub Vec<u32>);

/// Limits of latency, such as `1600,400,1600ms`: the last has a unit, which is that of those without one.
pub fn limits(text: &str) -> Result<Limits, String> {
    let last = text.rsplit(',').next().unwrap_or_default().trim();
    let unit = last.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
    let limit = |limit: &str| {
        let limit = limit.trim();
        let is_bare = !limit.ends_with(|c: char| c.is_ascii_alphabetic());
        let time = period(&if is_bare { format!("{limit}{unit}") } else { limit.to_owned() })?;
        let us = time.0.floor();
        let is_one = (1.0..=f64::from(u32::MAX)).contains(&us);
        is_one.then_some(us as u32).ok_or_else(|| format!("'{limit}' is not 1 us to 71 min"))
    };
    text.split(',').map(limit).collect::<Result<_, _>>().map(Limits)
}

/// Milliseconds.
pub fn milliseconds(text: &str) -> Result<Micros, String> {
    match text.trim().parse::<f64>() {
        Ok(number) if number > 0.0 && number <= 1e12 => Ok(Micros(number * 1e3)),
        _ => Err(format!("'{text}' is no number of milliseconds above zero, such as 261")),
    }
}

/// Bytes, with a unit if one is given: KB and MB are powers of 1000, KiB and MiB of 1024.
pub fn bytes(text: &str) -> Result<Bytes, String> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let factor = match unit.trim_start() {
        "" | "B" => 1,
        "KB" | "kB" => 1000,
        "MB" => 1_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        _ if number.is_empty() || unit.starts_with('.') => {
            return Err(format!("'{text}' is no whole number of bytes, such as 65536 or 64KiB"));
        }
        other => return Err(format!("unknown unit '{other}': use B, KB, KiB, MB or MiB")),
    };
    let number: u64 =
        number.parse().map_err(|_| format!("'{text}' is no number of bytes, or too large"))?;
    number.checked_mul(factor).map(Bytes).ok_or_else(|| format!("'{text}' is too large"))
}

/// What an axis of a sweep's picture shows.
pub fn axis(text: &str) -> Result<SweepAxis, String> {
    let known = SweepAxis::ALL.map(SweepAxis::id).join(", ");
    SweepAxis::find(text).ok_or_else(|| format!("there is no such axis; there are {known}"))
}

/// What rows of a sweep's picture are told apart by.
pub fn by(text: &str) -> Result<SweepBy, String> {
    let known = SweepBy::ALL.map(SweepBy::id).join(", ");
    SweepBy::find(text).ok_or_else(|| format!("rows are told apart by {known}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_units() {
        assert_eq!(bytes("340000"), Ok(Bytes(340_000)));
        assert_eq!(bytes("64KiB"), Ok(Bytes(65_536)));
        assert_eq!(bytes("2 MB"), Ok(Bytes(2_000_000)));
        for wrong in
            ["", "KiB", "-1", "1.5KB", "7 apples", "99999999999999999999", "9999999999999999MiB"]
        {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn periods_have_units() {
        assert_eq!(period("500ms"), Ok(Micros(500_000.0)));
        assert_eq!(period("1.5 min"), Ok(Micros(90e6)));
        for wrong in ["", "10", "0s", "-1s", "NaNs", "infs", "1e300h", "s", "3 weeks"] {
            assert!(period(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn limits_share_the_last_unit() {
        assert_eq!(limits("1600,400,1600ms"), Ok(Limits(vec![1_600_000, 400_000, 1_600_000])));
        assert_eq!(limits("2s, 5ms,7us"), Ok(Limits(vec![2_000_000, 5_000, 7])));
        for wrong in ["", "5", "5ms,", "0ms", "-1ms", "2h", "5ms,x"] {
            assert!(limits(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn milliseconds_are_above_zero() {
        assert_eq!(milliseconds("0.5"), Ok(Micros(500.0)));
        for wrong in ["", "0", "-1", "NaN", "inf", "1e300", "261ms"] {
            assert!(milliseconds(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn dimensions_are_positive() {
        assert_eq!(dimension("batch=1"), Ok(("batch".to_owned(), 1)));
        for wrong in ["batch", "batch=", "batch=0", "batch=-1"] {
            assert!(dimension(wrong).is_err(), "{wrong}");
        }
    }
}
