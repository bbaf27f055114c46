//! What the server tells whoever started it.

use std::io::Write;

use tilewright_app::Diagnostic;
use tilewright_report::plain;

/// Says something at once, on standard error: standard output may be a pipe that nobody reads.
pub fn say(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Says a problem that does not end the server.
pub fn say_problem(problem: &Diagnostic) {
    say(&format!("{} {}", plain(&problem.what), plain(&problem.what_to_do)));
}
