//! The whole page: takes events, keeps the state, has effects carried out, draws.

use std::cell::Cell;
use std::rc::Rc;

use gloo::events::{EventListener, EventListenerOptions};
use gloo::timers::callback::Timeout;
use js_sys::Uint8Array;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{DragEvent, FileList, KeyboardEvent};
use yew::prelude::*;

use super::boards::BoardsDialog;
use super::cells::CellsDialog;
use super::chart::patterns;
use super::compare::ComparePanel;
use super::empty::{DimensionForm, EmptyView};
use super::exits::ExitsSection;
use super::explore::ExplorePanel;
use super::explore_beside::Opened;
use super::files::{Purpose, Read, read_files};
use super::film::FilmPanel;
use super::firmware::FirmwarePanel;
use super::graph::GraphPanel;
use super::header::Header;
use super::later::Later;
use super::layers::LayersPanel;
use super::lesson::LessonPanel;
use super::memory::MemoryPanel;
use super::overview::OverviewPanel;
use super::papers::PapersDialog;
use super::parts::trouble_box;
use super::quantisation::QuantisationPanel;
use super::roofline::RooflinePanel;
use super::run::RunPanel;
use super::schedule_panel::SchedulePanel;
use super::sparsity::SparsityPanel;
use super::status::{StatusLine, now_ms};
use super::tiles::TilesPanel;
use super::what_fits::FitDialog;
use super::zoo::ZooDialog;
use crate::message::CellFacts;
use crate::session::{Fetched, Message, Session, read_fragment, read_keeping, read_theme};
use crate::state::{Effect, Event, Job, Kept, OpenModel, Origin, Place, State, View};
use crate::view_model::cells::file_name;
use crate::view_model::fragment::Fragment;
use crate::view_model::remedies::remedies;

/// Longest time that a model which was opened is not drawn, so that it comes with its plan: drawing
/// it alone would keep the plan waiting.
const PATIENCE_MS: u32 = 80;

/// What the page is told.
pub enum Msg {
    /// Something happened.
    Happened(Message),
    /// Files that an effect needs are there, or not.
    Fetched(Fetched),
    /// A file was read, or not.
    Read(Read),
    /// Cells were made and are to be opened, as a file with their text would be.
    Made(Rc<CellFacts>),
    /// A file is being dragged over the page, or no more.
    Dragging(bool),
    /// The link is to be copied.
    Share,
    /// What was held back is to be drawn.
    Draw,
}

/// The page.
pub struct App {
    state: State,
    session: Session,
    is_dragging: bool,
    /// Set while drawing is held back.
    held: Option<Timeout>,
    on: Callback<Event>,
    on_files: Callback<FileList>,
    on_input: Callback<FileList>,
    on_picture: Callback<(String, Uint8Array)>,
    on_samples: Callback<FileList>,
    on_images: Callback<FileList>,
    _listeners: Vec<EventListener>,
}

impl Component for App {
    type Message = Msg;
    type Properties = ();

    fn create(ctx: &Context<Self>) -> Self {
        let link = ctx.link();
        let on = link.callback(|event| Msg::Happened(Message { event, buffers: Vec::new() }));
        let reader = link.callback(Msg::Read);
        let reading = |purpose: Purpose| {
            let reader = reader.clone();
            Callback::from(move |files: FileList| read_files(&files, purpose, &reader))
        };
        let (on_files, on_input) = (reading(Purpose::Any), reading(Purpose::Input));
        let on_samples = reading(Purpose::Samples);
        let on_images = reading(Purpose::Images);
        let session = Session::new(link.callback(Msg::Happened));
        let fragment = Fragment::parse(&read_fragment());
        on.emit(Event::Started(fragment, read_theme(), read_keeping()));
        Self {
            state: State::default(),
            session,
            is_dragging: false,
            held: None,
            _listeners: listeners(ctx, &on, &on_files),
            on,
            on_files,
            on_input,
            on_picture: link.callback(|picture| Msg::Read((Purpose::Input, Ok(vec![picture])))),
            on_samples,
            on_images,
        }
    }

