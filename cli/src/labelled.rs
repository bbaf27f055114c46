//! Labelled images from idx files, of MNIST and its kin, or from an array.

use std::path::{Path, PathBuf};

use tilewright_app::{Blame, Diagnostic};
use tilewright_formats::{LabelledError, LabelledImages, MOST_UNPACKED, unpacked};
use tilewright_report::sentence;
use tilewright_search::Samples;

use crate::files;

/// The files of images and of labels of a part (`train`, `t10k`) in a folder, plain or as `.gz`; nothing if one of them
/// is not there.
pub fn files_of(folder: &Path, part: &str) -> Option<(PathBuf, PathBuf)> {
    let find = |what: &str| {
        let name = format!("{part}-{what}-ubyte");
        let path = [format!("{name}.gz"), name].map(|name| folder.join(name));
        path.into_iter().find(|path| path.exists())
    };
    find("images-idx3").zip(find("labels-idx1"))
}

/// At most `most` images of a folder's idx files: those of `parts` (`train`, `t10k`) that are found first, plain or as
/// `.gz`.
///
/// # Errors
/// If there are none, or they are damaged.
pub fn of_folder(folder: &Path, parts: &[&str], most: usize) -> Result<LabelledImages, Diagnostic> {
    let what_to_do = "`models/fetch-test-data.sh DIR` fetches MNIST and Fashion-MNIST.";
    let pair = parts.iter().find_map(|part| files_of(folder, part));
    let Some((images_path, labels_path)) = pair else {
        let parts = parts.join(" or ");
        let what = format!(
            "The folder has no images-idx3-ubyte and labels-idx1-ubyte files of {parts}, plain or as .gz."
        );
        return Err(wrong(what, folder, what_to_do));
    };
    let read = |path: &Path| files::read(path, "data file", MOST_UNPACKED);
    let (images, labels) = (read(&images_path)?, read(&labels_path)?);
    let told = |path: &Path| {
        let path = path.to_owned();
        move |error: LabelledError| wrong(sentence(&error.to_string()), &path, what_to_do)
    };
    let images = unpacked(&images).map_err(told(&images_path))?;
    let labels = unpacked(&labels).map_err(told(&labels_path))?;
    LabelledImages::of_idx(&images, &labels, most).map_err(|error| match error {
        LabelledError::Images(_) => told(&images_path)(error),
        error => told(&labels_path)(error),
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

fn of_array(path: &Path, side: usize, images: usize) -> Result<Samples, Diagnostic> {
    let what_to_do = "Give a folder of idx files, or an array of bytes, images x height x width x 1, \
                      whose images are of ten classes in turn.";
    let bytes = files::read(path, "data", MOST_UNPACKED)?;
    let LabelledImages { height, width, pixels, labels } = LabelledImages::of_array(&bytes, images)
        .map_err(|error| wrong(sentence(&error.to_string()), path, what_to_do))?;
    Samples::new(&pixels, [height, width], &labels, side)
        .map_err(|error| wrong(format!("Of the images, {error}."), path, what_to_do))
}

fn wrong(what: String, place: &Path, what_to_do: &str) -> Diagnostic {
    Diagnostic::new(Blame::BadInput, what, place.display().to_string(), what_to_do)
}
