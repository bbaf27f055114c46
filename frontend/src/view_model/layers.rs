//! The table of operators.

use serde::{Deserialize, Serialize};
use tilewright_report::{LayerCount, WeightPacking};

use super::figures;
use crate::message::PlanFacts;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Column {
    /// Position in the order of execution.
    #[default]
    Position,
    Name,
    /// Kernel.
    Op,
    /// Bytes of the output.
    Output,
    /// Multiply-accumulates.
    Macs,
    Parameters,
    /// Predicted cycles.
    Predicted,
    /// Predicted time.
    Time,
    /// Counted instructions.
    Counted,
    /// Counted against predicted.
    Deviation,
}

impl Column {
    /// Short name, for attributes.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Position => "position",
            Self::Name => "name",
            Self::Op => "op",
            Self::Output => "output",
            Self::Macs => "macs",
            Self::Parameters => "parameters",
            Self::Predicted => "predicted",
            Self::Time => "time",
            Self::Counted => "counted",
            Self::Deviation => "deviation",
        }
    }
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
    /// The order after a click on a column's head: numbers begin with the largest.
    #[must_use]
    pub fn clicked(self, column: Column) -> Self {
        if self.column == column {
            return Self { descending: !self.descending, ..self };
        }
        let ascends = matches!(column, Column::Position | Column::Name | Column::Op);
        Self { column, descending: !ascends }
    }
}

/// What kind of work an operator does; decides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Family {
    /// Convolution.
    Conv,
    /// Depthwise convolution.
    Depthwise,
    /// Fully connected.
    Dense,
    /// Pooling.
    Pool,
    /// Everything else.
    Other,
}

impl Family {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Conv, Self::Depthwise, Self::Dense, Self::Pool, Self::Other];

    /// The family of a kernel, by its name in reports.
    #[must_use]
    pub fn of(kernel: &str) -> Self {
        match kernel {
            "conv" | "conv_max_pool" | "transpose_conv" => Self::Conv,
            "depthwise" => Self::Depthwise,
            "fully_connected" => Self::Dense,
            "max_pool" | "average_pool" | "mean" => Self::Pool,
            _ => Self::Other,
        }
    }

    /// The ending of its colour's name in the style sheet.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Conv => "conv",
            Self::Depthwise => "depthwise",
            Self::Dense => "dense",
            Self::Pool => "pool",
            Self::Other => "other",
        }
    }

    /// Name for people.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Conv => "convolution",
            Self::Depthwise => "depthwise",
            Self::Dense => "fully connected",
            Self::Pool => "pooling",
            Self::Other => "other",
        }
    }
}

/// A kernel's name for people.
#[must_use]
pub fn kernel_title(kernel: &str) -> String {
    kernel.replace('_', " ")
}

#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Position in the order of execution: what a selection names.
    pub index: usize,
    pub name: String,
    /// Kernel, for people.
    pub op: String,
    /// Colour.
    pub family: Family,
    /// Shapes of the inputs.
    pub inputs: String,
    /// Shape of the output.
    pub output: String,
    pub output_bytes: u64,
    /// Multiply-accumulates.
    pub macs: u64,
    pub parameters: u64,
    /// Predicted cycles.
    pub predicted: u64,
    /// Predicted time in microseconds.
    pub time_us: f64,
    /// Share of the predicted time, 0 to 1.
    pub share: f64,
    /// Counted instructions, after a run of this plan.
    pub counted: Option<u64>,
    /// Cycles of the run over those predicted, in per cent.
    pub deviation: Option<f64>,
}

/// What another packing of a layer's weights than pairs changes.
#[must_use]
pub fn packing(packing: &WeightPacking, plan: &PlanFacts) -> String {
    let cycles = tilewright_plan::Cycles(packing.saved_cycles.unsigned_abs());
    let time = figures::duration(cycles.at(plan.timeline.clock_hz).0);
    let changed = if packing.saved_cycles < 0.into() { "more" } else { "less" };
    if packing.more_flash_bytes == 0 {
        return format!("{}: {time} {changed} (modelled)", packing.name);
    }
    let bytes = figures::bytes(packing.more_flash_bytes.unsigned_abs());
    let flash = if packing.more_flash_bytes < 0.into() { "less" } else { "more" };
    format!("{}: {bytes} of flash {flash} (counted), {time} {changed} (modelled)", packing.name)
}

