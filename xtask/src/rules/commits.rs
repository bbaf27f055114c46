//! What the newest commits are called: `planner: place line buffers before tiles`.

use crate::process;
use crate::project::Project;
use crate::terminal;

/// Commits that are looked at: those that a change has added, as a rule.
const NEWEST: &str = "10";
/// Most characters of a subject.
const LONGEST: usize = 72;

/// Prints each subject that is too long or names no area; whether there is none. A copy of the
/// project without its history has none to look at.
pub fn check(project: &Project) -> bool {
    let mut command = project.command("git");
    command.args(["log", "--no-merges", "--format=%h %s", "-n", NEWEST]);
    let Ok(log) = process::output(&mut command) else {
        terminal::line("git does not tell the newest commits: they are not looked at");
        return true;
    };
    let mut is_well = true;
    for (commit, subject) in log.lines().filter_map(|line| line.split_once(' ')) {
        if let Some(why) = fault(subject) {
            terminal::line(&format!("commit {commit}: {why}: {subject}"));
            is_well = false;
        }
    }
    is_well
}

/// What is wrong with a subject.
fn fault(subject: &str) -> Option<String> {
    let length = subject.chars().count();
    if length > LONGEST {
        return Some(format!("its subject has {length} characters, at most {LONGEST} are read"));
    }
    let area = subject.split_once(": ").map_or("", |(area, _)| area);
    let is_area = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_, ".contains(c);
    (area.is_empty() || !area.chars().all(is_area))
        .then(|| "its subject begins with no area, such as `planner: `".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_name_an_area_and_are_short() {
        assert_eq!(fault("planner: place line buffers before tiles"), None);
        assert_eq!(fault("board-support: one clock"), None);
        assert!(fault("Place line buffers before tiles").is_some());
        assert!(fault("Fix: a bug").is_some());
        assert!(fault(&format!("planner: {}", "x".repeat(64))).is_some());
    }
}
