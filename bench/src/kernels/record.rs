//! The counts that stand in the repository: a kernel that takes more is noticed.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use tilewright_tests::emulated;

/// Name of the file.
pub const NAME: &str = "bench/counted.toml";
const HEAD: &str = "# Written by `cargo xtask bench kernels --record`; do not edit.\n\
                    # Executed instructions of each layer's kernels with their calls.\n";

/// Instructions by core and layer.
#[derive(Clone, Debug, Default)]
pub struct Record(BTreeMap<String, BTreeMap<String, u64>>);

fn path() -> PathBuf {
    emulated::project().join(NAME)
}

impl Record {
    /// Reads the file.
    ///
    /// # Errors
    /// If it is missing or malformed.
    #[cfg(test)]
    pub fn read() -> Result<Self, String> {
        let text = fs::read_to_string(path()).map_err(|e| format!("{NAME}: {e}"))?;
        toml::from_str(&text).map(Self).map_err(|e| format!("{NAME}: {e}"))
    }

    /// The recorded instructions of a layer on a core.
    #[cfg(test)]
    pub fn get(&self, core: &str, layer: &str) -> Option<u64> {
        self.0.get(core)?.get(layer).copied()
    }

    /// Records a layer on a core.
    pub fn set(&mut self, core: &str, layer: &str, instructions: u64) {
        self.0.entry(core.to_owned()).or_default().insert(layer.to_owned(), instructions);
    }

    /// Writes the file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self) -> Result<(), String> {
        let layers = toml::to_string(&self.0).map_err(|e| e.to_string())?;
        fs::write(path(), format!("{HEAD}{layers}")).map_err(|e| format!("{NAME}: {e}"))?;
        println!("wrote {NAME}");
        Ok(())
    }
}