    fn update(&mut self, ctx: &Context<Self>, message: Msg) -> bool {
        match message {
            Msg::Happened(message) => self.happen(ctx, message),
            Msg::Fetched(fetched) => {
                let request = fetched.request();
                let is_awaited = self.state.tasks.iter().any(|task| task.request == request);
                let event = self.session.fetched(fetched, is_awaited);
                event.is_some_and(|event| self.happen(ctx, Message { event, buffers: Vec::new() }))
            }
            Msg::Read((purpose, read)) => {
                let event = match read {
                    Ok(files) => {
                        let keep = |(name, bytes)| (self.session.keep_file(bytes), name);
                        let files: Vec<(u32, String)> = files.into_iter().map(keep).collect();
                        let Some((token, name)) = files.first().cloned() else { return false };
                        match purpose {
                            Purpose::Any => Event::File { token, name },
                            Purpose::Input => Event::InputFile { token, name },
                            Purpose::Samples => Event::QuantiseWith(files),
                            Purpose::Images => Event::Images(files),
                        }
                    }
                    Err(trouble) if purpose == Purpose::Images => Event::ImagesRefused(trouble),
                    Err(trouble) => Event::FileRefused(trouble),
                };
                self.happen(ctx, Message { event, buffers: Vec::new() })
            }
            Msg::Made(facts) => {
                let hide = Message { event: Event::ShowCells(false), buffers: Vec::new() };
                self.happen(ctx, hide);
                let token = self.session.keep_file(facts.text.as_bytes().into());
                let event = Event::File { token, name: file_name(&facts.draft) };
                self.happen(ctx, Message { event, buffers: Vec::new() })
            }
            Msg::Dragging(is_dragging) => {
                std::mem::replace(&mut self.is_dragging, is_dragging) != is_dragging
            }
            Msg::Share => {
                self.share(ctx);
                false
            }
            Msg::Draw => {
                self.held = None;
                true
            }
        }
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        let state = &self.state;
        let model = state.model.clone();
        // Many plans can be explored though no model is open.
        let shows_one = model.is_some() || state.view == View::Explore;
        let view = if shows_one { state.view } else { View::All };
        let has_exits = model.as_deref().is_some_and(has_exits);
        let class = classes!("page", state.is_embedded.then_some("embedded"));
        let whole = Fragment { is_embedded: false, ..state.fragment() };
        let whole = state.is_embedded.then(|| format!("#{}", whole.text()));
        html! {
            <div {class} data-testid="page">
                { patterns() }
                if !state.is_embedded {
                    <a class="skip" href="#main"
                        onclick={Callback::from(|event: MouseEvent| { event.prevent_default(); focus_main(); })}>
                        { "Skip to the panels" }
                    </a>
                    <Header boards={Rc::clone(&state.boards)} strategies={Rc::clone(&state.strategies)}
                        obstacles={Rc::clone(&state.obstacles)}
                        settings={state.settings.now().clone()} {has_exits} can_undo={state.settings.can_undo()}
                        can_redo={state.settings.can_redo()}
                        origin={model.as_ref().map(|model| model.origin.clone())} {view}
                        theme={state.theme} on={self.on.clone()} on_files={self.on_files.clone()}
                        on_share={ctx.link().callback(|()| Msg::Share)} />
                }
                <div class={classes!("work", state.lesson.is_some().then_some("with-lesson"))}>
                if let Some(place) = state.lesson {
                    <LessonPanel {place} has_model={model.is_some() || state.is_opening()} on={self.on.clone()} />
                }
                <main id="main" tabindex="-1" class={classes!("main", format!("view-{}", view.id()))}>
                    { self.troubles() }
                    { match &model {
                        _ if view == View::Explore => self.explore(),
                        Some(model) => self.panels(model, view),
                        None => html! {
                            <EmptyView wanted={state.wanted.clone()} runs_on={state.runs_on()} on={self.on.clone()}
                                keep={state.keep.clone()}
                                is_opening={state.is_opening()} on_files={self.on_files.clone()} />
                        },
                    } }
                </main>
                </div>
                <StatusLine tasks={state.tasks.clone()} said={state.said.clone()}
                    took_ms={state.took_ms} runs_on={state.runs_on()} {whole} on={self.on.clone()} />
                <FitDialog fit={state.fit.clone()} doing={state.task(Job::Fit).map(|task| task.text.clone())}
                    trouble={state.trouble(Place::Fit).cloned()} on={self.on.clone()} />
                <PapersDialog papers={state.papers.clone()}
                    doing={state.task(Job::Papers).map(|task| task.text.clone())}
                    trouble={state.trouble(Place::Papers).cloned()} on={self.on.clone()} />
                <BoardsDialog choice={state.board_choice.clone()} boards={Rc::clone(&state.boards)}
                    settings={state.settings.now().clone()} model={state.open_name().map(AttrValue::from)}
                    doing={state.task(Job::Explore).map(|task| task.text.clone())}
                    trouble={state.trouble(Place::Explore).cloned()} on={self.on.clone()} />
                <ZooDialog zoo={state.zoo.clone()} is_listing={state.task(Job::Zoo).is_some()}
                    trouble={state.trouble(Place::Zoo).cloned()} on={self.on.clone()} />
                <CellsDialog cells={state.cells.clone()} is_listing={state.task(Job::CellChoices).is_some()}
                    trouble={state.trouble(Place::Cells).cloned()} on={self.on.clone()}
                    is_searching={state.task(Job::Search).is_some()} search_trouble={state.trouble(Place::Search).cloned()}
                    images={state.images.clone()} images_trouble={state.trouble(Place::Images).cloned()}
                    on_images={self.on_images.clone()} on_open={ctx.link().callback(Msg::Made)} />
                if self.is_dragging {
                    <div class="drop-overlay" data-testid="drop-overlay">
                        <p>{ "Drop a model (.onnx, .tflite, or cells as .txt), samples (.npy, .npz), a picture or a sound" }</p>
                    </div>
                }
            </div>
        }
    }
}

