//! Chromium and its driver, for the browser tests.

use std::path::PathBuf;

use crate::project::{Project, is_executable};

/// A browser and the WebDriver program that steers it.
#[derive(Clone, Debug)]
pub struct Browser {
    /// Chromium or Chrome.
    pub chromium: PathBuf,
    /// chromedriver.
    pub driver: PathBuf,
}

/// Finds both: those named in `TILEWRIGHT_CHROMIUM` and `TILEWRIGHT_CHROMEDRIVER`, else the usual
/// programs.
pub fn find(project: &Project) -> Option<Browser> {
    let chromium = search(
        project,
        "TILEWRIGHT_CHROMIUM",
        &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"],
    )?;
    let driver = search(
        project,
        "TILEWRIGHT_CHROMEDRIVER",
        &[
            "chromedriver",
            "chromium.chromedriver",
            "/usr/lib/chromium/chromedriver",
            "/usr/lib/chromium-browser/chromedriver",
        ],
    )?;
    Some(Browser { chromium, driver })
}

fn search(project: &Project, variable: &str, names: &[&str]) -> Option<PathBuf> {
    if let Some(path) = std::env::var_os(variable).filter(|value| !value.is_empty()) {
        return Some(PathBuf::from(path)).filter(|path| is_executable(path));
    }
    // Joining an absolute name to a folder of PATH gives that name.
    names.iter().find_map(|name| project.which(name))
}

/// The Debian or Ubuntu packages that are missing.
pub fn packages(project: &Project) -> Vec<&'static str> {
    if find(project).is_some() {
        return Vec::new();
    }
    let system = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    packages_for(&system).to_vec()
}

/// Names differ between the two; the fonts are only recommended by the browser, but text without a
/// font has no width.
fn packages_for(os_release: &str) -> [&'static str; 3] {
    if os_release.lines().any(|line| line.trim() == "ID=ubuntu") {
        ["chromium-browser", "chromium-chromedriver", "fonts-liberation"]
    } else {
        ["chromium", "chromium-driver", "fonts-liberation"]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ubuntu_names_its_packages_otherwise() {
        assert_eq!(packages_for("NAME=\"Ubuntu\"\nID=ubuntu\n")[1], "chromium-chromedriver");
        assert_eq!(packages_for("ID=debian\n")[1], "chromium-driver");
        assert_eq!(packages_for("")[0], "chromium");
    }
}
