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

use super::chart::patterns;
use super::empty::{DimensionForm, EmptyView};
use super::files::{Purpose, Read, read_files};
use super::header::Header;
use super::lesson::LessonPanel;
use super::panels::Rest;
use super::parts::trouble_box;
use super::status::{StatusLine, now_ms};
use super::tabs::Tabs;
use crate::message::CellFacts;
use crate::session::{Fetched, Message, Session, read_fragment, read_keeping, read_theme};
use crate::state::{Effect, Event, Job, Kept, OpenModel, Place, State, View};
use crate::view_model::cells::file_name;
use crate::view_model::fragment::Fragment;

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
    /// What draws panels is to be fetched.
    FetchPanels,
    /// What draws panels is there, or did not come.
    Panels(Rest),
}

/// What the page is given.
#[derive(Clone, PartialEq, Properties)]
pub struct Props {
    /// Fetches what draws panels, and says what became of it.
    pub fetch_panels: Callback<Callback<Rest>>,
}

/// The page.
pub struct App {
    pub(super) state: State,
    pub(super) session: Session,
    rest: Rest,
    is_dragging: bool,
    /// Set while drawing is held back.
    held: Option<Timeout>,
    /// What was shown when the page was drawn last.
    shown: Shown,
    pub(super) on: Callback<Event>,
    on_files: Callback<FileList>,
    pub(super) on_input: Callback<FileList>,
    pub(super) on_picture: Callback<(String, Uint8Array)>,
    pub(super) on_samples: Callback<FileList>,
    pub(super) on_images: Callback<FileList>,
    _listeners: Vec<EventListener>,
}

impl Component for App {
    type Message = Msg;
    type Properties = Props;

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
            rest: Rest::Awaited,
            is_dragging: false,
            held: None,
            shown: Shown::default(),
            _listeners: listeners(ctx, &on, &on_files),
            on,
            on_files,
            on_input,
            on_picture: link.callback(|picture| Msg::Read((Purpose::Input, Ok(vec![picture])))),
            on_samples,
            on_images,
        }
    }

    fn rendered(&mut self, ctx: &Context<Self>, is_first: bool) {
        if is_first {
            ctx.link().send_message(Msg::FetchPanels);
        }
        let shown = Shown {
            view: self.state.view,
            has_model: self.state.model.is_some(),
            has_lesson: self.state.lesson.is_some(),
        };
        if std::mem::replace(&mut self.shown, shown) != shown && !is_first {
            begin_at_top();
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
            Msg::FetchPanels => {
                ctx.props().fetch_panels.emit(ctx.link().callback(Msg::Panels));
                self.rest = Rest::Awaited;
                true
            }
            Msg::Panels(rest) => {
                self.rest = rest;
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
        let has_exits = model.as_deref().is_some_and(OpenModel::has_exits);
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
                        origin={model.as_ref().map(|model| model.origin.clone())}
                        theme={state.theme} on={self.on.clone()} on_files={self.on_files.clone()}
                        on_share={ctx.link().callback(|()| Msg::Share)} />
                    if model.is_some() { <Tabs {view} on={self.on.clone()} /> }
                }
                <div class={classes!("work", state.lesson.is_some().then_some("with-lesson"))}>
                if let Some(place) = state.lesson {
                    <LessonPanel {place} has_model={model.is_some() || state.is_opening()} on={self.on.clone()} />
                }
                <main id="main" tabindex="-1" class={classes!("main", format!("view-{}", view.id()))}>
                    if let Some(model) = &model {
                        <h1 class="visually-hidden">{ format!("{} in Tilewright", model.facts.name) }</h1>
                    }
                    { self.troubles(ctx) }
                    { match (&model, self.rest) {
                        (_, Rest::There(rest)) if view == View::Explore => (rest.explore)(self),
                        (Some(model), Rest::There(rest)) => (rest.panels)(self, model, view),
                        _ => html! {
                            <EmptyView wanted={state.wanted.clone()} runs_on={state.runs_on()} on={self.on.clone()}
                                keep={state.keep.clone()}
                                is_opening={shows_one || state.is_opening()} on_files={self.on_files.clone()} />
                        },
                    } }
                </main>
                </div>
                <StatusLine tasks={state.tasks.clone()} said={state.said.clone()}
                    took_ms={state.took_ms} runs_on={state.runs_on()} {whole} on={self.on.clone()} />
                if let Rest::There(rest) = self.rest { { (rest.dialogs)(self, ctx) } }
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

    fn troubles(&self, ctx: &Context<Self>) -> Html {
        let state = &self.state;
        html! {
            <>
                if matches!(self.rest, Rest::Missing) {
                    <div class="trouble" role="alert" data-testid="no-panels">
                        <p class="trouble-what">{ "The part of this page that draws panels did not come." }</p>
                        <p class="trouble-remedy">
                            { "Check the network and fetch it again. If that does not help, load the page again." }
                        </p>
                        <button type="button" data-testid="fetch-panels" onclick={ctx.link().callback(|_| Msg::FetchPanels)}>
                            { "Fetch again" }
                        </button>
                    </div>
                }
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

    fn share(&self, ctx: &Context<Self>) {
        let Some(window) = web_sys::window() else { return };
        let Ok(address) = window.location().href() else { return };
        let promise = window.navigator().clipboard().write_text(&address);
        let on = ctx.link().callback(|event| Msg::Happened(Message { event, buffers: Vec::new() }));
        let is_own = self.state.model.as_ref().is_some_and(|model| model.origin.is_of_the_person());
        spawn_local(async move {
            let said = match JsFuture::from(promise).await {
                Ok(_) if is_own => {
                    "Link copied. It holds no model: who opens it is asked for the file"
                }
                Ok(_) => "Link copied",
                Err(_) => "The browser did not allow copying: copy the address of this page",
            };
            on.emit(Event::Say(said.to_owned()));
        });
    }
}

/// What fills the page: with another, reading begins anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Shown {
    view: View,
    has_model: bool,
    has_lesson: bool,
}

/// The page's beginning comes into sight. Where the control that had the focus is gone, the panels have it.
fn begin_at_top() {
    let Some(window) = web_sys::window() else { return };
    let active = window.document().and_then(|document| document.active_element());
    if active.is_none_or(|active| active.tag_name() == "BODY") {
        focus_main();
    }
    window.scroll_to_with_x_and_y(0.0, 0.0);
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
