//! What is happening, how long it takes, and how to stop it.

use gloo::timers::callback::Interval;
use yew::prelude::*;

use super::icon::{Glyph, icon};
use crate::state::{Event, RunsOn, Task};
use crate::view_model::figures;

#[derive(PartialEq, Properties)]
pub struct Props {
    pub tasks: Vec<Task>,
    pub said: AttrValue,
    pub took_ms: Option<f64>,
    /// Where the next run is.
    pub runs_on: RunsOn,
    /// The address of the whole page, if this is only a view of it.
    pub whole: Option<String>,
    pub on: Callback<Event>,
}

/// Milliseconds of the page's clock.
pub fn now_ms() -> f64 {
    web_sys::window().and_then(|window| window.performance()).map_or(0.0, |clock| clock.now())
}

/// The line at the foot of the page.
#[component]
pub fn StatusLine(props: &Props) -> Html {
    let tick = use_state(|| 0u32);
    {
        let tick = tick.clone();
        use_effect_with(props.tasks.is_empty(), move |is_idle| {
            let mut count = 0;
            let interval = (!*is_idle).then(|| {
                Interval::new(200, move || {
                    count += 1;
                    tick.set(count);
                })
            });
            move || drop(interval)
        });
    }
    let emulator = match props.runs_on {
        RunsOn::Page => "Emulator: in this page",
        RunsOn::Server => "Emulator: on the server",
    };
    html! {
        <footer class="status" data-testid="status" data-busy={(!props.tasks.is_empty()).to_string()}>
            <div class="status-tasks">
                if props.tasks.is_empty() {
                    <span>
                        { if props.said.is_empty() { "Ready" } else { &*props.said } }
                        if let Some(took) = props.took_ms {
                            <span class="muted">
                                { format!(" · took {} here", figures::duration(took * 1e3)) }
                            </span>
                        }
                    </span>
                }
                { for props.tasks.iter().map(|task| task_line(task, &props.on)) }
            </div>
            if let Some(whole) = &props.whole {
                <a class="emulator" href={whole.clone()} target="_blank" rel="noopener" data-testid="whole">
                    { "Open in Tilewright" }
                </a>
            } else {
                <span class="emulator" data-testid="emulator">{ emulator }</span>
            }
            <p class="visually-hidden" aria-live="polite" role="status">{ &props.said }</p>
        </footer>
    }
}

fn task_line(task: &Task, on: &Callback<Event>) -> Html {
    let elapsed = (now_ms() - task.since_ms).max(0.0);
    let doer = task.job.doer();
    html! {
        <span key={task.job as u8} class="task">
            <span class="spinner" aria-hidden="true"></span>
            <span>{ &task.text }</span>
            <span class="muted">{ format!("{} s", figures::fixed(elapsed / 1e3, 1)) }</span>
            <button type="button" class="quiet" data-testid="stop"
                onclick={on.reform(move |_| Event::Stop(doer))}>
                { icon(Glyph::Stop) }{ "Stop" }
            </button>
        </span>
    }
}
