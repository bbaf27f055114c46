//! Finding nodes by name, operator or shape.

use std::rc::Rc;

use tilewright_report::short_name;
use yew::prelude::*;

use crate::message::GraphFacts;
use crate::view_model::figures;
use crate::view_model::graph::search;

/// Results that are listed; more words find fewer.
const LISTED: usize = 40;

#[derive(PartialEq, Properties)]
pub struct Props {
    pub graph: Rc<GraphFacts>,
    /// A node was chosen.
    pub on_choose: Callback<usize>,
}

/// A box with the list of what it finds.
#[component]
pub fn Search(props: &Props) -> Html {
    let text = use_state(String::new);
    let at = use_state(|| 0usize);
    let found = search(&props.graph, &text);
    let listed = found.len().min(LISTED);
    let current = (*at).min(listed.saturating_sub(1));
    let is_open = !text.trim().is_empty();
    let oninput = {
        let (text, at) = (text.clone(), at.clone());
        Callback::from(move |event: InputEvent| {
            let input: Option<web_sys::HtmlInputElement> = event.target_dyn_into();
            text.set(input.map(|input| input.value()).unwrap_or_default());
            at.set(0);
        })
    };
    let choose = {
        let (text, on_choose) = (text.clone(), props.on_choose.clone());
        Callback::from(move |node: usize| {
            text.set(String::new());
            on_choose.emit(node);
        })
    };
    let onkeydown = {
        let (text, at, choose) = (text.clone(), at.clone(), choose.clone());
        let chosen = found.get(current).copied();
        Callback::from(move |event: KeyboardEvent| {
            match event.key().as_str() {
                "ArrowDown" => at.set((current + 1).min(listed.saturating_sub(1))),
                "ArrowUp" => at.set(current.saturating_sub(1)),
                "Enter" => chosen.into_iter().for_each(|node| choose.emit(node)),
                "Escape" => text.set(String::new()),
                _ => return,
            }
            event.prevent_default();
        })
    };
    let active = (is_open && listed > 0).then(|| format!("graph-result-{current}"));
    html! {
        <div class="graph-search">
            <input type="search" class="filter" placeholder="Find an operator or shape" role="combobox"
                aria-label="Find nodes by name, operator or shape" aria-autocomplete="list"
                aria-expanded={is_open.to_string()} aria-controls="graph-results"
                aria-activedescendant={active} autocomplete="off" data-testid="graph-search"
                value={(*text).clone()} {oninput} {onkeydown} />
            if is_open {
                <div class="graph-results">
                    <p class="muted detail" role="status" data-testid="graph-found">
                        { match found.len() {
                            0 => "Nothing holds this.".to_owned(),
                            1 => "1 node".to_owned(),
                            count if count > LISTED => {
                                format!("{} nodes, the first {LISTED}:", figures::grouped(count as u64))
                            }
                            count => format!("{count} nodes"),
                        } }
                    </p>
                    <ul id="graph-results" role="listbox" aria-label="Nodes found">
                        { for found.iter().take(LISTED).enumerate().filter_map(|(place, index)| {
                            let node = props.graph.nodes.get(*index)?;
                            let (choose, index) = (choose.clone(), *index);
                            Some(html! {
                                <li key={index} id={format!("graph-result-{place}")} role="option"
                                    aria-selected={(place == current).to_string()}
                                    onclick={Callback::from(move |_| choose.emit(index))}>
                                    <svg width="8" height="8" aria-hidden="true">
                                        <rect width="8" height="8" rx="1" class={format!("fill-{}", node.family.id())} />
                                    </svg>
                                    <span class="graph-result-name">{ short_name(&node.name) }</span>
                                    <span class="muted">{ format!("{} {}", node.op, node.output) }</span>
                                </li>
                            })
                        }) }
                    </ul>
                </div>
            }
        </div>
    }
}
