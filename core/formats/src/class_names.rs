//! Class names as the files of models hold them: in lines, or in a list of Ultralytics' exporter.

use tilewright_model::{Model, may_name};

/// The key of class names among what a model's file says of itself: a name a line, or between commas.
const KEY: &str = "labels";
/// Most bytes of all names: ImageNet's thousand have 22 KB.
pub(crate) const MOST_BYTES: usize = 1 << 20;

/// Makes these the model's class names, unless it has some or there are none.
pub(crate) fn name_classes(model: &mut Model, names: &[String]) {
    if !names.is_empty() && !model.metadata.contains_key(KEY) {
        model.metadata.insert(KEY.to_owned(), names.join("\n"));
    }
}

/// Makes the names of a file, a name a line, the model's class names, whatever its own file says; with a note if no output
/// has as many classes.
pub fn take_class_file(model: &mut Model, file: &str, bytes: &[u8]) {
    let names = in_lines(&String::from_utf8_lossy(&bytes[..bytes.len().min(MOST_BYTES)]));
    let shapes = model.outputs.iter().map(|output| model.tensor(*output).shape.dims());
    if !shapes.clone().any(|shape| may_name(names.len(), shape)) {
        let sizes: Vec<String> = shapes.filter_map(|s| s.last()).map(ToString::to_string).collect();
        let (count, sizes) = (names.len(), sizes.join(", "));
        model.notes.push(format!(
            "{file} has {count} class names, but the outputs have {sizes} values: it is left out."
        ));
        return;
    }
    model.metadata.remove(KEY);
    name_classes(model, &names);
}

/// A name a line. Where each line begins with its own number ("0 tench", "1: goldfish"), the numbers are left out.
pub(crate) fn in_lines(text: &str) -> Vec<String> {
    let text = text.trim_start_matches('\u{feff}').trim_end();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let unnumbered = |(index, line): (usize, &&str)| {
        let rest = line.strip_prefix(&index.to_string())?;
        let name = rest.trim_start_matches([':', ' ', '\t']);
        (rest.len() > name.len() && !name.is_empty()).then(|| name.to_owned())
    };
    let unnumbered: Option<Vec<String>> = lines.iter().enumerate().map(unnumbered).collect();
    match unnumbered {
        Some(names) => names,
        None => lines.iter().map(|line| (*line).to_owned()).collect(),
    }
}

/// The names of a list such as `{0: 'person', 1: 'car'}`, `{"0": "person"}` or `['person', 'car']`: what is between
/// quotes and is no key.
pub(crate) fn in_list(text: &str) -> Vec<String> {
    let mut rest = text.trim_start_matches(|c| c != '{' && c != '[').get(1..).unwrap_or_default();
    let mut names = Vec::new();
    while let Some(at) = rest.find(['\'', '"', '}', ']']) {
        let mut after = rest[at..].chars();
        let Some(quote @ ('\'' | '"')) = after.next() else { break };
        let Some((name, behind)) = after.as_str().split_once(quote) else { break };
        if !behind.trim_start().starts_with(':') {
            names.push(name.replace('\n', " "));
        }
        rest = behind;
    }
    names
}

/// The names in a text of several such lists, of which one is called `names`.
pub(crate) fn of_exporter(text: &str) -> Vec<String> {
    let lists = ["'names':", "\"names\":"].iter().find_map(|key| text.split_once(key));
    lists.map(|(_, list)| in_list(list)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_in_lines_with_or_without_numbers() {
        assert_eq!(
            in_lines("\u{feff}tench, Tinca tinca\r\n???\r\ncock\r\n\n"),
            ["tench, Tinca tinca", "???", "cock"]
        );
        assert_eq!(in_lines("0  background\n1: tench"), ["background", "tench"]);
        assert_eq!(in_lines("0\n1\n2"), ["0", "1", "2"], "digits are names");
        assert_eq!(in_lines("1 one\n2 two"), ["1 one", "2 two"], "numbers of something else");
        assert!(in_lines("").is_empty());
    }

    #[test]
    fn lists_of_the_exporter_are_read_in_each_notation() {
        for list in
            ["{0: 'a b', 1: \"c's\"}", "{\"0\": \"a b\", \"1\": \"c's\"}", "['a b', \"c's\"]"]
        {
            assert_eq!(in_list(list), ["a b", "c's"], "{list}");
            let whole = format!("{{'stride': 32, 'names': {list}, 'task': 'detect'}}");
            assert_eq!(of_exporter(&whole), ["a b", "c's"], "{list}");
        }
        for broken in ["", "{", "{'", "{0: 'a", "é'", "]'a'"] {
            assert!(in_list(broken).is_empty(), "{broken}");
        }
        assert!(of_exporter("{'stride': 32}").is_empty());
    }
}
