//! Searching cells: what the search's worker does, a step for each request.

use std::sync::Arc;

use tilewright_formats::LabelledImages;
use tilewright_report::{Diagnostic, sentence};
use tilewright_search::{Row, Samples, Search, SearchError, Settings, TradeOff};

use super::Outcome;
use super::labelled::labelled;
use super::searches::cells;
use crate::message::{SearchNews, SearchRequest, SearchSettings, SearchStep, trouble};

/// Height and width that images are resized to.
const SIDE: usize = 16;

/// Images that are taken at most.
const MOST_IMAGES: usize = 8192;

/// The worker between requests.
#[derive(Default)]
pub struct Searcher {
    search: Option<Search>,
}

impl Searcher {
    /// Answers a request.
    ///
    /// # Errors
    /// What is wrong with the images or the settings; that there is no search to go on with.
    pub fn answer(&mut self, request: SearchRequest, buffers: &[Vec<u8>]) -> Outcome<SearchNews> {
        let news = match request {
            SearchRequest::Begin(settings) => {
                self.search = None;
                let search = begun(&settings, buffers)?;
                news(self.search.insert(search), 0, None)?
            }
            SearchRequest::GoOn { known } => {
                let search = self.search.as_mut().ok_or_else(gone)?;
                match search.advance() {
                    Ok(_) => news(search, known, None)?,
                    Err(SearchError::Diverged(how)) => news(search, known, Some(how.to_string()))?,
                    Err(error) => return Err(wrong(&error)),
                }
            }
        };
        Ok((news, Vec::new()))
    }
}

fn gone() -> Diagnostic {
    trouble("There is no search to go on with", "", "Begin another one.")
}

fn wrong(error: &SearchError) -> Diagnostic {
    trouble("These cells cannot be searched", sentence(&error.to_string()), "Choose another size.")
}

fn begun(chosen: &SearchSettings, files: &[Vec<u8>]) -> Result<Search, Diagnostic> {
    let LabelledImages { height, width, pixels, labels } = labelled(files, MOST_IMAGES)?;
    let samples = Samples::new(&pixels, [height, width], &labels, SIDE);
    let samples = samples.map_err(|error| {
        let what_to_do = "Give images that are larger.";
        trouble(
            "No cells can be searched with these images",
            sentence(&error.to_string()),
            what_to_do,
        )
    })?;
    let size = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    let settings = Settings {
        trade_off: TradeOff::weighing(chosen.trade_off),
        seed: chosen.seed.into(),
        steps: size(chosen.steps),
        cells: size(chosen.cells),
        channels: size(chosen.channels),
        ..Settings::default()
    };
    Search::new(settings, Arc::new(samples)).map_err(|error| wrong(&error))
}

fn news(search: &Search, known: u32, diverged: Option<String>) -> Result<SearchNews, Diagnostic> {
    let known = usize::try_from(known).unwrap_or(usize::MAX);
    Ok(SearchNews {
        images: count(search.samples().images()),
        steps: search.log().iter().skip(known).map(step).collect(),
        found: cells(search.genotype().map_err(|error| wrong(&error))?),
        diverged,
    })
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn step(row: &Row) -> SearchStep {
    SearchStep {
        step: count(row.step),
        loss: row.validation_loss,
        accuracy: row.validation_accuracy,
        cost: row.validation_cost,
        cells: [row.normal_cost, row.reduction_cost],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IMAGES: &[u8] = include_bytes!("../../../models/fashion-mobilenet.calibration.npy");

    fn small() -> SearchSettings {
        SearchSettings { cells: 3, channels: 2, steps: 2, ..SearchSettings::default() }
    }

    #[test]
    fn a_search_goes_on_step_by_step_and_says_what_the_page_does_not_know() {
        let mut searcher = Searcher::default();
        let trouble = searcher.answer(SearchRequest::GoOn { known: 0 }, &[]).unwrap_err();
        assert!(trouble.what.contains("no search"), "{trouble:?}");
        let begin = SearchRequest::Begin(small());
        let (news, _) = searcher.answer(begin, &[IMAGES.to_vec()]).unwrap();
        assert_eq!((news.images, news.steps.len()), (128, 0));
        assert_eq!(news.found.reduction.nodes.len(), 4);
        let mut steps = |known| {
            let (news, _) = searcher.answer(SearchRequest::GoOn { known }, &[]).unwrap();
            news.steps.iter().map(|step| step.step).collect::<Vec<_>>()
        };
        assert_eq!(steps(0), [1]);
        assert_eq!(steps(0), [1, 2], "the answer before was not taken");
        assert_eq!(steps(2), [0; 0], "all is done");
    }

    #[test]
    fn what_is_impossible_is_said() {
        let mut searcher = Searcher::default();
        let mut said = |settings, files: &[Vec<u8>]| {
            let request = SearchRequest::Begin(settings);
            searcher.answer(request, files).unwrap_err().place
        };
        assert!(said(small(), &[b"picture".to_vec()]).contains("array is wrong"));
        let odd = SearchSettings { channels: 3, ..small() };
        assert!(said(odd, &[IMAGES.to_vec()]).contains("channels"));
    }
}
