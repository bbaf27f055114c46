//! Files that are dropped or chosen, before anything of them is read.

use crate::message::trouble;
use crate::view_model::figures;
use tilewright_report::Diagnostic;

/// Longest file that is opened: what a browser tab can hold twice.
pub const MAX_FILE_BYTES: u64 = 512 << 20;

/// What a file is, told from its name; in the order in which files are taken: weights before their
/// model, a model before its samples, samples before inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Weights that a model keeps beside itself.
    Data,
    Model,
    /// Names of a model's classes.
    ClassNames,
    /// Samples, or an input.
    Samples,
    /// A picture: an input.
    Picture,
    /// A sound: an input.
    Sound,
}

impl FileKind {
    const IN_ORDER: [Self; 6] =
        [Self::Data, Self::Model, Self::ClassNames, Self::Samples, Self::Picture, Self::Sound];

    /// Of a file with this name.
    #[must_use]
    pub fn of(name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        let (stem, ending) = name.rsplit_once('.').unwrap_or((&name, ""));
        match ending {
            "png" | "jpg" | "jpeg" | "webp" | "gif" | "bmp" | "avif" => Self::Picture,
            "npy" | "npz" => Self::Samples,
            "wav" | "mp3" | "ogg" | "oga" | "opus" | "m4a" | "aac" | "flac" | "weba" => Self::Sound,
            // What exporters name them; some write a file for each tensor.
            "data" | "bin" | "weights" | "weight" | "bias" => Self::Data,
            ending if ending.starts_with("onnx_data") => Self::Data,
            "names" | "labels" => Self::ClassNames,
            "txt" if ["label", "class", "names"].iter().any(|word| stem.contains(word)) => {
                Self::ClassNames
            }
            _ => Self::Model,
        }
    }

    const fn plural(self) -> &'static str {
        match self {
            Self::Data => "files of weights",
            Self::Model => "models",
            Self::ClassNames => "files of class names",
            Self::Samples => "files of samples",
            Self::Picture => "pictures",
            Self::Sound => "sounds",
        }
    }
}

/// Whether a file of this name is a text of cells.
#[must_use]
pub fn is_cells(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, ending)| ending.eq_ignore_ascii_case("txt"))
}

/// Most files of samples at once.
const MOST_SAMPLE_FILES: usize = 512;

/// Whether files of these names and lengths can be samples, all of them together.
///
/// # Errors
/// If one cannot be, or they are too many or too large.
pub fn check_samples(files: &[(String, u64)]) -> Result<(), Diagnostic> {
    let remedy = "Give .npy arrays whose first dimension counts the samples, or pictures.";
    let is_other =
        |name: &str| !matches!(FileKind::of(name), FileKind::Samples | FileKind::Picture);
    if let Some((name, _)) = files.iter().find(|(name, _)| is_other(name)) {
        return Err(trouble(format!("{name} holds no samples"), "", remedy));
    }
    let bytes = files.iter().fold(0, |sum: u64, (_, bytes)| sum.saturating_add(*bytes));
    if files.len() > MOST_SAMPLE_FILES || bytes > MAX_FILE_BYTES {
        let (count, size) = (files.len(), figures::binary(bytes));
        return Err(trouble(
            "These samples are too many to open here",
            format!("{count} files with {size}. Nothing of them was read."),
            "Some dozen samples calibrate as well as thousands.",
        ));
    }
    Ok(())
}

