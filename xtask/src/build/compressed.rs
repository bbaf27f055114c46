//! Compressed copies beside the page's files, which the server and other hosts send as they are.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use flate2::Compression;
use flate2::write::GzEncoder;

/// Endings of files that compression makes smaller; pictures and samples it does not.
const ENDINGS: [&str; 6] = ["css", "elf", "html", "js", "svg", "wasm"];

const BROTLI_QUALITY: u32 = 11;
/// Largest window of the standard, as a power of two: 16 MiB.
const BROTLI_WINDOW: u32 = 24;
const BUFFER: usize = 1 << 16;

/// Writes `<name>.br` and `<name>.gz` beside every file below `page` that is worth it. Those of files that
/// are the same in the `old` page are taken from there.
///
/// # Errors
/// When a file cannot be read or written.
pub fn add(page: &Path, old: &Path) -> Result<()> {
    for entry in fs::read_dir(page).with_context(|| format!("cannot read {}", page.display()))? {
        let entry = entry.with_context(|| format!("cannot read {}", page.display()))?;
        let (path, old) = (entry.path(), old.join(entry.file_name()));
        if path.is_dir() {
            add(&path, &old)?;
        } else if ENDINGS.iter().any(|ending| path.extension().is_some_and(|e| e == *ending)) {
            compress(&path, &old).with_context(|| format!("cannot compress {}", path.display()))?;
        }
    }
    Ok(())
}

fn compress(path: &Path, old: &Path) -> std::io::Result<()> {
    let bytes = fs::read(path)?;
    let endings = ["gz", "br"];
    let has_copies = endings.iter().all(|ending| old.with_added_extension(ending).is_file());
    if has_copies && fs::read(old).is_ok_and(|old| old == bytes) {
        return endings.iter().try_for_each(|ending| {
            let [from, to] = [old, path].map(|path| path.with_added_extension(ending));
            fs::copy(from, to).map(drop)
        });
    }
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(&bytes)?;
    fs::write(path.with_added_extension("gz"), gzip.finish()?)?;
    let target = fs::File::create(path.with_added_extension("br"))?;
    let mut brotli = brotli::CompressorWriter::new(target, BUFFER, BROTLI_QUALITY, BROTLI_WINDOW);
    brotli.write_all(&bytes)?;
    brotli.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn copies_hold_the_same_bytes_and_stand_beside_what_they_copy() {
        let root = std::env::temp_dir().join(format!("xtask compressed {}", std::process::id()));
        fs::create_dir_all(root.join("deep")).unwrap();
        let text = "a page of text ".repeat(1000);
        fs::write(root.join("deep/a.wasm"), &text).unwrap();
        fs::write(root.join("digit.png"), "picture").unwrap();
        let nowhere = root.join("nowhere");
        add(&root, &nowhere).unwrap();
        let gzip = fs::read(root.join("deep/a.wasm.gz")).unwrap();
        let brotli = fs::read(root.join("deep/a.wasm.br")).unwrap();
        // A second page with the same file takes the copies, whatever they hold.
        fs::write(root.join("deep/a.wasm.gz"), "kept").unwrap();
        let second_page = root.join("second");
        fs::create_dir_all(second_page.join("deep")).unwrap();
        fs::write(second_page.join("deep/a.wasm"), &text).unwrap();
        add(&second_page, &root).unwrap();
        assert_eq!(fs::read(second_page.join("deep/a.wasm.gz")).unwrap(), b"kept");
        let untouched = !root.join("digit.png.br").exists();
        fs::remove_dir_all(&root).unwrap();
        assert!(untouched && brotli.len() < text.len() && gzip.len() < text.len());
        let (mut first, mut second) = (String::new(), String::new());
        flate2::read::GzDecoder::new(&*gzip).read_to_string(&mut first).unwrap();
        brotli::Decompressor::new(&*brotli, BUFFER).read_to_string(&mut second).unwrap();
        assert!(first == text && second == text);
    }
}
