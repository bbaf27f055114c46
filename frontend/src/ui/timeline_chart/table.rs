//! What the lanes show, as a table.

use std::rc::Rc;

use yew::prelude::*;

use crate::message::PlanFacts;
use crate::view_model::figures;
use crate::view_model::timeline::{Lanes, Window};

/// Rows for each lane at most.
const MOST: usize = 100;

#[derive(PartialEq, Properties)]
pub struct Props {
    pub plan: Rc<PlanFacts>,
    pub lanes: Rc<Lanes>,
    pub window: Window,
}

/// The bars that are looked at, lane by lane, made once somebody opens it.
#[component]
pub fn Slices(props: &Props) -> Html {
    let is_open = use_state(|| false);
    let ontoggle = {
        let is_open = is_open.clone();
        Callback::from(move |event: yew::Event| {
            let details: Option<web_sys::Element> = event.target_dyn_into();
            is_open.set(details.is_some_and(|details| details.has_attribute("open")));
        })
    };
    html! {
        <details {ontoggle}>
            <summary>{ "The same as a table" }</summary>
            if *is_open { { rows(props) } }
        </details>
    }
}

fn rows(props: &Props) -> Html {
    let Props { plan, lanes, window } = props;
    let mut left_out = 0;
    let rows: Vec<Html> = lanes
        .lanes
        .iter()
        .enumerate()
        .flat_map(|(at, lane)| {
            let first = lane.bars.partition_point(|bar| bar.end_us <= window.from_us);
            let end = lane.bars.partition_point(|bar| bar.start_us < window.to_us).max(first);
            left_out += (end - first).saturating_sub(MOST);
            (first..end).take(MOST).map(move |index| {
                let bar = &lane.bars[index];
                html! {
                    <tr key={format!("{at} {index}")}>
                        <th scope="row">{ &lane.title }</th>
                        <td class="number">{ figures::duration(bar.start_us) }</td>
                        <td class="number">{ figures::duration(bar.end_us - bar.start_us) }</td>
                        <td>{ lanes.words(plan, at, index) }</td>
                    </tr>
                }
            })
        })
        .collect();
    html! {
        <>
            if left_out > 0 {
                <p class="muted">
                    { format!("{} more in this stretch: look at a shorter one.", figures::grouped(left_out as u64)) }
                </p>
            }
            <div class="table-scroll" tabindex="0" role="group" aria-label="Table of what the lanes do">
                <table data-testid="timeline-table">
                    <thead>
                        <tr>
                            <th scope="col">{ "Lane" }</th>
                            <th scope="col" class="number">{ "Start" }</th>
                            <th scope="col" class="number">{ "Time" }</th>
                            <th scope="col">{ "What" }</th>
                        </tr>
                    </thead>
                    <tbody>{ for rows }</tbody>
                </table>
            </div>
        </>
    }
}
