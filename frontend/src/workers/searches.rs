//! Searches for cells that were logged, as `frontend/data/searches.txt` has them.

use tilewright_zoo::Stack;
use tilewright_zoo::cells::{Genotype, Stacked};

use super::cells::draft;
use crate::message::{CellDraft, SearchLog, SearchStep};

const TEXT: &str = include_str!("../../data/searches.txt");

/// All of them, by trade-off.
#[must_use]
pub fn logged() -> Vec<SearchLog> {
    let mut all: Vec<SearchLog> = Vec::new();
    for line in TEXT.lines().filter(|line| !line.starts_with('#')) {
        if let Some(trade_off) = line.strip_prefix("trade-off ").and_then(|text| text.parse().ok())
        {
            all.push(SearchLog { trade_off, ..SearchLog::default() });
        } else if let Some(log) = all.last_mut() {
            match line.parse() {
                Ok(genotype) => log.found = cells(genotype),
                Err(_) => log.steps.extend(step(line)),
            }
        }
    }
    all.sort_by(|a, b| a.trade_off.total_cmp(&b.trade_off));
    all
}

/// The cells of a genotype in some size.
#[must_use]
pub fn cells(genotype: Genotype) -> CellDraft {
    draft(&Stacked { genotype, stack: Stack::USUAL })
}

fn step(line: &str) -> Option<SearchStep> {
    let mut words = line.split(' ');
    let mut number = || words.next()?.parse::<f64>().ok();
    let (step, loss, accuracy, cost) = (number()?, number()?, number()?, number()?);
    let cells = [number()? as u64, number()? as u64];
    Some(SearchStep { step: step as u32, loss, accuracy, cost, cells })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_logs_is_read_and_cheaper_cells_come_of_larger_weights() {
        let logged = logged();
        let weights: Vec<f64> = logged.iter().map(|log| log.trade_off).collect();
        assert_eq!(weights, [0.0, 0.01, 0.02, 0.04]);
        for log in &logged {
            let steps: Vec<u32> = log.steps.iter().map(|step| step.step).collect();
            assert_eq!(steps, (1..=40).map(|index| 5 * index).collect::<Vec<_>>());
            assert_eq!(log.found.normal.nodes.len(), 4);
        }
        let costs = logged.iter().map(|log| log.steps[39].cells.iter().sum::<u64>());
        assert!(costs.is_sorted_by(|more, less| more > less));
    }
}
