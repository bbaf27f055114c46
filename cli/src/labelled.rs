//! Labelled images from idx files, of MNIST and its kin, or from an array.

use std::io::Read;
use std::path::Path;

use tilewright_app::{Blame, Diagnostic};
use tilewright_formats::input::{NpyValues, parse_npy};
use tilewright_formats::{IdxError, idx_images, idx_labels};
use tilewright_search::Samples;

use crate::files;

/// Largest file that is read, and most bytes that a packed one may hold.
const LIMIT: u64 = 256 << 20;

/// Classes of the images of an array, which come in turn.
const CLASSES: usize = 10;

/// Images of one size, each with its class.
#[derive(Debug)]
pub struct LabelledImages {
    /// In pixels.
    pub height: usize,
    /// In pixels.
    pub width: usize,
    /// Images × height × width, 0 to 255.
    pub pixels: Vec<u8>,
    /// The class of each.
    pub labels: Vec<u8>,
}

/// At most `most` images of a folder's idx files: those of `parts` (`train`, `t10k`) that are found first, plain or as
/// `.gz`.
///
/// # Errors
/// If there are none, or they are damaged.
pub fn of_folder(folder: &Path, parts: &[&str], most: usize) -> Result<LabelledImages, Diagnostic> {
    let what_to_do = "`models/fetch-test-data.sh DIR` fetches MNIST and Fashion-MNIST.";
    let find = |part: &str, what: &str| {
        let name = format!("{part}-{what}-ubyte");
        let path = [format!("{name}.gz"), name].map(|name| folder.join(name));
        path.into_iter().find(|path| path.exists())
    };
    let mut pairs = parts.iter();
    let pair = pairs.find_map(|part| find(part, "images-idx3").zip(find(part, "labels-idx1")));
    let Some((images_path, labels_path)) = pair else {
        let parts = parts.join(" or ");
        let what = format!(
            "The folder has no images-idx3-ubyte and labels-idx1-ubyte files of {parts}, plain or as .gz."
        );
        return Err(wrong(what, folder, what_to_do));
    };
    let damaged = |path: &Path| {
        let path = path.to_owned();
        move |error: IdxError| wrong(format!("It is damaged: {error}."), &path, what_to_do)
    };
    let bytes = unpacked(&images_path)?;
    let images = idx_images(&bytes).map_err(damaged(&images_path))?;
    let label_bytes = unpacked(&labels_path)?;
    let labels = idx_labels(&label_bytes).map_err(damaged(&labels_path))?;
    if labels.len() != images.count {
        let what = format!("There are {} labels for {} images.", labels.len(), images.count);
        return Err(wrong(what, &labels_path, what_to_do));
    }
    let count = images.count.min(most);
    Ok(LabelledImages {
        height: images.height,
        width: images.width,
        pixels: images.pixels[..count * images.height * images.width].to_vec(),
        labels: labels[..count].to_vec(),
    })
}

/// At most `images` images of a folder's idx files, or of an array whose images are of ten classes in turn.
///
/// # Errors
/// If there are none, or they are damaged.
pub fn samples(path: &Path, side: usize, images: usize) -> Result<Samples, Diagnostic> {
    match path.is_dir() {
        true => resized(path, &["train", "t10k"], side, images),
        false => of_array(path, side, images),
    }
}

/// Those of [`of_folder`], in another size.
///
/// # Errors
/// As [`of_folder`], or if the images have no pixels.
pub fn resized(
    folder: &Path,
    parts: &[&str],
    side: usize,
    most: usize,
) -> Result<Samples, Diagnostic> {
    let LabelledImages { height, width, pixels, labels } = of_folder(folder, parts, most)?;
    Samples::new(&pixels, [height, width], &labels, side).map_err(|error| {
        wrong(format!("Of the images, {error}."), folder, "Give images that are larger.")
    })
}

fn of_array(path: &Path, side: usize, most: usize) -> Result<Samples, Diagnostic> {
    let what_to_do = "Give a folder of idx files, or an array of bytes, images x height x width x 1, \
                      whose images are of ten classes in turn.";
    let bytes = files::read(path, "data", LIMIT)?;
    let array = parse_npy(&bytes)
        .map_err(|error| wrong(format!("The array is wrong: {error}."), path, what_to_do))?;
    let (dims, values) = (array.dims, array.values);
    let [count, height, width] = match dims[..] {
        [count, height, width] | [count, height, width, 1] => [count, height, width],
        _ => {
            let what = format!("The array has the dimensions {dims:?}.");
            return Err(wrong(what, path, what_to_do));
        }
    };
    let NpyValues::U8(values) = values else {
        let what = "The array holds no unsigned bytes.".to_owned();
        return Err(wrong(what, path, what_to_do));
    };
    let count = count.min(most);
    let size = count.saturating_mul(height).saturating_mul(width);
    let labels: Vec<u8> = (0..count).map(|index| (index % CLASSES) as u8).collect();
    Samples::new(values.get(..size).unwrap_or(&values), [height, width], &labels, side)
        .map_err(|error| wrong(format!("Of the images, {error}."), path, what_to_do))
}

fn wrong(what: String, place: &Path, what_to_do: &str) -> Diagnostic {
    Diagnostic::new(Blame::BadInput, what, place.display().to_string(), what_to_do)
}

fn unpacked(path: &Path) -> Result<Vec<u8>, Diagnostic> {
    let bytes = files::read(path, "data file", LIMIT)?;
    if path.extension().is_none_or(|kind| kind != "gz") {
        return Ok(bytes);
    }
    let mut unpacked = Vec::new();
    let packed = flate2::read::GzDecoder::new(bytes.as_slice());
    match packed.take(LIMIT + 1).read_to_end(&mut unpacked) {
        Ok(length) if length as u64 <= LIMIT => Ok(unpacked),
        Ok(_) => {
            let what = format!("It holds more than {LIMIT} bytes.");
            Err(wrong(what, path, "Give the file of MNIST or Fashion-MNIST."))
        }
        Err(error) => {
            let what = format!("It cannot be unpacked: {error}.");
            Err(wrong(what, path, "Fetch the file once more."))
        }
    }
}
