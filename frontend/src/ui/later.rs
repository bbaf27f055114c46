//! What is drawn a moment later, so that what a person looks for first is on the screen before.

use gloo::timers::callback::Timeout;
use yew::prelude::*;

/// About a frame.
const REST_MS: u32 = 16;

#[derive(PartialEq, Properties)]
pub struct Props {
    pub children: Html,
}

/// Draws its children a frame after it is there.
#[component]
pub fn Later(props: &Props) -> Html {
    let is_due = use_state(|| false);
    {
        let is_due = is_due.clone();
        use_effect_with((), move |()| {
            let timeout = Timeout::new(REST_MS, move || is_due.set(true));
            move || drop(timeout)
        });
    }
    if *is_due {
        props.children.clone()
    } else {
        html! {}
    }
}