impl App {
    fn happen(&mut self, ctx: &Context<Self>, message: Message) -> bool {
        let Message { event, mut buffers } = message;
        self.state.now_ms = now_ms();
        self.session.keep_result(&event, &buffers);
        self.session.rehearse(&event, &mut buffers, &self.state);
        let effects = self.state.update(event);
        let is_new = effects.contains(&Effect::Keep(Kept::Model));
        let fetched = ctx.link().callback(Msg::Fetched);
        for effect in effects {
            self.session.carry_out(effect, &mut buffers, &self.state, &fetched);
        }
        self.session.settle(&self.state);
        self.draws(ctx, is_new)
    }

    /// Whether to draw now, after a model was opened or something else happened.
    fn draws(&mut self, ctx: &Context<Self>, is_new: bool) -> bool {
        if self.state.plan.is_some() || self.state.task(Job::Plan).is_none() {
            self.held = None;
        } else if is_new {
            let link = ctx.link().clone();
            self.held = Some(Timeout::new(PATIENCE_MS, move || link.send_message(Msg::Draw)));
        }
        self.held.is_none()
    }

    fn troubles(&self) -> Html {
        let state = &self.state;
        html! {
            <>
                { for [Place::Model, Place::Plan].into_iter().filter_map(|place| {
                    let trouble = state.trouble(place)?;
                    let has_view = match place {
                        Place::Model => state.model.is_some(),
                        _ => state.plan.is_some(),
                    };
                    let kept = if has_view { "Below is the last good view." } else { "" };
                    Some(html! { { trouble_box(trouble, place, kept, &self.on) } })
                }) }
                if let Some(names) = &state.open_dimensions {
                    <DimensionForm key={names.join("\n")} names={Rc::clone(names)} on={self.on.clone()} />
                }
            </>
        }
    }

    fn panels(&self, model: &Rc<OpenModel>, view: View) -> Html {
        let state = &self.state;
        let shows = |panel: View| view == View::All || view == panel;
        let is_stale = state.is_plan_stale();
        let (lit, selected) = (state.lit(), state.selected);
        let on = self.on.clone();
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
                        exits={self.exits(has_exits(model))} />
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
                            is_maximised={view == View::Quantisation} on_samples={self.on_samples.clone()} />
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
                            picture={self.session.picture()} run={state.run.clone()}
                            can_run={state.can_run()} is_opening={state.is_opening()} needs_input={state.needs_input()} trouble={state.trouble(Place::Run).cloned()} {lit}
                            desk={state.desk.clone()} run_beside={run_beside} can_measure={state.can_measure()}
                            desk_trouble={state.trouble(Place::Desk).cloned()}
                            boards={Rc::clone(&state.boards)} {is_stale}
                            is_maximised={view == View::Run} on={on.clone()}
                            on_input={self.on_input.clone()} on_picture={self.on_picture.clone()} />
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
                                package={state.package.clone()} downloads={self.session.downloads()}
                                image={self.session.image_download()} {is_stale}
                                trouble={state.trouble(Place::Firmware).cloned()}
                                can_reorder={state.reorderable().is_some()}
                                is_reordering={state.task(Job::Reorder).is_some()}
                                reordered={state.reordered.clone()}
                                reordered_file={self.session.reordered_download()}
                                is_busy={state.task(Job::Package).is_some()} is_saving={state.task(Job::Library).is_some()} on={on}
                                is_maximised={view == View::Firmware} />
                        </Later>
                    }
                }
            </div>
        }
    }

    /// Many plans at once.
    fn explore(&self) -> Html {
        let state = &self.state;
        let open = state.open_name().zip(state.fragment().model);
        html! {
            <div class="panels">
                <ExplorePanel explore={state.explore.clone()} boards={Rc::clone(&state.boards)}
                    strategies={Rc::clone(&state.strategies)} zoo={state.zoo.entries.clone()}
                    open={open.map(|(name, link)| Opened { name, link })}
                    doing={state.task(Job::Explore).map(|task| task.text.clone())}
                    trouble={state.trouble(Place::Explore).cloned()} on={self.on.clone()} />
            </div>
        }
    }

    /// The early exits of the shown plan.
    fn exits(&self, are_there: bool) -> Html {
        let state = &self.state;
        let Some(plan) = state.plan.as_ref().filter(|_| are_there) else { return html! {} };
        html! {
            <ExitsSection plan={Rc::clone(plan)} study={state.exits.clone()} images={state.images.clone()}
                doing={state.task(Job::Exits).map(|task| task.text.clone())}
                trouble={state.trouble(Place::Exits).cloned()}
                images_trouble={state.trouble(Place::Images).cloned()}
                on={self.on.clone()} on_images={self.on_images.clone()} />
        }
    }

    fn share(&self, ctx: &Context<Self>) {
        let Some(window) = web_sys::window() else { return };
        let Ok(address) = window.location().href() else { return };
        let promise = window.navigator().clipboard().write_text(&address);
        let on = ctx.link().callback(|event| Msg::Happened(Message { event, buffers: Vec::new() }));
        let is_of_view = self.state.view != View::All;
        spawn_local(async move {
            let said = match JsFuture::from(promise).await {
                Ok(_) if is_of_view => "Link copied. In an iframe, write embed= for view=",
                Ok(_) => "Link copied",
                Err(_) => "The browser did not allow copying: copy the address of this page",
            };
            on.emit(Event::Say(said.to_owned()));
        });
    }
}

