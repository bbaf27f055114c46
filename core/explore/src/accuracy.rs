//! Tables of accuracies, as comma-separated values: a row a network, by the columns [`COLUMNS`]. Lines that begin with
//! `#` are remarks.

use std::collections::BTreeMap;

use thiserror::Error;
use tilewright_report::Accuracy;

/// The first line: the network's name in the zoo, its accuracies in per cent, and who says so. FP32 and source may be
/// empty.
pub const COLUMNS: [&str; 4] = ["network", "int8_percent", "fp32_percent", "source"];

/// What is wrong with a table, and in which line of it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {reason}")]
pub struct AccuracyError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong with it.
    pub reason: String,
}

/// Networks of known accuracy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AccuracyTable {
    by_network: BTreeMap<String, Entry>,
}

#[derive(Clone, Debug, PartialEq)]
struct Entry {
    accuracy: Accuracy,
    line: usize,
}

impl AccuracyTable {
    /// Tables 4.6, 5.1 and 5.2 of Sadiq's thesis.
    ///
    /// # Errors
    /// None, as tests show.
    pub fn published() -> Result<Self, AccuracyError> {
        Self::read(include_str!("../data/thesis_accuracy.csv"))
    }

    /// Reads a table.
    ///
    /// # Errors
    /// If it has other columns, a row with too few or too many fields, no accuracy or an impossible one, a network
    /// that the zoo does not have, the same network twice, or no row at all.
    pub fn read(text: &str) -> Result<Self, AccuracyError> {
        let lines = text.trim_start_matches('\u{feff}').lines().zip(1..);
        let mut lines = lines.filter(|(text, _)| !text.trim().is_empty() && !text.starts_with('#'));
        let columns = COLUMNS.join(",");
        let wrong = |line, reason| Err(AccuracyError { line, reason });
        match lines.next() {
            Some((head, line)) if fields(head) != Ok(COLUMNS.map(str::to_owned).to_vec()) => {
                return wrong(line, format!("'{head}' stands where the columns {columns} must"));
            }
            Some(_) => {}
            None => return wrong(1, format!("there is nothing; begin with the columns {columns}")),
        }
        let mut by_network: BTreeMap<String, Entry> = BTreeMap::new();
        let mut last = 1;
        for (text, line) in lines {
            last = line;
            let (network, accuracy) = row(text).map_err(|reason| AccuracyError { line, reason })?;
            if let Some(first) = by_network.get(&network) {
                return wrong(line, format!("{network} again, which line {} has", first.line));
            }
            by_network.insert(network, Entry { accuracy, line });
        }
        if by_network.is_empty() {
            return wrong(last, "no row follows the columns".to_owned());
        }
        Ok(Self { by_network })
    }

    /// How many networks there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_network.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_network.is_empty()
    }

    /// What it has of a network, by its name without sizes that are as usual.
    #[must_use]
    pub fn of(&self, network: &str) -> Option<&Accuracy> {
        self.by_network.get(network).map(|entry| &entry.accuracy)
    }
}

/// The network of a row, and its accuracy.
fn row(text: &str) -> Result<(String, Accuracy), String> {
    let fields = fields(text)?;
    let [network, int8, fp32, source] = fields.as_slice() else {
        let (found, expected) = (fields.len(), COLUMNS.len());
        return Err(format!("{found} fields where {expected} columns are"));
    };
    let network = tilewright_zoo::canonical(network.trim_start_matches("zoo:"))
        .map_err(|error| error.to_string())?;
    let int8_percent = percent(int8)?.ok_or("no int8_percent: an accuracy is never guessed")?;
    let accuracy = Accuracy {
        int8_percent: int8_percent.into(),
        fp32_percent: percent(fp32)?.map(Into::into),
        source: source.clone(),
    };
    Ok((network, accuracy))
}

fn percent(text: &str) -> Result<Option<f64>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    match text.parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(Some(percent)),
        Ok(_) => Err(format!("'{text}' is no accuracy from 0 to 100 per cent")),
        Err(_) => Err(format!("'{text}' is no number, such as 68.19")),
    }
}