/// The rows that hold the filter's text, in order.
#[must_use]
pub fn rows(plan: &PlanFacts, counts: Option<&[LayerCount]>, sort: Sort, filter: &str) -> Vec<Row> {
    let clock = plan.timeline.clock_hz;
    let total: u64 = plan.report.layers.iter().map(|layer| *layer.cycles).sum();
    let filter = filter.trim().to_ascii_lowercase();
    let mut rows: Vec<Row> = plan
        .report
        .layers
        .iter()
        .enumerate()
        .map(|(index, layer)| {
            let ran = counts.and_then(|counts| counts.get(index));
            let predicted = *layer.cycles as f64;
            Row {
                index,
                name: layer.name.clone(),
                op: match &layer.no_kernel {
                    None => match &layer.packing {
                        Some(packing) => format!("{}, {}", kernel_title(&layer.op), packing.name),
                        None => kernel_title(&layer.op),
                    },
                    Some(_) => format!("{}: no kernel", layer.op),
                },
                family: Family::of(&layer.op),
                inputs: join(layer.inputs.iter().map(|shape| figures::shape(*shape))),
                output: figures::shape(layer.output),
                output_bytes: layer.output.iter().map(|dim| u64::from(*dim)).product(),
                macs: *layer.macs,
                parameters: *layer.parameters,
                predicted: *layer.cycles,
                time_us: tilewright_plan::Cycles(*layer.cycles).at(clock).0,
                share: if total == 0 { 0.0 } else { *layer.cycles as f64 / total as f64 },
                counted: ran.map(|ran| ran.instructions).map(|figure| *figure),
                deviation: ran
                    .filter(|_| layer.cycles > 0.into())
                    .map(|ran| (ran.cycles.0 as f64 - predicted) / predicted * 100.0),
            }
        })
        .filter(|row| {
            filter.is_empty()
                || row.name.to_ascii_lowercase().contains(&filter)
                || row.op.to_ascii_lowercase().contains(&filter)
                || row.output.contains(&filter)
        })
        .collect();
    let deviation = |row: &Row| row.deviation.unwrap_or(0.0).abs();
    let by = |a: &Row, b: &Row| match sort.column {
        Column::Position => a.index.cmp(&b.index),
        Column::Name => a.name.cmp(&b.name),
        Column::Op => a.op.cmp(&b.op),
        Column::Output => a.output_bytes.cmp(&b.output_bytes),
        Column::Macs => a.macs.cmp(&b.macs),
        Column::Parameters => a.parameters.cmp(&b.parameters),
        Column::Predicted => a.predicted.cmp(&b.predicted),
        Column::Time => a.time_us.total_cmp(&b.time_us),
        Column::Counted => a.counted.cmp(&b.counted),
        Column::Deviation => deviation(a).total_cmp(&deviation(b)),
    };
    rows.sort_by(|a, b| if sort.descending { by(b, a) } else { by(a, b) });
    rows
}

fn join(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(" + ")
}

/// The table as CSV, in the order of execution.
#[must_use]
pub fn csv(plan: &PlanFacts, counts: Option<&[LayerCount]>) -> String {
    let mut text = String::from(
        "position,name,op,inputs,output,macs,parameters,predicted_cycles,\
         predicted_time_us,counted_instructions\n",
    );
    for row in rows(plan, counts, Sort::default(), "") {
        let quoted = |value: &str| format!("\"{}\"", value.replace('"', "\"\""));
        let fields = [
            row.index.to_string(),
            quoted(&row.name),
            quoted(&row.op),
            quoted(&row.inputs),
            quoted(&row.output),
            row.macs.to_string(),
            row.parameters.to_string(),
            row.predicted.to_string(),
            figures::fixed(row.time_us, 3),
            row.counted.map(|counted| counted.to_string()).unwrap_or_default(),
        ];
        text.push_str(&fields.join(","));
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view_model::fixture;

    #[test]
    fn rows_sort_and_filter() {
        let plan = fixture::plan();
        let names = |sort, filter: &str| -> Vec<String> {
            rows(&plan, None, sort, filter).into_iter().map(|row| row.name).collect()
        };
        assert_eq!(names(Sort::default(), ""), ["first", "second", "third"]);
        let by_macs = Sort::default().clicked(Column::Macs);
        assert_eq!(names(by_macs, ""), ["second", "first", "third"]);
        assert_eq!(names(by_macs.clicked(Column::Macs), ""), ["third", "first", "second"]);
        assert_eq!(names(Sort::default(), " FULLY"), ["second"]);
        assert!(names(Sort::default(), "nothing like it").is_empty());
    }

    #[test]
    fn a_run_puts_counts_beside_predictions() {
        let plan = fixture::plan();
        let counts = fixture::counts();
        let rows = rows(&plan, Some(&counts), Sort::default(), "");
        assert_eq!(rows[0].counted, Some(1_100));
        assert!(rows[0].deviation.is_some_and(|d| (d - 40.0 / 21.6).abs() < 1e-9));
        assert!((rows.iter().map(|row| row.share).sum::<f64>() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn csv_has_a_line_for_each_operator() {
        let text = csv(&fixture::plan(), Some(&fixture::counts()));
        assert_eq!(text.lines().count(), 4);
        assert!(text.contains("0,\"first\",\"conv\",\"4×4×1\",\"4×4×2\",288,20,2160,"), "{text}");
    }
}
