//! Plays a film: frames, buttons, keys.

use std::cell::RefCell;
use std::rc::Rc;

use gloo::render::{AnimationFrame, request_animation_frame};
use web_sys::HtmlInputElement;
use yew::prelude::*;

use crate::ui::icon::{Glyph, icon};
use crate::view_model::figures;
use crate::view_model::film::{Head, Move, Times};

/// Places of the slider.
const PLACES: f64 = 10_000.0;

impl Reducible for Head {
    /// A move, and the times to move among.
    type Action = (Move, Rc<Times>);

    fn reduce(self: Rc<Self>, (by, times): Self::Action) -> Rc<Self> {
        Rc::new(self.moved(by, &times))
    }
}

/// What is asked of the browser: dropped, it is asked no more.
type Asked = Rc<RefCell<Option<AnimationFrame>>>;

/// Moves the head at each frame of the screen while it plays.
#[hook]
pub fn use_frames(head: &UseReducerHandle<Head>, is_playing: bool, times: &Rc<Times>) {
    let head = head.dispatcher();
    use_effect_with((is_playing, Rc::clone(times)), move |(is_playing, times)| {
        let asked = Asked::default();
        if *is_playing {
            let times = Rc::clone(times);
            let tick: Callback<f64> =
                Callback::from(move |ms| head.dispatch((Move::Tick(ms), Rc::clone(&times))));
            ask(&asked, None, tick);
        }
        move || drop(asked.borrow_mut().take())
    });
}

fn ask(asked: &Asked, last_ms: Option<f64>, tick: Callback<f64>) {
    let again = Rc::downgrade(asked);
    let frame = request_animation_frame(move |now_ms| {
        if let Some(last_ms) = last_ms {
            tick.emit(now_ms - last_ms);
        }
        if let Some(asked) = again.upgrade() {
            ask(&asked, Some(now_ms), tick);
        }
    });
    *asked.borrow_mut() = Some(frame);
}

/// Buttons and a slider.
pub fn player(head: Head, times: &Times, go: &Callback<Move>) -> Html {
    let button = |by: Move, glyph: Glyph, title: &'static str, id: &'static str| {
        html! {
            <button type="button" class="quiet icon-button" title={title} aria-label={title}
                data-testid={id} onclick={go.reform(move |_| by)}>
                { icon(glyph) }
            </button>
        }
    };
    let (glyph, title) =
        if head.is_playing { (Glyph::Pause, "Pause") } else { (Glyph::Play, "Play") };
    let (moved, end_us) = (go.clone(), times.end_us);
    let oninput = Callback::from(move |event: InputEvent| {
        let input: Option<HtmlInputElement> = event.target_dyn_into();
        if let Some(place) = input.and_then(|input| input.value().parse::<f64>().ok()) {
            moved.emit(Move::To(place / PLACES * end_us));
        }
    });
    let place = (head.at_us / end_us.max(f64::MIN_POSITIVE) * PLACES).round();
    let task = format!(
        "task {} of {}",
        figures::grouped(times.task(head.at_us) as u64),
        figures::grouped(times.tasks_us.len() as u64)
    );
    let at = format!("{} of {}, {task}", figures::duration(head.at_us), figures::duration(end_us));
    let second = format!("1 s shows {}", figures::duration(head.second(times).0));
    html! {
        <div class="film-player">
            { button(Move::Back, Glyph::Back, "One task back", "film-back") }
            { button(Move::Toggle, glyph, title, "film-play") }
            { button(Move::Next, Glyph::On, "One task on", "film-on") }
            <input type="range" min="0" max={PLACES.to_string()} step="1" value={place.to_string()}
                aria-label="Time" aria-valuetext={at.clone()} data-testid="film-scrub" {oninput} />
            <output class="detail film-at" data-testid="film-at">{ at }</output>
            <span class="film-speed">
                { button(Move::Slower, Glyph::Smaller, "Slower", "film-slower") }
                <output class="detail film-second" data-testid="film-second">{ second }</output>
                { button(Move::Faster, Glyph::Larger, "Faster", "film-faster") }
            </span>
        </div>
    }
}

/// What keys do where a film has the focus.
pub fn keys(go: &Callback<Move>) -> Callback<KeyboardEvent> {
    let go = go.clone();
    Callback::from(move |event: KeyboardEvent| {
        let is_plain = !(event.ctrl_key() || event.meta_key() || event.alt_key());
        if let Some(by) = Move::of_key(&event.key()).filter(|_| is_plain) {
            event.prevent_default();
            go.emit(by);
        }
    })
}
