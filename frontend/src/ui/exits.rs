//! Early exits of a plan: what each costs, and what thresholds of confidence come to over labelled images.

use std::rc::Rc;

use tilewright_report::{
    Diagnostic, ExitRow, ExitsReport, Kind, THRESHOLD_COLUMNS, csv_table, short_name,
};
use web_sys::FileList;
use yew::prelude::*;

use super::icon::{Glyph, icon};
use super::labelled_images::LabelledImages;
use super::parts::{kind_tag, trouble_box};
use super::save::{save_buttons, save_text};
use super::scatter::ScatterChart;
use crate::message::PlanFacts;
use crate::state::{Doer, Event, ExitsStudy, LabelledFiles, Place};
use crate::view_model::figures;

#[derive(PartialEq, Properties)]
pub struct Props {
    pub plan: Rc<PlanFacts>,
    /// What the exits of a plan came to.
    pub study: Option<ExitsStudy>,
    pub images: LabelledFiles,
    /// What is done, while images are looked at.
    pub doing: Option<String>,
    pub trouble: Option<Diagnostic>,
    pub images_trouble: Option<Diagnostic>,
    pub on: Callback<Event>,
    pub on_images: Callback<FileList>,
}

/// The plan's exits, and how often and how rightly each answers.
#[component]
pub fn ExitsSection(props: &Props) -> Html {
    let study = props.study.as_ref().filter(|study| study.settings == props.plan.settings);
    let on_study = props.on.reform(|_: MouseEvent| Event::StudyExits);
    html! {
        <>
            { exits(&props.plan.report.exits) }
            <details class="exits-study" open={study.is_some() || props.doing.is_some()}>
                <summary>{ "Early exits by confidence: accuracy against latency" }</summary>
                <p class="muted detail">
                    { "The reference answers every image at every exit. A run ends at the first exit whose largest \
                       probability reaches the threshold." }
                </p>
                <LabelledImages images={props.images.clone()} trouble={props.images_trouble.clone()}
                    on={props.on.clone()} on_files={props.on_images.clone()} />
                <div class="cells-buttons">
                    if let Some(doing) = &props.doing {
                        <button type="button" class="button" onclick={props.on.reform(|_| Event::Stop(Doer::Importer))}>
                            { icon(Glyph::Stop) }{ "Stop" }
                        </button>
                        <span class="muted" data-testid="exits-progress">{ doing }</span>
                    } else {
                        <button type="button" class="button" data-testid="study-exits" onclick={on_study}>
                            { "Look at the images" }
                        </button>
                    }
                </div>
                if let Some(trouble) = &props.trouble {
                    { trouble_box(trouble, Place::Exits, "", &props.on) }
                }
                if let Some(study) = study { <Study study={study.clone()} on={props.on.clone()} /> }
            </details>
        </>
    }
}

#[derive(PartialEq, Properties)]
struct StudyProps {
    study: ExitsStudy,
    on: Callback<Event>,
}

#[component]
fn Study(props: &StudyProps) -> Html {
    let drawing = use_node_ref();
    let ExitsStudy { images, report, .. } = &props.study;
    let name = format!("{}-{}-exits", report.model, report.board);
    let on_csv = {
        let (report, file) = (Rc::clone(report), format!("{name}.csv"));
        Callback::from(move |_: MouseEvent| {
            save_text(&file, &csv_table(&THRESHOLD_COLUMNS, &report.thresholds), "text/csv");
        })
    };
    html! {
        <>
            <p data-testid="exits-best">{ best(report, images) }</p>
            <div ref={drawing.clone()}>
                <ScatterChart scatter={Rc::new(report.scatter(String::new()))} on_pick={Callback::noop()} />
            </div>
            { thresholds(report) }
            <div class="cells-buttons">
                { save_buttons(&drawing, &name, "exits", &props.on) }
                <button type="button" class="quiet" onclick={on_csv} title="Save the table as CSV">
                    { icon(Glyph::Save) }{ "CSV" }
                </button>
            </div>
        </>
    }
}

