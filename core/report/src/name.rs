//! Names of operators and tensors as people read them.

/// A name as it is shown where room is scarce. Converters chain the paths of all operators that
/// they fused: the end of the first says most.
#[must_use]
pub fn short_name(name: &str) -> &str {
    const PARTS: usize = 2;
    let first = name.split(';').next().unwrap_or(name);
    let cut = first.rmatch_indices('/').map(|(at, _)| at + 1).nth(PARTS - 1);
    match cut.and_then(|at| first.get(at..)) {
        Some(short) if !short.is_empty() => short,
        _ if first.is_empty() => name,
        _ => first,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_to_what_says_most() {
        for (name, short) in [
            ("conv1", "conv1"),
            ("model/activation_1/Relu;model/conv2d/BiasAdd", "activation_1/Relu"),
            ("/features/0/Conv", "0/Conv"),
            ("block1.dw", "block1.dw"),
            ("a/b", "a/b"),
            (";x", ";x"),
            ("", ""),
        ] {
            assert_eq!(short_name(name), short, "{name}");
        }
    }
}
