//! The models that come with the page.

/// A model that comes with the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example {
    /// Short name, as in links.
    pub id: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Model file, below the page.
    pub file: &'static str,
    /// Samples to calibrate with, below the page; none for a model that is int8 already.
    pub calibration: Option<&'static str>,
    /// Inputs to try.
    pub samples: &'static [Sample],
}

/// An input to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Image file, below the page.
    pub file: &'static str,
    /// What it shows.
    pub label: &'static str,
}

macro_rules! samples {
    ($($file:literal $label:literal),+ $(,)?) => {
        &[$(Sample { file: concat!("models/samples/", $file, ".png"), label: $label }),+]
    };
}

/// Clothes.
const FASHION: &[Sample] = samples![
    "fashion-19-t-shirt-top" "T-shirt", "fashion-2-trouser" "Trouser",
    "fashion-1-pullover" "Pullover", "fashion-13-dress" "Dress", "fashion-10-coat" "Coat",
    "fashion-8-sandal" "Sandal", "fashion-7-shirt" "Shirt", "fashion-9-sneaker" "Sneaker",
    "fashion-18-bag" "Bag", "fashion-0-ankle-boot" "Ankle boot",
];

/// All of them.
pub const EXAMPLES: &[Example] = &[
    Example {
        id: "lenet5",
        title: "LeNet-5",
        about: "Handwritten digits, 32×32 grey; trained on MNIST",
        file: "models/lenet5.onnx",
        calibration: Some("models/lenet5.calibration.npy"),
        samples: samples![
            "mnist-3-label0" "0", "mnist-2-label1" "1", "mnist-1-label2" "2", "mnist-18-label3" "3",
            "mnist-4-label4" "4", "mnist-8-label5" "5", "mnist-11-label6" "6", "mnist-0-label7" "7",
            "mnist-61-label8" "8", "mnist-7-label9" "9",
        ],
    },
    Example {
        id: "fashion-mobilenet",
        title: "Fashion MobileNet",
        about: "Clothing, 28×28 grey, depthwise layers; trained on Fashion-MNIST",
        file: "models/fashion-mobilenet.onnx",
        calibration: Some("models/fashion-mobilenet.calibration.npy"),
        samples: FASHION,
    },
    Example {
        id: "fashion-exits",
        title: "Fashion with early exits",
        about: "The same task, and three outputs on the way that may end a run",
        file: "models/fashion-exits.onnx",
        calibration: Some("models/fashion-exits.calibration.npy"),
        samples: FASHION,
    },
    Example {
        id: "person-detect",
        title: "Person detection",
        about: "MobileNet 0.25, 96×96 grey, int8: the example of TensorFlow Lite Micro; Apache-2.0, the TensorFlow authors",
        file: "models/person-detect.tflite",
        calibration: None,
        samples: samples!["person-1-person" "Person", "person-0-nobody" "Nobody"],
    },
];

/// The example with this id.
#[must_use]
pub fn find(id: &str) -> Option<&'static Example> {
    EXAMPLES.iter().find(|example| example.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn every_file_is_in_the_repository() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for example in EXAMPLES {
            let samples = example.samples.iter().map(|sample| sample.file);
            for file in [example.file].into_iter().chain(example.calibration).chain(samples) {
                assert!(root.join(file).is_file(), "{file}");
            }
        }
    }
}