/// The threshold to take, in words.
fn best(report: &ExitsReport, images: &str) -> String {
    let count = report.images;
    let last = report.exits.last().and_then(|exit| exit.accuracy_percent).map_or(0.0, |all| *all);
    match report.best.and_then(|best| report.thresholds.get(best)) {
        Some(row) => format!(
            "{count} images ({images}). Within half a point of the last exit's {} % a threshold of {} is fastest: {} % of \
             mean latency.",
            figures::fixed(last, 2),
            row.confidence,
            figures::signed(*row.change_percent, 1),
        ),
        None => format!(
            "{count} images ({images}). No threshold stays within half a point of the last exit's {} %.",
            figures::fixed(last, 2)
        ),
    }
}

fn thresholds(report: &ExitsReport) -> Html {
    html! {
        <div class="table-scroll" tabindex="0" role="group" aria-label="Thresholds of confidence">
            <table class="alternatives" data-testid="thresholds">
                <thead><tr>
                    <th scope="col" class="number">{ "Threshold" }</th>
                    <th scope="col" class="number">{ "Accuracy" }{ kind_tag(Kind::Counted) }</th>
                    <th scope="col" class="number">{ "End at each exit, %" }{ kind_tag(Kind::Counted) }</th>
                    <th scope="col" class="number">{ "Mean latency" }{ kind_tag(Kind::Modelled) }</th>
                    <th scope="col" class="number">{ "Against no exits" }</th>
                </tr></thead>
                <tbody>
                    { for report.thresholds.iter().enumerate().map(|(index, row)| html! {
                        <tr key={index} class={classes!((report.best == Some(index)).then_some("lit"))}>
                            <th scope="row" class="number">{ row.confidence }</th>
                            <td class="number">{ format!("{} %", figures::fixed(*row.accuracy_percent, 2)) }</td>
                            <td class="number">{ row.shares(" · ") }</td>
                            <td class="number">{ figures::duration(row.mean_latency_us.0) }</td>
                            <td class="number">{ format!("{} %", figures::signed(*row.change_percent, 1)) }</td>
                        </tr>
                    }) }
                </tbody>
            </table>
        </div>
    }
}

/// A table, one row for each output; nothing if there are no exits.
fn exits(all: &[ExitRow]) -> Html {
    let (Some(first), Some(last)) = (all.first(), all.last()) else { return html! {} };
    let (has_programs, is_confident) = (first.latency_us.is_some(), last.exit_us.is_some());
    let time = |us: Option<f64>| us.map_or_else(String::new, figures::duration);
    let row = |exit: &ExitRow| {
        html! {
            <tr key={exit.output.clone()}>
                <th scope="row" title={exit.output.clone()}>{ short_name(&exit.output) }</th>
                if has_programs {
                    <td class="number">{ exit.macs.map_or_else(String::new, |macs| figures::grouped(*macs)) }</td>
                    <td class="number">{ time(exit.latency_us.map(|latency| latency.0)) }</td>
                }
                if is_confident {
                    <td class="number">{ time(exit.exit_us.map(|latency| latency.0)) }</td>
                }
            </tr>
        }
    };
    html! {
        <>
            <h3>{ "Early exits" }</h3>
            <div class="table-scroll" tabindex="0" role="group" aria-label="Early exits">
                <table class="alternatives" data-testid="exits">
                    <thead><tr>
                        <th scope="col">{ "Output" }</th>
                        if has_programs {
                            <th scope="col" class="number">{ "MACs" }{ kind_tag(Kind::Counted) }</th>
                            <th scope="col" class="number">{ "Alone" }{ kind_tag(Kind::Modelled) }</th>
                        }
                        if is_confident {
                            <th scope="col" class="number">{ "If the run ends here" }{ kind_tag(Kind::Modelled) }</th>
                        }
                    </tr></thead>
                    <tbody>{ for all.iter().map(row) }</tbody>
                </table>
            </div>
        </>
    }
}
