//! What quantising does to a model: a table by tensor, a chart by layer.

use super::figures;
use crate::message::{QuantisationFacts, TensorFacts};
use tilewright_report::short_name;

/// A column of the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Column {
    /// In the order of execution.
    #[default]
    Position,
    /// Name of the layer.
    Layer,
    /// Smallest value.
    Low,
    /// Largest value.
    High,
    Scale,
    /// Share of values beyond int8.
    Saturated,
    /// Signal to noise of the tensor.
    Sqnr,
    /// Signal to noise of the outputs with only this layer int8.
    Alone,
}

/// The order of the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sort {
    /// By which column.
    pub column: Column,
    /// Whether the largest come first.
    pub descending: bool,
}

impl Sort {
    /// The order after a click on a column's head: what is worst comes first.
    #[must_use]
    pub fn clicked(self, column: Column) -> Self {
        if self.column == column {
            return Self { descending: !self.descending, ..self };
        }
        Self {
            column,
            descending: matches!(column, Column::High | Column::Scale | Column::Saturated),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Row<'f> {
    /// Position in the order of execution.
    pub index: usize,
    pub tensor: &'f TensorFacts,
}

/// Rows in this order.
#[must_use]
pub fn rows(facts: &QuantisationFacts, sort: Sort) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> =
        facts.tensors.iter().enumerate().map(|(index, tensor)| Row { index, tensor }).collect();
    // Layers that round nothing come behind all others.
    let alone = |row: &Row<'_>| row.tensor.alone_db.unwrap_or(f64::INFINITY);
    let by = |a: &Row<'_>, b: &Row<'_>| {
        let (x, y) = (a.tensor, b.tensor);
        match sort.column {
            Column::Position => a.index.cmp(&b.index),
            Column::Layer => x.layer.cmp(&y.layer),
            Column::Low => x.range[0].total_cmp(&y.range[0]),
            Column::High => x.range[1].total_cmp(&y.range[1]),
            Column::Scale => x.scale.total_cmp(&y.scale),
            Column::Saturated => x.saturated.total_cmp(&y.saturated),
            Column::Sqnr => x.sqnr_db.total_cmp(&y.sqnr_db),
            Column::Alone => alone(a).total_cmp(&alone(b)),
        }
    };
    rows.sort_by(|a, b| if sort.descending { by(b, a) } else { by(a, b) });
    rows
}

/// A bar of the chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    pub layer: String,
    /// Signal to noise of the outputs with only this layer int8, in decibels.
    pub decibels: f64,
    /// Whether no layer costs more.
    pub is_worst: bool,
}

/// Layers that round, in order of execution; those that change nothing at all are left out.
#[must_use]
pub fn bars(facts: &QuantisationFacts) -> Vec<Bar> {
    let finite = |tensor: &TensorFacts| tensor.alone_db.filter(|decibels| decibels.is_finite());
    let worst = facts.tensors.iter().filter_map(finite).fold(f64::INFINITY, f64::min);
    let bar = |tensor: &TensorFacts| {
        let decibels = finite(tensor)?;
        Some(Bar { layer: tensor.layer.clone(), decibels, is_worst: decibels == worst })
    };
    facts.tensors.iter().filter_map(bar).collect()
}

/// The report in a sentence or two.
#[must_use]
pub fn summary(facts: &QuantisationFacts) -> String {
    let samples =
        |count: u32| if count == 1 { "1 sample".to_owned() } else { format!("{count} samples") };
    let made = if facts.is_random { "made-up " } else { "" };
    let output = match facts.tensors.last() {
        Some(tensor) if tensor.sqnr_db.is_finite() => {
            format!(" The last result is {} dB above its error.", figures::fixed(tensor.sqnr_db, 1))
        }
        Some(_) => " The last result is exact.".to_owned(),
        None => String::new(),
    };
    let worst = bars(facts).into_iter().find(|bar| bar.is_worst).map_or_else(String::new, |bar| {
        let decibels = figures::fixed(bar.decibels, 1);
        let name = short_name(&bar.layer).to_owned();
        format!(" Alone, {name} costs most: {decibels} dB at the outputs.")
    });
    format!(
        "Calibrated by {} on {made}{}, compared with float on {}, layers alone on {}.{output}{worst}",
        facts.rule,
        samples(facts.samples),
        samples(facts.compared),
        samples(facts.examined),
    )
}

