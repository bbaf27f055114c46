//! Errors of libraries as sentences.

/// The text with a capital letter at its start and a full stop at its end.
#[must_use]
pub fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(char::to_uppercase).into_iter().flatten();
    let mut sentence: String = first.chain(letters).collect();
    if !sentence.ends_with(['.', '!', '?']) {
        sentence.push('.');
    }
    sentence
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_become_sentences() {
        assert_eq!(sentence("no plan image"), "No plan image.");
        assert_eq!(sentence("Is there none?"), "Is there none?");
    }
}
