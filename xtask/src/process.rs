//! Running other programs: quietly, visibly, or into a log with a sign of life.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::terminal;

/// How often a logged command shows its last line.
const SIGN_OF_LIFE: Duration = Duration::from_secs(10);

/// Runs a command and gives its standard output.
///
/// # Errors
/// When it cannot start or fails; its standard error is part of the message.
pub fn output(command: &mut Command) -> Result<String> {
    let result = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {}", display(command)))?;
    if !result.status.success() {
        let words = String::from_utf8_lossy(&result.stderr);
        bail!("{} failed ({}):\n{}", display(command), result.status, words.trim_end());
    }
    Ok(String::from_utf8_lossy(&result.stdout).into_owned())
}

/// Runs a command whose output the user sees as it is.
///
/// # Errors
/// When it cannot start or fails.
pub fn visible(command: &mut Command) -> Result<()> {
    if succeeds(command)? {
        return Ok(());
    }
    bail!("{} failed", display(command))
}

/// As [`visible`], but a failing command is an answer, not an error.
///
/// # Errors
/// When it cannot start.
pub fn succeeds(command: &mut Command) -> Result<bool> {
    let status = command
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("cannot start {}", display(command)))?;
    Ok(status.success())
}

/// Runs a command, passing its standard output on line by line and handing each line to `see`.
/// Returns whether it succeeded.
///
/// # Errors
/// When it cannot start.
pub fn watched(command: &mut Command, mut see: impl FnMut(&str)) -> Result<bool> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {}", display(command)))?;
    if let Some(out) = child.stdout.take() {
        // Test programs may print bytes that are no text: lossy, never an error.
        for bytes in BufReader::new(out).split(b'\n') {
            let Ok(bytes) = bytes else { break };
            let text = String::from_utf8_lossy(&bytes);
            terminal::line(&text);
            see(&text);
        }
    }
    Ok(child.wait().with_context(|| format!("lost {}", display(command)))?.success())
}

/// Runs a long command with its output in a log, showing the log's last line from time to time.
///
/// # Errors
/// When it cannot start or fails; the message names the log and ends with its last lines.
pub fn logged(what: &str, command: &mut Command, log: &Path) -> Result<()> {
    if let Some(folder) = log.parent() {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
    }
    let file = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
    let second = file.try_clone().with_context(|| format!("cannot write {}", log.display()))?;
    terminal::note(&format!("{what}: {}", display(command)));
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(file)
        .stderr(second)
        .spawn()
        .with_context(|| format!("cannot start {}", display(command)))?;
    let mut shown = start;
    let status = loop {
        if let Some(status) = child.try_wait().with_context(|| format!("lost {what}"))? {
            break status;
        }
        if shown.elapsed() >= SIGN_OF_LIFE {
            shown = Instant::now();
            let last = tail(log, 1);
            terminal::note(&format!("{what}: {}  {last}", terminal::elapsed(start.elapsed())));
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    let time = terminal::elapsed(start.elapsed());
    if !status.success() {
        bail!(
            "{what} failed after {time} ({status}); whole log: {}\n{}",
            log.display(),
            tail(log, 15)
        );
    }
    terminal::note(&format!("{what}: done in {time}"));
    Ok(())
}

/// The command as one would type it.
pub fn display(command: &Command) -> String {
    std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| quote(&word.to_string_lossy()))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Quotes a word for a shell, if it needs it.
pub fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:+@%,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// The last lines of a text file that are not blank, read from its end.
fn tail(path: &Path, lines: usize) -> String {
    const ENOUGH: u64 = 8 * 1024;
    let read = || -> std::io::Result<String> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(ENOUGH)))?;
        let mut bytes = Vec::new();
        file.take(ENOUGH).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let text = read().unwrap_or_default();
    let all: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_when_needed() {
        assert_eq!(quote("--root=/a/b"), "--root=/a/b");
        assert_eq!(quote("/a b"), "'/a b'");
        assert_eq!(quote("it's"), r"'it'\''s'");
        assert_eq!(quote(""), "''");
    }

    #[test]
    fn a_failing_command_tells_its_words() {
        let error = output(Command::new("sh").args(["-c", "echo why >&2; exit 3"])).unwrap_err();
        let text = format!("{error:#}");
        assert!(text.contains("why") && text.contains("exit status: 3"), "{text}");
    }

    #[test]
    fn watched_lines_are_seen_even_when_not_text() {
        let mut seen = Vec::new();
        let script = r"printf 'one\n\377two\n'; exit 1";
        let ok =
            watched(Command::new("sh").args(["-c", script]), |line| seen.push(line.to_owned()));
        assert!(!ok.unwrap());
        assert_eq!(seen, ["one", "\u{fffd}two"]);
    }

    #[test]
    fn a_logged_failure_ends_with_the_log() {
        let log = std::env::temp_dir().join(format!("xtask-log-{}", std::process::id()));
        let mut command = Command::new("sh");
        command.args(["-c", "seq 1 40; echo broken >&2; exit 1"]);
        let text = format!("{:#}", logged("demo", &mut command, &log).unwrap_err());
        std::fs::remove_file(&log).unwrap();
        assert!(text.ends_with("39\n40\nbroken"), "{text}");
        assert!(!text.contains("\n20\n"), "{text}");
    }
}
