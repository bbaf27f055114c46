//! Images with classes from files.

use std::path::Path;

use tilewright_app::{Blame, Diagnostic};
use tilewright_formats::input::{NpyValues, parse_npy};
use tilewright_search::Samples;

use crate::files;
use crate::labelled::{self, LabelledImages};

/// Largest array that is read.
const LIMIT: u64 = 256 << 20;

/// Names of files of images and labels, in the order in which they are looked for.
const PARTS: [&str; 2] = ["train", "t10k"];

/// Classes of the images of an array, which come in turn.
const CLASSES: usize = 10;

fn wrong(what: String, place: &Path, what_to_do: &str) -> Diagnostic {
    Diagnostic::new(Blame::BadInput, what, place.display().to_string(), what_to_do)
}

/// At most `images` images of a folder's idx files, or of an array whose images are of ten classes in turn.
pub(super) fn samples(path: &Path, side: usize, images: usize) -> Result<Samples, Diagnostic> {
    if path.is_dir() { of_folder(path, side, images) } else { of_array(path, side, images) }
}

fn of_folder(folder: &Path, side: usize, most: usize) -> Result<Samples, Diagnostic> {
    let LabelledImages { height, width, pixels, labels } =
        labelled::of_folder(folder, &PARTS, most)?;
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