/// The order in which to read files of these names and lengths, as indices.
///
/// # Errors
/// If there are two of a sort, or one is too large to be read. Then none is to be taken.
pub fn sort_out(files: &[(String, u64)]) -> Result<Vec<usize>, Diagnostic> {
    if let Some((name, bytes)) = files.iter().find(|(_, bytes)| *bytes > MAX_FILE_BYTES) {
        let (size, most) = (figures::binary(*bytes), figures::binary(MAX_FILE_BYTES));
        return Err(trouble(
            format!("{name} is too large to open here"),
            format!("It has {size}; a page can open at most {most}. Nothing of it was read."),
            "Check that this is the file you meant. Larger networks can be planned with the \
             command line.",
        ));
    }
    let mut order = Vec::new();
    for kind in FileKind::IN_ORDER {
        let of_kind = |(_, (name, _)): &(usize, &(String, u64))| FileKind::of(name) == kind;
        let same: Vec<usize> = files.iter().enumerate().filter(of_kind).map(|(i, _)| i).collect();
        if same.len() > 1 && kind != FileKind::Data {
            let names: Vec<&str> = same.iter().map(|index| files[*index].0.as_str()).collect();
            return Err(trouble(
                format!("{} {} at once", same.len(), kind.plural()),
                format!("{}. One of a sort can be open; nothing was changed.", names.join(", ")),
                "Drop one model, with one .npy file of samples and one picture if you like.",
            ));
        }
        order.extend(same);
    }
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: &[&str]) -> Vec<(String, u64)> {
        names.iter().map(|name| ((*name).to_owned(), 10)).collect()
    }

    #[test]
    fn a_model_goes_before_its_samples_and_its_input() {
        let files = named(&["7.PNG", "samples.npy", "net.onnx"]);
        assert_eq!(sort_out(&files), Ok(vec![2, 1, 0]));
        assert_eq!(sort_out(&named(&["yes.WAV", "samples.npz", "net.tflite"])), Ok(vec![2, 1, 0]));
        assert_eq!(sort_out(&named(&["cat.jpg", "labels.txt", "net.tflite"])), Ok(vec![2, 1, 0]));
        assert_eq!(sort_out(&[]), Ok(Vec::new()));
    }

    #[test]
    fn class_names_are_told_from_cells() {
        for name in ["labels.txt", "imagenet_labels.TXT", "classes.txt", "coco.names", "a.labels"] {
            assert_eq!(FileKind::of(name), FileKind::ClassNames, "{name}");
        }
        for name in ["cells.txt", "labels.npy", "model.onnx", "names", ""] {
            assert_ne!(FileKind::of(name), FileKind::ClassNames, "{name}");
        }
    }

    #[test]
    fn weights_go_before_their_model_and_may_be_many() {
        let files = named(&["net.onnx", "net.onnx.data", "NET.onnx_data_1", "7.png"]);
        assert_eq!(sort_out(&files), Ok(vec![1, 2, 0, 3]));
    }

    #[test]
    fn samples_are_arrays_and_pictures_in_any_number_but_not_without_end() {
        assert_eq!(check_samples(&named(&["a.npy", "b.png", "c.png"])), Ok(()));
        for other in ["net.onnx", "net.onnx.data", "yes.wav"] {
            let trouble = check_samples(&named(&["a.npy", other])).unwrap_err();
            assert!(trouble.what.contains(other), "{trouble:?}");
        }
        assert!(check_samples(&vec![("a.png".to_owned(), 1); 600]).is_err());
        assert!(check_samples(&[("a.npy".to_owned(), u64::MAX), ("b.npy".to_owned(), 9)]).is_err());
    }

    #[test]
    fn two_of_a_sort_are_named_and_none_is_taken() {
        let trouble = sort_out(&named(&["a.onnx", "b.onnx", "7.png"])).unwrap_err();
        assert!(trouble.place.contains("a.onnx, b.onnx"), "{trouble:?}");
        assert!(sort_out(&named(&["a.npy", "b.npy"])).is_err());
    }

    #[test]
    fn a_file_that_is_too_large_is_refused_by_its_length() {
        let at = |bytes| vec![("big.onnx".to_owned(), bytes)];
        assert!(sort_out(&at(MAX_FILE_BYTES)).is_ok());
        let trouble = sort_out(&at(1 << 30)).unwrap_err();
        assert!(
            trouble.what.contains("big.onnx") && trouble.place.contains("1.00 GiB"),
            "{trouble:?}"
        );
    }
}
