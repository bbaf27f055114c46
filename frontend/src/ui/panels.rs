//! All that is drawn once a model is open, or asked for: a part of the page's program that is fetched after the first
//! view is on the screen.

use std::rc::Rc;

use yew::prelude::*;

use super::app::{App, Msg};
use super::boards::BoardsDialog;
use super::cells::CellsDialog;
use super::compare::ComparePanel;
use super::exits::ExitsSection;
use super::explore::ExplorePanel;
use super::explore_beside::Opened;
use super::film::FilmPanel;
use super::firmware::FirmwarePanel;
use super::graph::GraphPanel;
use super::later::Later;
use super::layers::LayersPanel;
use super::memory::MemoryPanel;
use super::overview::OverviewPanel;
use super::papers::PapersDialog;
use super::quantisation::QuantisationPanel;
use super::roofline::RooflinePanel;
use super::run::RunPanel;
use super::schedule_panel::SchedulePanel;
use super::sparsity::SparsityPanel;
use super::tiles::TilesPanel;
use super::what_fits::FitDialog;
use super::zoo::ZooDialog;
use crate::state::{Job, OpenModel, Origin, Place, View};
use crate::view_model::remedies::remedies;

/// The ways into that part.
#[derive(Clone, Copy)]
pub struct Panels {
    /// Draws an open model and its plan.
    pub panels: fn(&App, &Rc<OpenModel>, View) -> Html,
    /// Draws many plans at once.
    pub explore: fn(&App) -> Html,
    /// Draws the dialogs that are open.
    pub dialogs: fn(&App, &Context<App>) -> Html,
}

impl Panels {
    /// The ways in. Only what is fetched may call this: its caller has all panels in it.
    #[must_use]
    pub fn here() -> Self {
        Self { panels, explore, dialogs }
    }
}

/// What becomes of that part.
#[derive(Clone, Copy)]
pub enum Rest {
    /// It is being fetched.
    Awaited,
    /// It is there.
    There(Panels),
    /// It did not come.
    Missing,
}

