//! Programs that write images, in PATH.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Programs that are looked for.
pub const TOOLS: [&str; 5] =
    ["probe-rs", "STM32_Programmer_CLI", "st-flash", "nrfjprog", "picotool"];

/// Where a program is.
#[must_use]
pub fn find(name: &str) -> Option<PathBuf> {
    find_in(env::var_os("PATH").as_deref(), name)
}

fn find_in(path: Option<&OsStr>, name: &str) -> Option<PathBuf> {
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    let folders = path.into_iter().flat_map(env::split_paths);
    folders.map(|folder| folder.join(&file)).find(|path| is_program(path))
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn only_programs_are_found() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("probe-rs");
        std::fs::write(&path, "").unwrap();
        let find = || find_in(Some(folder.path().as_os_str()), "probe-rs");
        assert_eq!(find(), None, "it cannot be run");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(find(), Some(path));
        assert_eq!(find_in(None, "probe-rs"), None);
    }
}
