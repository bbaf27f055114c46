//! Debian packages. They are installed only with rights that the user already has: as root, or by
//! a `sudo` that asks for no password. Otherwise the command is printed and nothing is changed.

use std::process::{Command, Stdio};

use anyhow::{Result, bail};

use super::cached::logs;
use crate::process;
use crate::project::Project;

/// How the package manager may be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rights {
    Root,
    Sudo,
    None,
}

/// Installs Debian packages.
///
/// # Errors
/// When there is no apt-get, no right to use it, or it fails.
pub fn install(project: &Project, packages: &[&str]) -> Result<()> {
    if packages.is_empty() {
        return Ok(());
    }
    if project.which("apt-get").is_none() {
        bail!(
            "these Debian packages, or your system's equivalents, must be installed first: {}",
            packages.join(" ")
        );
    }
    let rights = rights();
    if rights == Rights::None {
        bail!(
            "system packages are missing; install them with this command, then run again:\n\n    {}",
            by_hand(packages)
        );
    }
    for (what, args) in [("update", vec!["update"]), ("install", install_args(packages))] {
        let mut command = apt_get(project, rights);
        command.args(args);
        process::logged(
            &format!("apt-get {what}"),
            &mut command,
            &logs(project).join(format!("apt-get-{what}.log")),
        )?;
    }
    Ok(())
}

fn rights() -> Rights {
    let succeeds = |program: &str, args: &[&str]| {
        let mut command = Command::new(program);
        command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let is_root = process::output(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    if is_root {
        Rights::Root
    } else if succeeds("sudo", &["-n", "true"]) {
        Rights::Sudo
    } else {
        Rights::None
    }
}

fn apt_get(project: &Project, rights: Rights) -> Command {
    // sudo drops the environment, so it is given as arguments.
    let mut command = match rights {
        Rights::Sudo => {
            let mut command = project.command("sudo");
            command.args(["-n", "env"]);
            command
        }
        Rights::Root | Rights::None => project.command("env"),
    };
    command.args(["DEBIAN_FRONTEND=noninteractive", "apt-get"]);
    command
}

fn install_args<'a>(packages: &[&'a str]) -> Vec<&'a str> {
    // Another apt-get may be at work: unattended upgrades on a fresh machine are.
    let mut args = vec!["-o", "DPkg::Lock::Timeout=600", "install", "--yes"];
    args.push("--no-install-recommends");
    args.extend(packages);
    args
}

/// The command for the user to type.
fn by_hand(packages: &[&str]) -> String {
    format!(
        "sudo apt-get update && sudo apt-get install --yes --no-install-recommends {}",
        packages.join(" ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_printed_command_can_be_pasted() {
        assert_eq!(
            by_hand(&["cmake", "npm"]),
            "sudo apt-get update && sudo apt-get install --yes --no-install-recommends cmake npm"
        );
    }

    #[test]
    fn packages_come_last() {
        let args = install_args(&["cmake", "npm"]);
        assert_eq!(args[args.len() - 2..], ["cmake", "npm"]);
        assert!(args.contains(&"install"));
    }
}
