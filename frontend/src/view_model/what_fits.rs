//! What fits a small board: a matrix, flash against SRAM with what is feasible, and latencies.

use tilewright_report::{Family, FitCell, FitReport, Technique};

use super::figures;

/// A network with each technique.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its name.
    pub title: String,
    /// Top-1 accuracy in per cent.
    pub accuracy: String,
    /// A cell for each technique.
    pub cells: Vec<Mark>,
}

/// A network with a technique.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    pub technique: Technique,
    /// The predicted latency.
    pub latency: String,
    /// What it has too little of; empty if it fits.
    pub lacks: String,
    /// All that is known, in words.
    pub title: String,
    /// SRAM and flash as parts of the largest of all.
    pub place: [f64; 2],
    /// Latency as a part of the longest; below zero: it does not fit.
    pub bar: f64,
}

/// The experiment with a family of networks.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// Networks, the most accurate first.
    pub rows: Vec<Row>,
    /// SRAM and flash of the board, as parts of the largest of all.
    pub limits: [f64; 2],
    /// The same in words.
    pub limit_words: [String; 2],
    /// The ends of both axes in words.
    pub ends: [String; 2],
}

/// The view of a family.
#[must_use]
pub fn view(report: &FitReport, family: Family) -> View {
    let cells: Vec<&FitCell> = report.cells.iter().filter(|cell| cell.family == family).collect();
    let limits = cells.first().map_or([1, 1], |cell| cell.limits);
    let most = |figure: fn(&FitCell) -> u64, limit: u64| {
        cells.iter().map(|cell| figure(cell)).fold(limit, u64::max).max(1)
    };
    let ends = [most(|cell| cell.sram_bytes, limits[0]), most(|cell| cell.flash_bytes, limits[1])];
    let slowest = cells.iter().filter_map(|cell| cell.latency_us).fold(1.0, f64::max);
    let part = |value: u64, end: u64| value as f64 / end as f64;
    let mark = |cell: &FitCell| {
        let latency = cell.latency_us.map_or_else(String::new, figures::duration);
        let lacks = cell.lacks().join(", ");
        let says = if lacks.is_empty() { "fits".to_owned() } else { format!("too little {lacks}") };
        let published = cell.published_sram_bytes.map_or_else(String::new, |bytes| {
            format!(" ({} by the paper's count)", figures::binary(bytes))
        });
        let again = match cell.recomputed_macs {
            0 => String::new(),
            macs => format!(", {} MACs made again", figures::compact(macs)),
        };
        let bar = cell.latency_us.unwrap_or(0.0) / slowest;
        Mark {
            technique: cell.technique,
            title: format!(
                "{}, {}: {says}. {} of SRAM{published}, {} of flash (counted), {latency} (modelled){again}",
                cell.title(),
                cell.technique.name(),
                figures::binary(cell.sram_bytes),
                figures::binary(cell.flash_bytes),
            ),
            place: [part(cell.sram_bytes, ends[0]), part(cell.flash_bytes, ends[1])],
            bar: if cell.fits { bar } else { -bar },
            latency,
            lacks,
        }
    };
    let rows = cells.chunks(Technique::ALL.len()).map(|cells| Row {
        title: cells.first().map_or_else(String::new, |cell| cell.title()),
        accuracy: cells.first().map_or_else(String::new, |cell| {
            format!("{} %", figures::fixed(f64::from(cell.accuracy_permille) / 10.0, 1))
        }),
        cells: cells.iter().map(|cell| mark(cell)).collect(),
    });
    View {
        rows: rows.collect(),
        limits: [part(limits[0], ends[0]), part(limits[1], ends[1])],
        limit_words: limits.map(figures::binary),
        ends: ends.map(figures::binary),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(technique: Technique, sram_bytes: u64, latency_us: f64) -> FitCell {
        FitCell {
            network: "n".to_owned(),
            family: Family::V1,
            width: "1.00".to_owned(),
            resolution: 192,
            accuracy_permille: 692,
            technique,
            sram_bytes,
            published_sram_bytes: None,
            flash_bytes: 50,
            limits: [100, 200],
            latency_us: Some(latency_us),
            macs: 10,
            recomputed_macs: 0,
            fits: sram_bytes <= 100,
        }
    }

    #[test]
    fn what_does_not_fit_has_a_bar_below_zero_and_a_place_outside() {
        let cells: Vec<FitCell> = Technique::ALL
            .into_iter()
            .zip([400, 100, 50, 40, 30])
            .map(|(technique, sram)| cell(technique, sram, 1000.0))
            .collect();
        let report = FitReport { board: "b".to_owned(), cells, claims: Vec::new() };
        let view = view(&report, Family::V1);
        assert_eq!((view.rows.len(), view.limits), (1, [0.25, 1.0]));
        let row = &view.rows[0];
        assert_eq!((row.title.as_str(), row.accuracy.as_str()), ("MobileNetV1 1.00@192", "69.2 %"));
        assert_eq!(row.cells[0].place, [1.0, 0.25]);
        let bars: Vec<f64> = row.cells.iter().map(|mark| mark.bar).collect();
        assert_eq!(bars, [-1.0, 1.0, 1.0, 1.0, 1.0]);
        assert_eq!([&*row.cells[0].lacks, &*row.cells[1].lacks], ["SRAM", ""]);
        assert!(super::view(&report, Family::V2).rows.is_empty());
    }
}
