//! A slider with a field for the exact number; both change it while they are moved.

use web_sys::HtmlInputElement;
use yew::prelude::*;

#[derive(PartialEq, Properties)]
pub struct Props {
    /// Short name, for attributes.
    pub id: &'static str,
    pub title: &'static str,
    /// The unit of the field, and how many of the value's make one.
    pub unit: &'static str,
    #[prop_or(1)]
    pub of: u64,
    pub value: u64,
    /// Least and most.
    pub range: (u64, u64),
    pub step: u64,
    /// What the value means, in words.
    pub text: AttrValue,
    /// Whether the value is other than the board's.
    #[prop_or_default]
    pub is_changed: bool,
    /// The value, and whether it is one move of a drag.
    pub on: Callback<(u64, bool)>,
    /// Back to the board's own value.
    pub on_reset: Callback<()>,
}

#[component]
pub fn Slider(props: &Props) -> Html {
    let Props { id, unit, of, value, range: (least, most), step, .. } = props;
    let (of, least, most) = (*of, *least, *most);
    let change = |is_dragging: bool| {
        let on = props.on.clone();
        move |input: Option<HtmlInputElement>| {
            let number = input.and_then(|input| input.value().parse::<f64>().ok());
            if let Some(number) = number.filter(|number| *number > 0.0) {
                let value = (number * of as f64).round().clamp(least as f64, most as f64) as u64;
                on.emit((value, is_dragging));
            }
        }
    };
    let (dragged, released, typed) = (change(true), change(false), change(false));
    let oninput = Callback::from(move |event: InputEvent| dragged(event.target_dyn_into()));
    let onchange = Callback::from(move |event: yew::Event| released(event.target_dyn_into()));
    let ontyped = Callback::from(move |event: yew::Event| typed(event.target_dyn_into()));
    let shown = |value: u64| {
        let scaled = value as f64 / of as f64;
        let decimals = if value.is_multiple_of(of) { 0 } else { 3 };
        crate::view_model::figures::fixed(scaled, decimals)
    };
    html! {
        <div class="slider">
            <label for={format!("slide-{id}")}>{ props.title }</label>
            // Beside the title: where it comes and goes, the number stays in its place.
            if props.is_changed {
                <button type="button" class="quiet reset" title={format!("{}: as the board has it", props.title)}
                    data-testid={format!("reset-{id}")} onclick={props.on_reset.reform(|_| ())}>
                    { "reset" }
                </button>
            }
            <span class="slider-number">
                <input type="number" class="number" aria-label={format!("{} in {unit}", props.title)}
                    data-testid={format!("number-{id}")} value={shown(*value)} min={shown(least)}
                    max={shown(most)} step="any" onchange={ontyped} />
                <span class="muted">{ unit }</span>
            </span>
            <input type="range" id={format!("slide-{id}")} data-testid={format!("slide-{id}")}
                min={shown(least)} max={shown(most)} step={shown(*step)} value={shown(*value)}
                aria-valuetext={props.text.clone()} {oninput} {onchange} />
            <span class="muted detail">{ &props.text }</span>
        </div>
    }
}
