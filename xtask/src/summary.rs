//! Counting tests: what the test programs print, and the sum that ends a run.

use std::fmt;
use std::ops::AddAssign;

/// How many tests passed and failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Tests that passed.
    pub passed: u64,
    /// Tests that failed, and runs that broke off.
    pub failed: u64,
}

impl Summary {
    /// One step that passed or failed as a whole.
    pub fn one(passed: bool) -> Self {
        Self { passed: u64::from(passed), failed: u64::from(!passed) }
    }

    /// Adds what a line of a test program reports, if it reports anything.
    pub fn see(&mut self, line: &str) {
        if let Some(found) = parse(line) {
            *self += found;
        }
    }

    /// Closes a run: one that did not succeed and reported no failed test has broken off (it did
    /// not compile, or a test program died), which counts as one failure.
    pub fn close(mut self, succeeded: bool) -> Self {
        if !succeeded && self.failed == 0 {
            self.failed = 1;
        }
        self
    }
}

impl AddAssign for Summary {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)
    }
}

/// Reads `test result: ok. 3 passed; 0 failed; 0 ignored; ...`.
fn parse(line: &str) -> Option<Summary> {
    let (_, counts) = line.trim().strip_prefix("test result: ")?.split_once(". ")?;
    let count = |what: &str| {
        counts.split(';').find_map(|part| part.trim().strip_suffix(what)?.trim().parse().ok())
    };
    Some(Summary { passed: count(" passed")?, failed: count(" failed")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_summed() {
        let mut sum = Summary::default();
        for line in [
            "running 3 tests",
            "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 9 filtered out; \
             finished in 0.01s",
            "test result: FAILED. 5 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out",
            "test a_test_result: ok. 100 passed ... ok",
            "test result: nonsense",
        ] {
            sum.see(line);
        }
        assert_eq!(sum, Summary { passed: 8, failed: 2 });
        assert_eq!(sum.to_string(), "8 passed, 2 failed");
    }

    #[test]
    fn a_run_that_breaks_off_is_a_failure() {
        let sum = Summary { passed: 4, failed: 0 };
        assert_eq!(sum.close(true), sum);
        assert_eq!(sum.close(false), Summary { passed: 4, failed: 1 });
        let failed = Summary { passed: 4, failed: 2 };
        assert_eq!(failed.close(false), failed);
    }
}