/// Decibels for people; `exact` where nothing deviates.
#[must_use]
pub fn decibels(value: f64) -> String {
    if value.is_finite() { format!("{} dB", figures::fixed(value, 1)) } else { "exact".to_owned() }
}

/// A number with four significant digits, small ones too.
#[must_use]
pub fn real(value: f32) -> String {
    let value = f64::from(value);
    let decimals = match value.abs() {
        v if v == 0.0 || v >= 1000.0 => 0,
        v if v >= 100.0 => 1,
        v if v >= 10.0 => 2,
        v if v >= 1.0 => 3,
        v if v >= 0.1 => 4,
        v if v >= 0.01 => 5,
        v if v >= 0.001 => 6,
        _ => 8,
    };
    figures::fixed(value, decimals)
}

/// The table as CSV, in the order of execution.
#[must_use]
pub fn csv(facts: &QuantisationFacts) -> String {
    let mut text =
        String::from("layer,low,high,scale,zero,saturated_percent,sqnr_db,output_sqnr_db\n");
    let finite =
        |value: f64| if value.is_finite() { figures::fixed(value, 3) } else { String::new() };
    for tensor in &facts.tensors {
        let fields = [
            format!("\"{}\"", tensor.layer.replace('"', "\"\"")),
            real(tensor.range[0]),
            real(tensor.range[1]),
            figures::fixed(f64::from(tensor.scale), 9),
            tensor.zero.to_string(),
            figures::fixed(tensor.saturated * 100.0, 6),
            finite(tensor.sqnr_db),
            tensor.alone_db.map(finite).unwrap_or_default(),
        ];
        text.push_str(&fields.join(","));
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> QuantisationFacts {
        let tensor =
            |layer: &str, sqnr_db: f64, alone_db: Option<f64>, saturated: f64| TensorFacts {
                layer: layer.to_owned(),
                range: [-1.0, 2.5],
                scale: 0.0137,
                zero: -55,
                saturated,
                sqnr_db,
                alone_db,
            };
        QuantisationFacts {
            rule: "minmax".to_owned(),
            samples: 32,
            compared: 8,
            examined: 1,
            is_random: false,
            tensors: vec![
                tensor("input", 51.0, Some(60.0), 0.0),
                tensor("conv", 40.0, Some(33.25), 0.01),
                tensor("reshape", 40.0, None, 0.0),
                tensor("softmax", f64::INFINITY, Some(f64::INFINITY), 0.0),
            ],
        }
    }

    #[test]
    fn what_is_worst_comes_first_and_what_rounds_nothing_last() {
        let facts = facts();
        let names = |sort: Sort| -> Vec<&str> {
            rows(&facts, sort).into_iter().map(|row| row.tensor.layer.as_str()).collect()
        };
        assert_eq!(names(Sort::default()), ["input", "conv", "reshape", "softmax"]);
        let alone = Sort::default().clicked(Column::Alone);
        assert_eq!(names(alone)[..2], ["conv", "input"]);
        assert_eq!(names(Sort::default().clicked(Column::Saturated))[0], "conv");
        assert_eq!(
            names(Sort::default().clicked(Column::Sqnr).clicked(Column::Sqnr))[0],
            "softmax"
        );
    }

    #[test]
    fn bars_are_of_layers_that_round_and_the_worst_is_marked() {
        let bars = bars(&facts());
        let seen: Vec<_> = bars.iter().map(|bar| (&*bar.layer, bar.is_worst)).collect();
        assert_eq!(seen, [("input", false), ("conv", true)]);
        let text = summary(&facts());
        for part in ["minmax", "32 samples", "1 sample.", "exact", "conv costs most: 33.3 dB"] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn small_numbers_keep_their_digits() {
        assert_eq!(real(0.0137), "0.01370");
        assert_eq!(real(-12.5), "-12.50");
        assert_eq!(real(0.0), "0");
        assert_eq!(real(0.000_004_5), "0.00000450");
        assert_eq!(decibels(f64::INFINITY), "exact");
    }

    #[test]
    fn csv_has_a_line_for_each_tensor() {
        let text = csv(&facts());
        assert_eq!(text.lines().count(), 5);
        assert!(
            text.contains("\"conv\",-1.000,2.500,0.013700000,-55,1.000000,40.000,33.250"),
            "{text}"
        );
        assert!(text.contains("\"softmax\",-1.000,2.500,0.013700000,-55,0.000000,,\n"), "{text}");
    }
}
