//! Rules about the text of the project's files.

use std::path::Path;

use anyhow::Result;

use super::size::Size;
use crate::process;
use crate::project::Project;
use crate::terminal;

/// The longest source file, in lines.
const LONGEST: usize = 600;

/// Endings of the files that people write code in.
const SOURCES: [&str; 6] = ["rs", "js", "css", "html", "py", "sh"];

/// Only this registry may stand in a lock file. (It is an identifier: the address that packages
/// come from is each machine's own affair.)
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Hosts of package registries. They are written in two parts, or this file would break the rule.
const HOSTS: [(&str, &str); 6] = [
    ("index.", "crates.io"),
    ("static.", "crates.io"),
    ("registry.", "npmjs.org"),
    ("registry.", "yarnpkg.com"),
    ("files.", "pythonhosted.org"),
    ("deb.", "debian.org"),
];

/// Folders that are some person's own, in two parts for the same reason.
const PRIVATE: [(&str, &str); 3] = [("/ho", "me/"), ("/ro", "ot/"), ("/Us", "ers/")];

/// Checks every file that git knows or would add, and prints each violation and the project's size;
/// whether there is no violation.
///
/// # Errors
/// When git does not answer.
pub fn check(project: &Project) -> Result<bool> {
    let list = process::output(project.command("git").args([
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]))?;
    let mut size = Size::default();
    let mut rules = Rules { private: private_paths(&project.root), violations: Vec::new() };
    for name in list.split('\0').filter(|name| !name.is_empty()) {
        // Not there: removed, but still known to git. Not text: weights, images.
        if let Ok(text) = std::fs::read_to_string(project.root.join(name)) {
            rules.see(name, &text);
            size.see(name, &text);
        }
    }
    for violation in &rules.violations {
        terminal::line(violation);
    }
    terminal::line(&format!(
        "{} lines of code, {} bytes of Markdown",
        size.code_lines, size.markdown_bytes
    ));
    Ok(rules.violations.is_empty())
}

/// Whether a tool wrote the file: it says so in its first lines.
pub(super) fn is_generated(text: &str) -> bool {
    text.lines().take(3).any(|line| line.starts_with("// @generated"))
}

/// Beginnings of paths that must not appear: people's folders, and where the project lies here.
fn private_paths(root: &Path) -> Vec<String> {
    let mut paths: Vec<String> = PRIVATE.iter().map(|(a, b)| format!("{a}{b}")).collect();
    // A root of one part, such as /src, is no sign of a particular machine.
    if root.components().count() > 2 {
        paths.push(root.display().to_string());
    }
    paths
}

struct Rules {
    private: Vec<String>,
    violations: Vec<String>,
}

impl Rules {
    fn see(&mut self, name: &str, text: &str) {
        let is_source = name.rsplit_once('.').is_some_and(|(_, end)| SOURCES.contains(&end));
        let count = text.lines().count();
        if is_source && count > LONGEST && !is_generated(text) {
            self.violations.push(format!("{name}: {count} lines, more than {LONGEST}: split it"));
        }
        let is_lock = name.rsplit('/').next() == Some("Cargo.lock");
        for (index, line) in text.lines().enumerate() {
            let mut report =
                |what: &str| self.violations.push(format!("{name}:{}: {what}", index + 1));
            if let Some(path) = self.private.iter().find(|path| has_path(line, path)) {
                report(&format!("a path of one machine ({path})"));
            }
            if HOSTS.iter().any(|(a, b)| line.contains(&format!("{a}{b}"))) {
                report("the address of a package registry");
            }
            if is_lock && line.strip_prefix("source = ").is_some_and(|from| !is_allowed(from)) {
                report("a package from elsewhere than crates.io");
            }
            if name.ends_with(".rs") {
                let code = line.trim_start();
                if code.starts_with(concat!("#[", "ignore")) {
                    report("an ignored test: make it pass or remove it");
                }
                if code.contains(concat!("// ", "TODO")) || code.contains(concat!("// ", "FIXME")) {
                    report("a note to do something: do it or remove it");
                }
            }
        }
    }
}

fn is_allowed(source: &str) -> bool {
    source.trim_matches('"') == REGISTRY
}

/// Whether a line holds an absolute path that begins so, and not the middle of another path.
fn has_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "._-~}/".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, text: &str) -> Vec<String> {
        let mut rules =
            Rules { private: private_paths(Path::new("/build/tw")), violations: Vec::new() };
        rules.see(name, text);
        rules.violations
    }

    #[test]
    fn machine_paths_are_found() {
        for (a, b) in PRIVATE {
            assert_eq!(found("a.md", &format!("see `{a}{b}me/x`")).len(), 1);
            assert_eq!(found("a.md", &format!("see https://example.org{a}{b}x")).len(), 0);
        }
        assert_eq!(found("a.toml", "dir = \"/build/tw/core\"").len(), 1);
        assert_eq!(found("a.toml", "dir = \"x/build/tw/core\"").len(), 0);
    }

    #[test]
    fn registries_are_found() {
        for (a, b) in HOSTS {
            assert_eq!(found("a.json", &format!("\"https://{a}{b}/x\"")).len(), 1);
        }
        assert_eq!(found("Cargo.lock", &format!("source = \"{REGISTRY}\"")).len(), 0);
        assert_eq!(found("x/Cargo.lock", "source = \"git+https://example.org/x\"").len(), 1);
    }

    #[test]
    fn long_sources_are_found() {
        assert_eq!(found("a.rs", &"x\n".repeat(LONGEST)).len(), 0);
        assert_eq!(found("a.rs", &"x\n".repeat(LONGEST + 1)).len(), 1);
        assert_eq!(found("a.json", &"x\n".repeat(LONGEST + 1)).len(), 0);
        let generated = format!("// @generated\n{}", "x\n".repeat(LONGEST));
        assert_eq!(found("a.rs", &generated).len(), 0);
    }

    #[test]
    fn ignored_tests_and_notes_are_found() {
        assert_eq!(found("a.rs", concat!("    #[", "ignore = \"slow\"]")).len(), 1);
        assert_eq!(found("a.rs", concat!("x(); // ", "TODO: y")).len(), 1);
        assert_eq!(found("a.rs", "// rows that the reader may ignore").len(), 0);
    }
}
