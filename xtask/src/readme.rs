//! The README's commands as tests.
//!
//! A block that opens with ```` ```console test ```` is run; other blocks are only shown. In it,
//! each line `$ command` is one test, and the lines up to the next command are its output. A
//! command passes if it succeeds and its output has these lines in this order, other lines between
//! them allowed. `…` or `...` in a line stands for any text. A line that is only `…` or `...` says
//! nothing. A command that is to fail is marked `$ command # exit 1`.
//!
//! Commands run in a scratch folder that looks like the project's root (links to all that is in
//! it), so what they write does not land in the project.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::project::Project;
use crate::summary::Summary;
use crate::terminal;

const FILE: &str = "README.md";
/// Longest time for one command, in seconds.
const LIMIT: &str = "120";
/// Exit code of `timeout` when the time is over.
const TIME_OVER: i32 = 124;

/// A command of the README and what it promises.
#[derive(Debug, PartialEq, Eq)]
struct Example {
    /// Line in the file, from 1.
    line: usize,
    command: String,
    exit: i32,
    output: Vec<String>,
}

/// Runs the marked commands that contain `filter`, telling `say` of each. Everything must have been
/// built.
///
/// # Errors
/// When the README cannot be read, is not well formed, or marks no command.
pub fn run(project: &Project, filter: Option<&str>, say: fn(&str)) -> Result<Summary> {
    let path = project.root.join(FILE);
    let text =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let examples = examples(&text)?;
    if examples.is_empty() {
        bail!("{FILE} marks no block as ```console test");
    }
    let scratch = Scratch::new(project)?;
    let mut summary = Summary::default();
    for example in &examples {
        if filter.is_some_and(|filter| !example.command.contains(filter)) {
            continue;
        }
        let start = Instant::now();
        let failure = run_one(project, &scratch.folder, example)?;
        let verdict = if failure.is_some() { "FAILED" } else { "ok" };
        let time = terminal::elapsed(start.elapsed());
        say(&format!("test {FILE}:{} `{}` ... {verdict} ({time})", example.line, example.command));
        if let Some(failure) = &failure {
            say(failure);
        }
        summary += Summary::one(failure.is_none());
    }
    Ok(summary)
}

/// Finds the marked commands.
///
/// # Errors
/// When a marked block has output before its first command, no end, or a broken exit mark.
fn examples(text: &str) -> Result<Vec<Example>> {
    let mut examples: Vec<Example> = Vec::new();
    // The fence that closes the current block, and whether the block is marked.
    let mut block: Option<(&str, bool)> = None;
    let mut first = true;
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        let trimmed = line.trim();
        let Some((fence, marked)) = block else {
            let ticks = trimmed.len() - trimmed.trim_start_matches('`').len();
            if ticks >= 3 {
                let (fence, info) = trimmed.split_at(ticks);
                let words: Vec<_> = info.split_whitespace().collect();
                block = Some((fence, words == ["console", "test"]));
                first = true;
            }
            continue;
        };
        if trimmed == fence {
            block = None;
        } else if !marked {
            continue;
        } else if let Some(command) = trimmed.strip_prefix("$ ") {
            let (command, exit) = split_exit(command)
                .with_context(|| format!("{FILE}:{number}: `# exit` needs a number"))?;
            examples.push(Example { line: number, command, exit, output: Vec::new() });
            first = false;
        } else if first {
            bail!("{FILE}:{number}: a block marked as test must begin with `$ command`");
        } else if let Some(example) = examples.last_mut()
            && !["", "…", "..."].contains(&trimmed)
        {
            example.output.push(trimmed.to_owned());
        }
    }
    if block.is_some() {
        bail!("{FILE}: the last block has no end");
    }
    Ok(examples)
}

fn split_exit(command: &str) -> Option<(String, i32)> {
    match command.rsplit_once(" # exit ") {
        Some((command, code)) => Some((command.trim().to_owned(), code.trim().parse().ok()?)),
        None => Some((command.trim().to_owned(), 0)),
    }
}

/// Runs a command; what went wrong, if anything did.
fn run_one(project: &Project, folder: &Path, example: &Example) -> Result<Option<String>> {
    // `timeout` ends the command with all that it has started.
    let result = project
        .command("timeout")
        .args(["--kill-after=5", LIMIT, "bash", "-c"])
        .arg(format!("exec 2>&1\n{}", example.command))
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .context("cannot start timeout and bash")?;
    let output = String::from_utf8_lossy(&result.stdout);
    let code = result.status.code();
    let failure = if code == Some(TIME_OVER) && example.exit != TIME_OVER {
        format!("  it did not end within {LIMIT} s")
    } else if code != Some(example.exit) {
        format!("  expected exit code {}, found {}", example.exit, result.status)
    } else if let Some(missing) = first_missing(&example.output, &output) {
        format!("  its output has no line (after the ones before it): {missing}")
    } else {
        return Ok(None);
    };
    Ok(Some(format!("{failure}\n  the output was:\n{}", output.trim_end())))
}

