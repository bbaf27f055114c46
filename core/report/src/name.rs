//! Names of operators and tensors as people read them.

use std::borrow::Cow;
use std::fmt::Write;

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

/// Text on one line, without what a terminal would obey: control characters stand as JSON writes them.
#[must_use]
pub fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_control() {
            // Writing to a string cannot fail.
            let _ = write!(plain, "\\u{:04x}", u32::from(letter));
        } else {
            plain.push(letter);
        }
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_name_moves_the_cursor() {
        assert_eq!(plain("größe"), "größe");
        assert_eq!(plain("a\u{1b}]0;b\u{7}\n\u{9b}c"), "a\\u001b]0;b\\u0007\\u000a\\u009bc");
    }

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
