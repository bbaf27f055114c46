//! Pictures that are played, scrubbed, or stepped through with keys.

use std::rc::Rc;

use gloo::timers::callback::Interval;
use web_sys::HtmlInputElement;
use yew::prelude::*;

use super::icon::{Glyph, icon};
use crate::view_model::step_by_step::{Move, Walk, pace_ms};

impl Reducible for Walk {
    /// A move, and how many pictures there are.
    type Action = (Move, usize);

    fn reduce(self: Rc<Self>, (by, count): Self::Action) -> Rc<Self> {
        Rc::new(self.moved(by, count))
    }
}

/// Plays so many pictures; `shown` is told which one is shown meanwhile.
#[hook]
pub fn use_ticks(
    walk: &UseReducerHandle<Walk>,
    now: Walk,
    count: usize,
    shown: Option<Callback<usize>>,
) {
    let walk = walk.dispatcher();
    use_effect_with((now.is_playing, count), move |(is_playing, count)| {
        let count = *count;
        let ticks = is_playing
            .then(|| Interval::new(pace_ms(count), move || walk.dispatch((Move::Tick, count))));
        move || drop(ticks)
    });
    use_effect_with(now, move |now| {
        if let Some(shown) = shown.filter(|_| now.is_playing) {
            shown.emit(now.at);
        }
    });
}

/// Buttons and a slider that go through pictures, the last of which has this number; `what` a picture is, and the
/// buttons' ids begin with `id`.
pub fn player(
    walk: Walk,
    last: usize,
    what: &'static str,
    id: &'static str,
    go: &Callback<Move>,
) -> Html {
    let button = |by: Move, glyph: Glyph, title: String, ending: &str| {
        html! {
            <button type="button" class="quiet icon-button" title={title.clone()} aria-label={title}
                data-testid={format!("{id}-{ending}")} onclick={go.reform(move |_| by)}>
                { icon(glyph) }
            </button>
        }
    };
    let (glyph, title) =
        if walk.is_playing { (Glyph::Pause, "Pause") } else { (Glyph::Play, "Play") };
    let moved = go.clone();
    let oninput = Callback::from(move |event: InputEvent| {
        let input: Option<HtmlInputElement> = event.target_dyn_into();
        if let Some(place) = input.and_then(|input| input.value().parse().ok()) {
            moved.emit(Move::To(place));
        }
    });
    let text = format!("{what} {} of {}", walk.at + 1, last + 1);
    let one = what.to_lowercase();
    html! {
        <div class="walk-player">
            { button(Move::Back, Glyph::Back, format!("One {one} back"), "back") }
            { button(Move::Toggle, glyph, title.to_owned(), "play") }
            { button(Move::Next, Glyph::On, format!("One {one} on"), "on") }
            <input type="range" min="0" max={last.to_string()} step="1" value={walk.at.to_string()}
                aria-label={what} aria-valuetext={text.clone()} data-testid={format!("{id}-scrub")} {oninput} />
            <output class="detail" data-testid={format!("{id}-at")}>{ text }</output>
        </div>
    }
}

/// What keys do where such a picture has the focus.
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
