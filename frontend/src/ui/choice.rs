//! A drop-down list.

use std::rc::Rc;

use web_sys::HtmlSelectElement;
use yew::prelude::*;

#[derive(PartialEq, Properties)]
pub struct Props {
    /// Ending of its id and test id.
    pub id: &'static str,
    /// The value that is chosen, whatever the person did to the element.
    pub value: AttrValue,
    /// Values and their texts.
    pub options: Vec<(AttrValue, AttrValue)>,
    /// Values that cannot be chosen now, and why.
    #[prop_or_default]
    pub obstacles: Rc<Vec<(String, String)>>,
    #[prop_or_default]
    pub is_disabled: bool,
    pub on_choose: Callback<String>,
}

/// A drop-down list that always shows `value`.
#[component]
pub fn Choice(props: &Props) -> Html {
    let node = use_value(props.value.clone());
    let onchange = chosen(&props.on_choose);
    let id = format!("pick-{}", props.id);
    let obstacle = |(name, why): &(String, String)| format!("{name}: {why}");
    let obstacles: Vec<String> = props.obstacles.iter().map(obstacle).collect();
    let title = (!obstacles.is_empty()).then(|| obstacles.join("; "));
    html! {
        <select ref={node} id={id.clone()} data-testid={id} {title} {onchange}
            disabled={props.is_disabled || props.options.is_empty()}>
            if props.value.is_empty() {
                <option value="" disabled={true}>{ "Choose…" }</option>
            }
            { for props.options.iter().map(|(value, text)| {
                let obstacle = props.obstacles.iter().find(|(name, _)| *name == value.as_str());
                let title = obstacle.map(|(_, why)| why.clone());
                html! {
                    <option key={value.to_string()} value={value.clone()} {title}
                        disabled={obstacle.is_some()}>{ text }</option>
                }
            }) }
        </select>
    }
}

/// The node of a `select` element that shows `value` whatever a person chose.
#[hook]
pub fn use_value(value: AttrValue) -> NodeRef {
    let node = use_node_ref();
    let of_effect = node.clone();
    // After each drawing: once a person has chosen, a browser ignores which option is marked.
    use_effect(move || {
        if let Some(select) = of_effect.cast::<HtmlSelectElement>() {
            select.set_value(&value);
        }
    });
    node
}

/// Says the value that a person chose.
pub fn chosen(on_choose: &Callback<String>) -> Callback<yew::Event> {
    let on_choose = on_choose.clone();
    Callback::from(move |event: yew::Event| {
        let select: Option<HtmlSelectElement> = event.target_dyn_into();
        select.into_iter().for_each(|select| on_choose.emit(select.value()));
    })
}