/// Whether outputs are early exits. Models that keep states have outputs for these.
fn has_exits(model: &OpenModel) -> bool {
    model.facts.outputs.len() > 1 && model.facts.inputs.len() == 1
}

fn focus_main() {
    let main = web_sys::window()
        .and_then(|window| window.document())
        .and_then(|document| document.get_element_by_id("main"))
        .and_then(|main| main.dyn_into::<web_sys::HtmlElement>().ok());
    if let Some(main) = main {
        let _ = main.focus();
    }
}

fn listeners(
    ctx: &Context<App>,
    on: &Callback<Event>,
    on_files: &Callback<FileList>,
) -> Vec<EventListener> {
    let Some(window) = web_sys::window() else { return Vec::new() };
    let active = EventListenerOptions::enable_prevent_default();
    let dragging = ctx.link().callback(Msg::Dragging);
    // Entering a child leaves its parent: only the outermost counts.
    let depth = Rc::new(Cell::new(0i32));
    let mut listeners = Vec::new();
    let mut listen = |name: &'static str, handle: Box<dyn Fn(&web_sys::Event)>| {
        listeners.push(EventListener::new_with_options(&window, name, active, move |event| {
            handle(event);
        }));
    };
    let (inside, say, expecting) = (Rc::clone(&depth), dragging.clone(), on.clone());
    listen(
        "dragenter",
        Box::new(move |event| {
            event.prevent_default();
            expecting.emit(Event::Expecting);
            inside.set(inside.get() + 1);
            say.emit(true);
        }),
    );
    let (inside, say) = (Rc::clone(&depth), dragging.clone());
    listen(
        "dragleave",
        Box::new(move |_| {
            inside.set(inside.get() - 1);
            say.emit(inside.get() > 0);
        }),
    );
    listen("dragover", Box::new(web_sys::Event::prevent_default));
    let (inside, files) = (depth, on_files.clone());
    listen(
        "drop",
        Box::new(move |event| {
            event.prevent_default();
            inside.set(0);
            dragging.emit(false);
            let transfer = event.dyn_ref::<DragEvent>().and_then(DragEvent::data_transfer);
            if let Some(list) = transfer.and_then(|transfer| transfer.files()) {
                files.emit(list);
            }
        }),
    );
    let navigated = on.clone();
    listen(
        "hashchange",
        Box::new(move |_| navigated.emit(Event::Navigated(Fragment::parse(&read_fragment())))),
    );
    let keys = on.clone();
    listen(
        "keydown",
        Box::new(move |event| {
            if let Some(event) = event.dyn_ref::<KeyboardEvent>() {
                press(event, &keys);
            }
        }),
    );
    listeners
}

/// Ctrl-Z and Ctrl-Shift-Z step through settings, but not while someone types.
fn press(event: &KeyboardEvent, on: &Callback<Event>) {
    let target = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
    let is_typing = target.is_some_and(|element| {
        element.tag_name() == "INPUT"
            && !matches!(element.get_attribute("type").as_deref(), Some("range" | "radio"))
    });
    if is_typing || !(event.ctrl_key() || event.meta_key()) {
        return;
    }
    let redo = match event.key().as_str() {
        "z" | "Z" => event.shift_key(),
        "y" => true,
        _ => return,
    };
    event.prevent_default();
    on.emit(if redo { Event::Redo } else { Event::Undo });
}
