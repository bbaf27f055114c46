//! Builds that go on behind the served page, one after the other. A failed build is told and hides none of
//! the others.

use std::collections::VecDeque;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::lock::Lock;
use crate::terminal;

/// How long a build may take to end once it was asked to.
const END_LIMIT: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(20);

/// The builds that are left.
#[derive(Debug)]
pub struct Behind {
    waiting: VecDeque<(&'static str, Command)>,
    running: Option<(&'static str, Child)>,
    began: Instant,
    failed: Vec<&'static str>,
    /// Tells the server that something is being built; nothing once all has ended.
    building: Option<Lock>,
}

impl Behind {
    /// These builds, by what they build.
    pub fn new(
        builds: impl IntoIterator<Item = (&'static str, Command)>,
        building: Option<Lock>,
    ) -> Self {
        Self {
            waiting: builds.into_iter().collect(),
            running: None,
            began: Instant::now(),
            failed: Vec::new(),
            building,
        }
    }

    /// Looks after the build at work, and starts the next if it has ended; whether any is left.
    pub fn look(&mut self) -> bool {
        if let Some((what, child)) = &mut self.running {
            match child.try_wait() {
                Ok(None) => return true,
                Ok(Some(status)) => ended(what, status, &mut self.failed),
                Err(error) => terminal::note(&format!("lost the build of the {what}: {error}")),
            }
        }
        self.running = None;
        let Some((what, mut command)) = self.waiting.pop_front() else {
            self.tell_the_end();
            return false;
        };
        // A group of its own, so that its end is also that of the compilers that it has started.
        match command.process_group(0).stdin(Stdio::null()).spawn() {
            Ok(child) => self.running = Some((what, child)),
            Err(error) => {
                terminal::note(&format!("the build of the {what} cannot start: {error}"));
                self.failed.push(what);
            }
        }
        true
    }

    fn tell_the_end(&mut self) {
        if self.building.take().is_some() && self.failed.is_empty() {
            let time = terminal::elapsed(self.began.elapsed());
            terminal::note(&format!("the emulator is complete, {time} after the page"));
        }
    }

    /// Ends the build at work; none starts after it.
    pub fn end(&mut self) {
        self.waiting.clear();
        self.building = None;
        let Some((_, mut child)) = self.running.take() else { return };
        let group = format!("-{}", child.id());
        let start = Instant::now();
        let _ = Command::new("kill").args(["-TERM", "--", &group]).status();
        while start.elapsed() < END_LIMIT {
            if !matches!(child.try_wait(), Ok(None)) {
                break;
            }
            std::thread::sleep(PAUSE);
        }
        // What the build itself has left behind goes as well; mostly nothing is there any more.
        let mut kill = Command::new("kill");
        let _ = kill.args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
        let _ = child.wait();
    }
}

impl Drop for Behind {
    fn drop(&mut self) {
        self.end();
    }
}

fn ended(what: &'static str, status: ExitStatus, failed: &mut Vec<&'static str>) {
    if status.success() {
        return;
    }
    failed.push(what);
    terminal::note(&format!(
        "the {what} could not be built ({status}); the message is above. The page works without. Once the \
         cause is gone, run `cargo xtask build --only {what}` in another terminal: the server finds the result"
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_failed_build_hides_none_of_the_others() {
        let file = std::env::temp_dir().join(format!("xtask behind {}", std::process::id()));
        let later = shell(&format!("echo built > '{}'", file.display()));
        let mut behind = Behind::new(
            [
                ("worker", shell("exit 3")),
                ("nothing", Command::new("/nowhere/program")),
                ("page", later),
            ],
            None,
        );
        while behind.look() {
            std::thread::sleep(PAUSE);
        }
        let built = std::fs::read_to_string(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        assert_eq!(
            (built.as_str(), behind.failed.as_slice()),
            ("built\n", &["worker", "nothing"][..])
        );
    }

    #[test]
    fn the_end_of_a_build_ends_what_it_started() {
        let file = std::env::temp_dir().join(format!("xtask deep {}", std::process::id()));
        // The inner program holds a name that is looked for afterwards.
        let script = format!("sleep 61 & echo $! > '{}'; wait", file.display());
        let mut behind = Behind::new([("worker", shell(&script)), ("page", shell("exit 1"))], None);
        assert!(behind.look());
        let inner = loop {
            match std::fs::read_to_string(&file)
                .ok()
                .and_then(|text| text.trim().parse::<u32>().ok())
            {
                Some(id) => break id,
                None => std::thread::sleep(PAUSE),
            }
        };
        behind.end();
        std::fs::remove_file(&file).unwrap();
        let state = std::fs::read_to_string(format!("/proc/{inner}/stat")).unwrap_or_default();
        assert!(state.is_empty() || state.contains(") Z "), "{state}");
        assert!(!behind.look() && behind.failed.is_empty());
    }
}
