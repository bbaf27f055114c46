//! What the emulator worker's C parts need: cmake to build them, libclang to read their headers.

use std::path::{Path, PathBuf};

use crate::project::Project;

/// The Debian packages that are missing.
pub fn packages(project: &Project) -> Vec<&'static str> {
    let mut missing: Vec<_> = ["cmake", "pkg-config"]
        .into_iter()
        .filter(|program| project.which(program).is_none())
        .collect();
    let named = std::env::var_os("LIBCLANG_PATH").map(PathBuf::from);
    if !named.is_some_and(|path| holds_libclang(&path)) && !libclang_is_installed() {
        missing.push("libclang-dev");
    }
    missing
}

/// Looks where bindgen looks.
fn libclang_is_installed() -> bool {
    let in_folder = |parent: &str, below: &str| {
        folders(Path::new(parent)).into_iter().any(|folder| holds_libclang(&folder.join(below)))
    };
    ["/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/local/lib64"]
        .iter()
        .any(|folder| holds_libclang(Path::new(folder)))
        || in_folder("/usr/lib", "")
        || in_folder("/usr/lib", "lib")
}

fn folders(parent: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}

/// Whether a folder holds `libclang.so`, or is that file.
fn holds_libclang(path: &Path) -> bool {
    let is_library = |name: &str| name.starts_with("libclang") && name.contains(".so");
    let usable = |name: &str| {
        is_library(name)
            && name["libclang".len()..].starts_with(['.', '-'])
            && !name.contains("cpp")
    };
    if path.is_file() {
        return path.file_name().is_some_and(|name| usable(&name.to_string_lossy()));
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| usable(&entry.file_name().to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_c_interface_counts() {
        let folder = std::env::temp_dir().join(format!("xtask clang {}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for name in ["libclang-cpp.so.14", "libclangAST.a", "libclang.a"] {
            std::fs::write(folder.join(name), "").unwrap();
        }
        let before = holds_libclang(&folder);
        std::fs::write(folder.join("libclang-14.so.1"), "").unwrap();
        let after = holds_libclang(&folder);
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!((before, after), (false, true));
    }
}
