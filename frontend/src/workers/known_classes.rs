//! Class names that models of benchmarks and tutorials share: their files seldom have them.

/// Classes that are known by the shapes of a model's input and output.
#[derive(Debug, PartialEq, Eq)]
pub struct KnownClasses {
    /// In the order of scores.
    pub names: &'static [&'static str],
    /// Models whose classes these are, for people.
    pub of: &'static str,
}

/// Classes of MLPerf Tiny's reference models and of TensorFlow Lite Micro's examples, by the input (height, width,
/// channels) and the number of scores. Other models may have the same shapes: whoever shows the names says whose they are.
pub fn known_classes(input: [u32; 3], scores: u32) -> Option<KnownClasses> {
    let (names, of): (&[&str], &str) = match (input, scores) {
        ([49, 10, 1] | [1, 1, 490], 12) => (
            &[
                "down", "go", "left", "no", "off", "on", "right", "stop", "up", "yes", "silence",
                "unknown",
            ],
            "MLPerf Tiny's keyword spotting",
        ),
        ([32, 32, 3], 10) => (
            &[
                "airplane",
                "automobile",
                "bird",
                "cat",
                "deer",
                "dog",
                "frog",
                "horse",
                "ship",
                "truck",
            ],
            "CIFAR-10",
        ),
        ([96, 96, 1 | 3], 2) => (&["nobody", "person"], "Visual Wake Words"),
        ([49, 40, 1] | [1, 1, 1960], 4) => {
            (&["silence", "unknown", "yes", "no"], "TensorFlow Lite Micro's micro_speech")
        }
        _ => return None,
    };
    Some(KnownClasses { names, of })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_score_has_a_name() {
        for (input, scores) in
            [([49, 10, 1], 12), ([32, 32, 3], 10), ([96, 96, 3], 2), ([1, 1, 1960], 4)]
        {
            let known = known_classes(input, scores).unwrap();
            assert_eq!(known.names.len(), scores as usize, "{}", known.of);
        }
        assert_eq!(known_classes([28, 28, 1], 10), None, "digits or clothes");
    }
}