/// The first expected line that is not among the lines, in order.
fn first_missing<'a>(expected: &'a [String], output: &str) -> Option<&'a String> {
    let mut lines = output.lines();
    expected.iter().find(|pattern| !lines.any(|line| matches(pattern, line)))
}

/// Whether a line is the pattern, in which `…` and `...` stand for any text.
fn matches(pattern: &str, line: &str) -> bool {
    let pattern = pattern.replace("...", "…");
    let mut parts = pattern.split('…');
    let Some(mut rest) = line.trim().strip_prefix(parts.next().unwrap_or_default().trim_end())
    else {
        return false;
    };
    let mut last = None;
    for part in parts {
        let part = part.trim();
        last = Some(part);
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    // Without a gap the whole line must fit; with one, the last part ends the line.
    match last {
        None => rest.is_empty(),
        Some(part) => part.is_empty() || rest.is_empty() || line.trim().ends_with(part),
    }
}

/// A folder that looks like the project's root; removed when dropped.
struct Scratch {
    folder: PathBuf,
}

impl Scratch {
    fn new(project: &Project) -> Result<Self> {
        let name = format!("tilewright-readme-{}", std::process::id());
        let scratch = Self { folder: std::env::temp_dir().join(name) };
        // Left by a process of the same number that was killed.
        let _ = fs::remove_dir_all(&scratch.folder);
        scratch.fill(project).with_context(|| {
            format!("cannot lay out a scratch folder at {}", scratch.folder.display())
        })?;
        Ok(scratch)
    }

    fn fill(&self, project: &Project) -> std::io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        for entry in fs::read_dir(&project.root)? {
            let entry = entry?;
            if entry.file_name() != "target" {
                symlink(entry.path(), self.folder.join(entry.file_name()))?;
            }
        }
        // Wherever cargo builds, the README calls it target/release.
        fs::create_dir_all(self.folder.join("target/release"))?;
        symlink(project.program(), self.folder.join("target/release/tilewright"))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Links are removed, not what they lead to.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Title\n```console\n$ not run\n```\ntext\n```console test\n$ echo a  b\n\
        a …\n\n$ false # exit 1\n```\n````md\n```console test\n$ quoted\n```\n````\n";

    #[test]
    fn only_marked_blocks_are_run() {
        let found = examples(TEXT).unwrap();
        assert_eq!(
            found,
            [
                Example {
                    line: 7,
                    command: "echo a  b".into(),
                    exit: 0,
                    output: vec!["a …".into()]
                },
                Example { line: 10, command: "false".into(), exit: 1, output: vec![] },
            ]
        );
    }

    #[test]
    fn broken_blocks_are_errors() {
        assert!(examples("```console test\noutput\n```").is_err());
        assert!(examples("```console test\n$ x # exit y\n```").is_err());
        assert!(examples("```console test\n$ x").is_err());
        assert_eq!(examples("no block").unwrap(), []);
    }

    #[test]
    fn gaps_stand_for_any_text() {
        for (pattern, line, fits) in [
            ("abc", "abc", true),
            ("abc", "abcd", false),
            ("bc", "abc", false),
            ("ab …", "ab 1 2", true),
            ("ab ... cd", "ab 1 2 cd", true),
            ("ab ... cd", "ab 1 2 cd e", false),
            ("ab…cd", "ab cd cd", true),
            ("…cd", "ab cd", true),
            ("a … b …", "a 1 b 2", true),
            ("a … b …", "a 1 c 2", false),
        ] {
            assert_eq!(matches(pattern, line), fits, "{pattern} on {line}");
        }
    }

    #[test]
    fn lines_are_expected_in_order() {
        let lines = |text: &[&str]| text.iter().map(|&line| line.to_owned()).collect::<Vec<_>>();
        let output = "one\ntwo\nthree\n";
        assert_eq!(first_missing(&lines(&["one", "three"]), output), None);
        assert_eq!(first_missing(&lines(&["three", "one"]), output), Some(&"one".to_owned()));
    }

    #[test]
    fn commands_run_beside_the_project() {
        let root = std::env::temp_dir().join(format!("xtask readme {}", std::process::id()));
        fs::create_dir_all(root.join("models")).unwrap();
        fs::create_dir_all(root.join("target")).unwrap();
        fs::write(root.join("models/a.onnx"), "weights").unwrap();
        let text = "```console test\n$ cat models/a.onnx > copy; cat copy\nweights\n\
            $ ls copy\n$ echo no\nyes\n$ false\n$ exit 2 # exit 2\n```\n";
        fs::write(root.join(FILE), text).unwrap();
        let project = Project::at(&root);
        let all = run(&project, None, |_| ());
        let some = run(&project, Some("cat"), |_| ());
        let clean = !root.join("copy").exists();
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(all.unwrap(), Summary { passed: 3, failed: 2 });
        assert_eq!(some.unwrap(), Summary { passed: 1, failed: 0 });
        assert!(clean);
    }
}