/// The fields of a line; one in quotes may have commas, and quotes twice.
fn fields(line: &str) -> Result<Vec<String>, String> {
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        let (field, behind) = match rest.trim_start().strip_prefix('"') {
            None => match rest.split_once(',') {
                None => (rest.trim().to_owned(), None),
                Some((field, behind)) => (field.trim().to_owned(), Some(behind)),
            },
            Some(quoted) => in_quotes(quoted)?,
        };
        fields.push(field);
        match behind {
            None => return Ok(fields),
            Some(behind) => rest = behind,
        }
    }
}

/// A field behind its first quote, and what is behind the comma after it.
fn in_quotes(text: &str) -> Result<(String, Option<&str>), String> {
    let mut field = String::new();
    let mut rest = text;
    loop {
        let (part, behind) =
            rest.split_once('"').ok_or("a quote is opened, but not closed on this line")?;
        field.push_str(part);
        match behind.strip_prefix('"') {
            Some(behind) => {
                field.push('"');
                rest = behind;
            }
            None => {
                let behind = behind.trim();
                return match behind.strip_prefix(',') {
                    Some(behind) => Ok((field, Some(behind))),
                    None if behind.is_empty() => Ok((field, None)),
                    None => Err(format!("'{behind}' stands behind a closed quote")),
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "network,int8_percent,fp32_percent,source\n";

    #[test]
    fn the_published_table_is_whole() {
        let table = AccuracyTable::published().unwrap();
        assert_eq!(table.len(), 25);
        let best = table.of("mobilenet-v3-thesis-r208").unwrap();
        assert_eq!((*best.int8_percent, best.fp32_percent.map(|fp32| *fp32)), (70.67, Some(71.32)));
        assert_eq!(best.source, "table 5.2");
        let mcunet = table.of("mcunet-in3").unwrap();
        assert_eq!(mcunet.source, "tables 4.6 and 5.1, MCUNetV1-F746");
        for (network, entry) in &table.by_network {
            let fp32 = entry.accuracy.fp32_percent.unwrap();
            assert!(fp32 > entry.accuracy.int8_percent, "{network}");
        }
    }

    #[test]
    fn names_are_those_of_the_zoo_in_any_spelling() {
        let text = format!(
            "\u{feff}# ours\r\n{HEAD}\r\nzoo:MobileNet-V2-r224-w0.50 , 65 ,,\"a \"\"b\"\", c\"\r\n"
        );
        let table = AccuracyTable::read(&text).unwrap();
        let accuracy = table.of("mobilenet-v2-w0.5").unwrap();
        assert_eq!(accuracy.int8_percent, 65.0);
        assert_eq!(accuracy.fp32_percent, None);
        assert_eq!(accuracy.source, "a \"b\", c");
    }

    #[test]
    fn what_is_wrong_says_where() {
        for (rows, line, said) in [
            ("lenet5,99", 2, "2 fields where 4 columns are"),
            ("lenet5,99,,me,too", 2, "5 fields"),
            ("lenet5,,99,me", 2, "no int8_percent"),
            ("lenet5,high,99,me", 2, "'high' is no number"),
            ("lenet5,NaN,99,me", 2, "'NaN' is no accuracy"),
            ("lenet5,99,100.1,me", 2, "'100.1' is no accuracy from 0 to 100"),
            ("lenet5,-1,,me", 2, "'-1' is no accuracy"),
            ("lenet5,99,,me\n\nlenet6,1,,me", 4, "the nearest are lenet5"),
            ("mobilenet-v2-w9,99,,me", 2, "takes 0.05 to 2"),
            ("mobilenet-v2,70,,a\nmobilenet-v2-w1.0,71,,b", 3, "mobilenet-v2 again, which line 2"),
            ("lenet5,99,,\"me", 2, "not closed"),
            ("lenet5,99,,\"me\" too", 2, "'too' stands behind"),
            ("# nothing", 1, "no row follows"),
        ] {
            let error = AccuracyTable::read(&format!("{HEAD}{rows}\n")).unwrap_err();
            assert_eq!(error.line, line, "{rows}: {error}");
            assert!(error.reason.contains(said), "{rows}: {error}");
        }
        for text in ["", "#\n", "\u{feff}"] {
            assert!(AccuracyTable::read(text).unwrap_err().reason.contains("nothing"), "{text:?}");
        }
        let error = AccuracyTable::read("name,top1\nlenet5,99\n").unwrap_err();
        assert!(error.reason.contains("network,int8_percent,fp32_percent,source"), "{error}");
    }
}