fn panels(app: &App, model: &Rc<OpenModel>, view: View) -> Html {
    let state = &app.state;
    let shows = |panel: View| view == View::All || view == panel;
    let is_stale = state.is_plan_stale();
    let (lit, selected) = (state.lit(), state.selected);
    let on = app.on.clone();
    let run = state.run.outcome.clone().filter(|outcome| {
        state.plan.as_ref().is_some_and(|plan| outcome.plan.settings == plan.settings)
    });
    let measurement = state.desk.measurement.clone().filter(|measurement| {
        state.plan.as_ref().is_some_and(|plan| measurement.plan.settings == plan.settings)
    });
    let run_beside = state.desk.measurement.as_ref().and_then(|m| state.run_beside(m)).cloned();
    let layers = run.as_ref().map(|outcome| &outcome.result.layers);
    let counts = layers.filter(|layers| !layers.is_empty()).cloned().map(Rc::new);
    html! {
        <div class="panels">
            if shows(View::Overview) {
                <OverviewPanel model={Rc::new(model.facts.clone())} plan={state.plan.clone()}
                    keep={matches!(model.origin, Origin::File(_)).then(|| state.keep.clone())}
                    boards={Rc::clone(&state.boards)} remedies={remedies(state)} {is_stale}
                    is_looking={state.is_looking()}
                    run={run.clone()} on={on.clone()} is_maximised={view == View::Overview}
                    exits={exits(app, model.has_exits())} />
            }
            if shows(View::Graph) {
                <GraphPanel graph={state.graph.clone()} is_drawing={state.task(Job::Graph).is_some()}
                    trouble={state.trouble(Place::Graph).cloned()} plan={state.plan.clone()}
                    model={model.facts.name.clone()} {lit} {selected} theme={state.theme}
                    is_whole={state.is_graph_whole}
                    is_maximised={view == View::Graph} on={on.clone()} />
            }
            if let Some(plan) = &state.plan {
                if view == View::Tiles || (view == View::All && plan.tiles.is_some()) {
                    <Later>
                        <TilesPanel plan={Rc::clone(plan)} calibration={model.facts.calibration}
                            trouble={state.trouble(Place::Tiles).cloned()}
                            is_saving={state.task(Job::Tiled).is_some()} {lit} {is_stale}
                            on={on.clone()} is_maximised={view == View::Tiles} />
                    </Later>
                }
                if shows(View::Memory) {
                    <Later>
                        <MemoryPanel plan={Rc::clone(plan)} boards={Rc::clone(&state.boards)} {lit}
                            {is_stale} on={on.clone()} is_maximised={view == View::Memory} />
                    </Later>
                }
                if shows(View::Film) {
                    <Later>
                        <FilmPanel plan={Rc::clone(plan)} run={run.clone()} plans={state.plans()}
                            strategies={Rc::clone(&state.strategies)} settings={plan.settings.clone()}
                            {selected} cursor_us={state.cursor_us} theme={state.theme} {is_stale}
                            on={on.clone()} is_maximised={view == View::Film} />
                    </Later>
                }
                if shows(View::Schedule) {
                    <Later>
                        <SchedulePanel plan={Rc::clone(plan)} {run} {measurement} boards={Rc::clone(&state.boards)}
                            settings={state.settings.now().clone()} period_ms={state.period_ms}
                            trouble={state.trouble(Place::Schedule).cloned()}
                            is_saving={state.task(Job::Schedule).is_some()} {lit} {selected}
                            cursor_us={state.cursor_us}
                            {is_stale} on={on.clone()} is_maximised={view == View::Schedule} />
                    </Later>
                }
                if shows(View::Roofline) {
                    <Later>
                        <RooflinePanel plan={Rc::clone(plan)} counts={counts.clone()} {lit} {selected}
                            {is_stale} on={on.clone()} is_maximised={view == View::Roofline} />
                    </Later>
                }
                if shows(View::Layers) {
                    <Later>
                        <LayersPanel plan={Rc::clone(plan)} {counts} sort={state.sort} {lit} {is_stale}
                            filter={state.filter.clone()} on={on.clone()}
                            is_maximised={view == View::Layers} />
                    </Later>
                }
            }
            if shows(View::Quantisation) {
                <Later>
                    <QuantisationPanel model={Rc::clone(model)} quantising={state.quantising.clone()}
                        facts={state.quantisation.facts.clone()} sort={state.quantisation.sort}
                        is_quantising={state.is_requantising()}
                        is_examining={state.task(Job::Examine).is_some()}
                        float={state.quantisation.float.clone()}
                        is_comparing_float={state.task(Job::CompareFloat).is_some()}
                        trouble={state.trouble(Place::Quantisation).cloned()}
                        plan={state.plan.clone()} {lit} on={on.clone()}
                        is_maximised={view == View::Quantisation} on_samples={app.on_samples.clone()} />
                </Later>
            }
            if shows(View::Sparsity) {
                <Later>
                    <SparsityPanel model={Rc::clone(model)} sparsity={state.quantising.sparsity}
                        is_pruning={state.is_requantising()} plan={state.plan.clone()} {lit} {is_stale}
                        on={on.clone()} is_maximised={view == View::Sparsity} />
                </Later>
            }
            if shows(View::Run) {
                <Later>
                    <RunPanel origin={model.origin.clone()}
                        calibration={model.facts.calibration} plan={state.plan.clone()}
                        server={state.server.clone()} runs_on={state.runs_on()} input={state.input.clone()}
                        picture={app.session.picture()} run={state.run.clone()}
                        can_run={state.can_run()} is_opening={state.is_opening()} needs_input={state.needs_input()} trouble={state.trouble(Place::Run).cloned()} {lit}
                        desk={state.desk.clone()} run_beside={run_beside} can_measure={state.can_measure()}
                        desk_trouble={state.trouble(Place::Desk).cloned()}
                        boards={Rc::clone(&state.boards)} {is_stale}
                        is_maximised={view == View::Run} on={on.clone()}
                        on_input={app.on_input.clone()} on_picture={app.on_picture.clone()} />
                </Later>
            }
            if let Some(plan) = &state.plan {
                if shows(View::Compare) {
                    <Later>
                        <ComparePanel model={plan.report.model.clone()} plans={state.plans()}
                            strategies={Rc::clone(&state.strategies)}
                            settings={plan.settings.clone()} on={on.clone()}
                            is_maximised={view == View::Compare} />
                    </Later>
                }
                if shows(View::Firmware) {
                    <Later>
                        <FirmwarePanel plan={Rc::clone(plan)} boards={Rc::clone(&state.boards)}
                            package={state.package.clone()} downloads={app.session.downloads()}
                            image={app.session.image_download()} {is_stale}
                            trouble={state.trouble(Place::Firmware).cloned()}
                            can_reorder={state.reorderable().is_some()}
                            is_reordering={state.task(Job::Reorder).is_some()}
                            reordered={state.reordered.clone()}
                            reordered_file={app.session.reordered_download()}
                            is_busy={state.task(Job::Package).is_some()} is_saving={state.task(Job::Library).is_some()} on={on}
                            is_maximised={view == View::Firmware} />
                    </Later>
                }
            }
        </div>
    }
}

