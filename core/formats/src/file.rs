//! A model's file and those beside it, read in parts by whoever has them.

use std::fmt;
use std::sync::Arc;

use tilewright_model::Store;

/// Finds a file beside the model by its path from the model's folder: names joined by `/`, never
/// absolute, never through `..`. Nothing if there is none.
///
/// # Errors
/// Why a file that is there cannot be read, as the end of a sentence.
pub type Beside<'f> = dyn Fn(&str) -> Result<Option<Arc<dyn Store>>, String> + 'f;

/// A model's file.
pub struct ModelFile<'f> {
    /// Its name.
    pub name: &'f str,
    /// Its bytes. Large weights are read from here each time they are asked for, so that the model
    /// that was opened keeps it.
    pub bytes: Arc<dyn Store>,
    /// The files beside it.
    pub beside: &'f Beside<'f>,
}

impl fmt::Debug for ModelFile<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelFile").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<'f> ModelFile<'f> {
    /// A file with nothing beside it.
    #[must_use]
    pub fn alone(name: &'f str, bytes: Arc<dyn Store>) -> Self {
        Self { name, bytes, beside: &|_| Ok(None) }
    }
}

/// A file's path from the model's folder as [`Beside`] takes it; nothing if it leads elsewhere.
#[must_use]
pub fn inside(location: &str) -> Option<String> {
    let is_plain = |name: &&str| !name.is_empty() && *name != ".";
    let leads_away = |name: &str| name == ".." || name.contains(['\\', ':', '\0']);
    if location.starts_with('/') || location.split('/').any(leads_away) {
        return None;
    }
    let names: Vec<&str> = location.split('/').filter(is_plain).collect();
    (!names.is_empty()).then(|| names.join("/"))
}

#[cfg(test)]
mod tests {
    use super::inside;

    #[test]
    fn paths_stay_in_the_folder() {
        assert_eq!(inside("net.data").as_deref(), Some("net.data"));
        assert_eq!(inside("./weights//net.data").as_deref(), Some("weights/net.data"));
        for away in ["", ".", "/etc/passwd", "../net", "a/../../b", "C:\\net", "..\\net", "a\0b"] {
            assert_eq!(inside(away), None, "{away}");
        }
    }
}
