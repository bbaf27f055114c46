//! Lines for people. Progress goes to standard error, results to standard output.
//!
//! A reader that closes the pipe (`cargo xtask test | head`) is no reason to stop, so write
//! errors are dropped here.

use std::io::Write;
use std::time::Duration;

/// Writes a line of progress.
pub fn note(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "xtask: {text}");
}

/// Writes a line of the command's result.
pub fn line(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{text}");
    let _ = out.flush();
}

/// A duration as `1:05 min` or `3.2 s`.
pub fn elapsed(time: Duration) -> String {
    if time.as_secs() >= 60 {
        format!("{}:{:02} min", time.as_secs() / 60, time.as_secs() % 60)
    } else {
        format!("{:.1} s", time.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short() {
        assert_eq!(elapsed(Duration::from_millis(3_240)), "3.2 s");
        assert_eq!(elapsed(Duration::from_secs(65)), "1:05 min");
        assert_eq!(elapsed(Duration::from_secs(3_600)), "60:00 min");
    }
}
