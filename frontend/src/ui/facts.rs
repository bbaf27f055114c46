//! Figures with what they are, how they came to be, and other words for them.

use yew::prelude::*;

use super::parts::kind_tag;
use crate::view_model::overview::Fact;

/// A list of figures; `prefix` begins their test ids.
pub fn fact_list(prefix: &str, facts: &[Fact]) -> Html {
    html! {
        <dl class="facts">
            { for facts.iter().map(|fact| html! {
                <div key={fact.id} class="fact" data-testid={format!("{prefix}-{}", fact.id)}>
                    <dt>{ fact.title }</dt>
                    <dd>
                        <span class="figure">{ &fact.value }</span>
                        { kind_tag(fact.kind) }
                        <span class="muted detail">{ &fact.detail }</span>
                    </dd>
                </div>
            }) }
        </dl>
    }
}
