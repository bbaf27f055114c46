//! Papers' figures beside ours.

use std::rc::Rc;

use super::{Effect, Job, Place, State};
use tilewright_report::{PaperFigure, PaperReport};

/// A paper, and how far its figures are.
#[derive(Clone, Debug, PartialEq)]
pub struct PaperSoFar {
    /// With the figures of all parts that are done.
    pub report: Rc<PaperReport>,
    /// How many parts are done.
    pub done: usize,
}

impl PaperSoFar {
    /// Whether all figures are there.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.done >= self.report.parts
    }
}

/// All papers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Papers {
    /// Whether they are shown.
    pub is_open: bool,
    /// Each of them, once they are known.
    pub all: Vec<PaperSoFar>,
    /// Which one is shown.
    pub shown: usize,
}

impl State {
    pub(super) fn show_papers(&mut self, is_open: bool, effects: &mut Vec<Effect>) {
        self.papers.is_open = is_open;
        if is_open && self.papers.all.is_empty() && self.task(Job::Papers).is_none() {
            self.clear(Place::Papers);
            let request = self.begin(Job::Papers, "Looking up papers");
            effects.push(Effect::ListPapers(request));
        } else {
            self.go_on_with_paper(effects);
        }
    }

    pub(super) fn show_paper(&mut self, index: usize, effects: &mut Vec<Effect>) {
        self.papers.shown = index;
        self.go_on_with_paper(effects);
    }

    pub(super) fn papers_listed(&mut self, papers: Vec<PaperReport>, effects: &mut Vec<Effect>) {
        let so_far = |report| PaperSoFar { report: Rc::new(report), done: 0 };
        self.papers.all = papers.into_iter().map(so_far).collect();
        self.go_on_with_paper(effects);
    }

    /// Adds a part's figures to those of its paper.
    pub(super) fn paper_part(&mut self, part: PaperReport, took: f64, effects: &mut Vec<Effect>) {
        self.took_ms = Some(took);
        self.said = format!("{} figures of {}", part.figures.len(), part.name);
        let paper = self.papers.all.iter_mut().find(|paper| paper.report.id == part.id);
        if let Some(paper) = paper {
            let report = Rc::make_mut(&mut paper.report);
            for figure in part.figures {
                let is_alike = |known: &PaperFigure| known.what == figure.what;
                // Figures of one kind stand together.
                let at = report.figures.iter().rposition(is_alike);
                report.figures.insert(at.map_or(report.figures.len(), |at| at + 1), figure);
            }
            paper.done += 1;
        }
        self.go_on_with_paper(effects);
    }

    /// Asks for the next part of the paper that is shown.
    fn go_on_with_paper(&mut self, effects: &mut Vec<Effect>) {
        let Some(paper) = self.papers.all.get(self.papers.shown) else { return };
        if !self.papers.is_open || paper.is_whole() || self.task(Job::Papers).is_some() {
            return;
        }
        let (id, part) = (paper.report.id.clone(), paper.done);
        self.clear(Place::Papers);
        let request = self.begin(Job::Papers, "Computing figures");
        effects.push(Effect::ComputePaper(request, id, part));
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{request_of, started};
    use super::super::{Doer, Event};
    use super::*;
    use crate::message::ImportReply;
    use tilewright_report::Kind;

    fn report(id: &str, what: &[&str]) -> PaperReport {
        let figure = |what: &&str| PaperFigure {
            what: (*what).to_owned(),
            of: "net".to_owned(),
            setting: String::new(),
            ours: 1.0,
            printed: Some(2.0),
            unit: "ms".to_owned(),
            kind: Kind::Modelled,
            difference: Some(-0.5),
            why: None,
            plan: None,
        };
        PaperReport {
            id: id.to_owned(),
            name: id.to_uppercase(),
            citation: String::new(),
            reading: String::new(),
            parts: 2,
            figures: what.iter().map(figure).collect(),
        }
    }

    #[test]
    fn parts_of_the_paper_that_is_shown_are_computed_one_after_the_other() {
        let (mut state, _) = started("");
        let effects = state.update(Event::ShowPapers(true));
        let listed = Ok(ImportReply::Papers(vec![report("a", &[]), report("b", &[])]));
        let effects = state.update(Event::Imported(request_of(&effects), listed));
        let request = request_of(&effects);
        assert_eq!(effects, [Effect::ComputePaper(request, "a".to_owned(), 0)]);
        // Another paper is wanted meanwhile: it is next.
        assert!(state.update(Event::ShowPaper(1)).is_empty());
        let part = Ok(ImportReply::Paper(Box::new(report("a", &["x", "y"]))));
        let effects = state.update(Event::Imported(request, part));
        assert_eq!(effects, [Effect::ComputePaper(request_of(&effects), "b".to_owned(), 0)]);
        state.update(Event::Stop(Doer::Importer));
        let effects = state.update(Event::ShowPaper(0));
        assert_eq!(effects, [Effect::ComputePaper(request_of(&effects), "a".to_owned(), 1)]);
        let part = Ok(ImportReply::Paper(Box::new(report("a", &["x", "z"]))));
        assert!(state.update(Event::Imported(request_of(&effects), part)).is_empty());
        let paper = &state.papers.all[0];
        let whats: Vec<&str> = paper.report.figures.iter().map(|row| row.what.as_str()).collect();
        assert_eq!((whats, paper.is_whole()), (vec!["x", "x", "y", "z"], true));
        state.update(Event::ShowPapers(false));
        assert!(state.update(Event::ShowPapers(true)).is_empty(), "it is known");
    }
}