/// Many plans at once.
fn explore(app: &App) -> Html {
    let state = &app.state;
    let open = state.open_name().zip(state.fragment().model);
    html! {
        <div class="panels">
            <ExplorePanel explore={state.explore.clone()} boards={Rc::clone(&state.boards)}
                strategies={Rc::clone(&state.strategies)} zoo={state.zoo.entries.clone()}
                open={open.map(|(name, link)| Opened { name, link })}
                doing={state.task(Job::Explore).map(|task| task.text.clone())}
                trouble={state.trouble(Place::Explore).cloned()} on={app.on.clone()} />
        </div>
    }
}

/// The early exits of the shown plan.
fn exits(app: &App, are_there: bool) -> Html {
    let state = &app.state;
    let Some(plan) = state.plan.as_ref().filter(|_| are_there) else { return html! {} };
    html! {
        <ExitsSection plan={Rc::clone(plan)} study={state.exits.clone()} images={state.images.clone()}
            doing={state.task(Job::Exits).map(|task| task.text.clone())}
            trouble={state.trouble(Place::Exits).cloned()}
            images_trouble={state.trouble(Place::Images).cloned()}
            on={app.on.clone()} on_images={app.on_images.clone()} />
    }
}

fn dialogs(app: &App, ctx: &Context<App>) -> Html {
    let state = &app.state;
    html! {
        <>
            <FitDialog fit={state.fit.clone()} doing={state.task(Job::Fit).map(|task| task.text.clone())}
                trouble={state.trouble(Place::Fit).cloned()} on={app.on.clone()} />
            <PapersDialog papers={state.papers.clone()}
                doing={state.task(Job::Papers).map(|task| task.text.clone())}
                trouble={state.trouble(Place::Papers).cloned()} on={app.on.clone()} />
            <BoardsDialog choice={state.board_choice.clone()} boards={Rc::clone(&state.boards)}
                settings={state.settings.now().clone()} model={state.open_name().map(AttrValue::from)}
                doing={state.task(Job::Explore).map(|task| task.text.clone())}
                trouble={state.trouble(Place::Explore).cloned()} on={app.on.clone()} />
            <ZooDialog zoo={state.zoo.clone()} is_listing={state.task(Job::Zoo).is_some()}
                trouble={state.trouble(Place::Zoo).cloned()} on={app.on.clone()} />
            <CellsDialog cells={state.cells.clone()} is_listing={state.task(Job::CellChoices).is_some()}
                trouble={state.trouble(Place::Cells).cloned()} on={app.on.clone()}
                is_searching={state.task(Job::Search).is_some()} search_trouble={state.trouble(Place::Search).cloned()}
                images={state.images.clone()} images_trouble={state.trouble(Place::Images).cloned()}
                on_images={app.on_images.clone()} on_open={ctx.link().callback(Msg::Made)} />
        </>
    }
}
