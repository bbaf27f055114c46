//! Labelled images from files that a person gave.

use tilewright_formats::LabelledImages;
use tilewright_report::{Diagnostic, sentence};

use crate::message::trouble;

/// At most `most` images of one file or two.
///
/// # Errors
/// If they hold none.
pub fn labelled(files: &[Vec<u8>], most: usize) -> Result<LabelledImages, Diagnostic> {
    let files: Vec<&[u8]> = files.iter().map(Vec::as_slice).collect();
    LabelledImages::of_files(&files, most).map_err(|error| {
        let what_to_do = "Give a file of images and one of labels as MNIST has them (idx, plain or .gz), or an array \
                          (.npy) of bytes, images × height × width, whose images are of ten classes in turn.";
        trouble("These files hold no labelled images", sentence(&error.to_string()), what_to_do)
    })
}
