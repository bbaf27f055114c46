//! A lesson beside the panels: its steps drive the page, its questions wait for an answer.

use wasm_bindgen::JsCast;
use wasm_bindgen_futures::spawn_local;
use web_sys::{DomParser, Element, FocusOptions, HtmlElement, HtmlInputElement, SupportedType};
use yew::prelude::*;

use super::icon::{Glyph, icon};
use crate::session::fetch::started;
use crate::state::Event;
use crate::view_model::fragment::Fragment;
use crate::view_model::lessons::{LESSONS, LessonPlace};

#[derive(PartialEq, Properties)]
pub struct Props {
    pub place: LessonPlace,
    /// Whether a model is open, or being opened: a link that names a state of the page is not overruled.
    pub has_model: bool,
    pub on: Callback<Event>,
}

#[component]
pub fn LessonPanel(props: &Props) -> Html {
    let node = use_node_ref();
    // Number of steps, once the lesson is there; or why it is not.
    let steps = use_state(|| Ok::<usize, String>(0));
    let is_fresh = use_mut_ref(|| true);
    let LessonPlace { lesson, step } = props.place;
    {
        let (node, steps) = (node.clone(), steps.clone());
        use_effect_with(lesson, move |lesson| {
            steps.set(Ok(0));
            let path = format!("lessons/{}.html", LESSONS[*lesson].id);
            spawn_local(async move {
                let text = started(path)
                    .await
                    .map(|bytes| String::from_utf8_lossy(&bytes.to_vec()).into_owned());
                let filled = text.map_err(|trouble| trouble.to_string()).and_then(|text| {
                    node.cast::<Element>()
                        .and_then(|node| fill(&node, &text))
                        .ok_or_else(|| "The lesson cannot be read: load the page again.".to_owned())
                });
                steps.set(filled);
            });
        });
    }
    let count = steps.as_ref().copied().unwrap_or(0);
    {
        let (node, on, place, has_model) =
            (node.clone(), props.on.clone(), props.place, props.has_model);
        use_effect_with((place, count), move |(place, count)| {
            let Some(node) = node.cast::<Element>().filter(|_| *count > 0) else { return };
            let link = show(&node, place.step);
            focus_heading(&node);
            // Whoever follows a link sees what it names first.
            let is_overruled = is_fresh.replace(false) && has_model;
            if let Some(link) = link.filter(|_| !is_overruled) {
                on.emit(follow(&link, *place));
            }
        });
    }
    let onclick = {
        let (on, place) = (props.on.clone(), props.place);
        Callback::from(move |event: MouseEvent| {
            let Some(target) = event.target().and_then(|t| t.dyn_into::<Element>().ok()) else {
                return;
            };
            if let Ok(Some(anchor)) = target.closest("a[href]") {
                let href = anchor.get_attribute("href").unwrap_or_default();
                if let Some((_, link)) = href.split_once('#') {
                    event.prevent_default();
                    on.emit(follow(link, place));
                }
            } else if let Ok(Some(button)) = target.closest("[data-commit]") {
                commit(&button);
            }
        })
    };
    let onchange = Callback::from(|event: yew::Event| {
        let target = event.target().and_then(|t| t.dyn_into::<Element>().ok());
        let question = target.and_then(|target| target.closest(".question").ok().flatten());
        let button = question.and_then(|q| q.query_selector("[data-commit]").ok().flatten());
        if let Some(button) = button {
            let _ = button.remove_attribute("disabled");
        }
    });
    let go = |to: Option<LessonPlace>, id: &'static str, text: &'static str| {
        html! {
            <button type="button" class="button" disabled={to.is_none()} data-testid={id}
                onclick={props.on.reform(move |_| Event::Lesson(to))}>{ text }</button>
        }
    };
    let last = count.saturating_sub(1);
    let before = (step > 0).then(|| LessonPlace { step: step - 1, ..props.place });
    let behind = (step < last).then_some(LessonPlace { step: step + 1, ..props.place });
    let next_lesson = LessonPlace { lesson: lesson + 1, step: 0 };
    let behind = behind.or((count > 0 && lesson + 1 < LESSONS.len()).then_some(next_lesson));
    html! {
        <aside class="lesson" data-testid="lesson" aria-label="Lesson">
            <header class="lesson-head">
                <span class="muted detail" data-testid="lesson-at">
                    { format!("Lesson {} of {}, step {} of {}", lesson + 1, LESSONS.len(), step.min(last) + 1, count.max(1)) }
                </span>
                <a class="quiet button" href={format!("lessons/{}.html", props.place.lesson().id)} target="_blank">{ "Print" }</a>
                <a class="quiet button" href="lessons/glossary.html" target="_blank">{ "Glossary" }</a>
                <button type="button" class="quiet icon-button" title="Close the lesson" aria-label="Close the lesson"
                    data-testid="lesson-close" onclick={props.on.reform(|_| Event::Lesson(None))}>
                    { icon(Glyph::Close) }
                </button>
            </header>
            if let Err(trouble) = &*steps { <p class="note" role="alert">{ trouble }</p> }
            <div class="lesson-text" ref={node} {onclick} {onchange}></div>
            <div class="lesson-steps">
                { go(before, "lesson-back", "Back") }
                if count == 0 || behind.is_some() {
                    { go(behind, "lesson-next", if step < last { "Next" } else { "Next lesson" }) }
                }
            </div>
        </aside>
    }
}

/// Shows what a link of a lesson names, and keeps the lesson open; an empty one leads to the first page.
fn follow(link: &str, place: LessonPlace) -> Event {
    let lesson = (!link.is_empty()).then_some(place);
    Event::Follow(Fragment { lesson, ..Fragment::parse(link) })
}

/// Puts a lesson's content into an element. Gives the number of its steps.
fn fill(node: &Element, text: &str) -> Option<usize> {
    let document = DomParser::new().ok()?.parse_from_string(text, SupportedType::TextHtml).ok()?;
    let main = document.query_selector("main").ok()??;
    node.set_inner_html(&main.inner_html());
    let steps = node.query_selector_all("section").ok()?.length();
    (steps > 0).then_some(steps as usize)
}

/// Shows one step, and gives what the page is to show with it. The title stands above the first step.
fn show(node: &Element, step: usize) -> Option<String> {
    let all = node.query_selector_all("section").ok()?;
    let at = (step as u32).min(all.length().saturating_sub(1));
    let mut link = None;
    // What stands before all steps is the first one's.
    if let Ok(before) = node.query_selector_all(":scope > p") {
        for paragraph in (0..before.length()).filter_map(|index| before.get(index)) {
            let paragraph: Option<Element> = paragraph.dyn_into().ok();
            let _ =
                paragraph.map(|paragraph| paragraph.toggle_attribute_with_force("hidden", at > 0));
        }
    }
    for index in 0..all.length() {
        let section: Element = all.get(index)?.dyn_into().ok()?;
        let _ = section.toggle_attribute_with_force("hidden", index != at);
        if index == at {
            link = section.get_attribute("data-link");
        }
    }
    node.set_scroll_top(0);
    link
}

/// Where nothing outside has the focus, the shown step's heading has it: reading goes on there.
fn focus_heading(node: &Element) {
    let active = node.owner_document().and_then(|document| document.active_element());
    let is_free = active.is_none_or(|active| {
        ["BODY", "MAIN"].contains(&active.tag_name().as_str())
            || active.closest(".lesson").is_ok_and(|lesson| lesson.is_some())
    });
    let heading = node.query_selector("section:not([hidden]) > h2").ok().flatten();
    let heading = heading.and_then(|heading| heading.dyn_into::<HtmlElement>().ok());
    if let Some(heading) = heading.filter(|_| is_free) {
        let _ = heading.set_attribute("tabindex", "-1");
        let options = FocusOptions::new();
        options.set_prevent_scroll(true);
        let _ = heading.focus_with_options(&options);
    }
}

/// The student has chosen: says which answer is right, and why.
fn commit(button: &Element) {
    let Ok(Some(question)) = button.closest(".question") else { return };
    let Ok(choices) = question.query_selector_all("input") else { return };
    for index in 0..choices.length() {
        let choice =
            choices.get(index).and_then(|choice| choice.dyn_into::<HtmlInputElement>().ok());
        let Some(choice) = choice else { continue };
        let class = match (choice.value().as_str(), choice.checked()) {
            ("right", _) => "right",
            (_, true) => "wrong",
            _ => "",
        };
        choice.set_disabled(true);
        if let Some(label) = choice.parent_element() {
            label.set_class_name(class);
        }
    }
    let _ = button.set_attribute("hidden", "");
    if let Some(answer) = question.next_element_sibling() {
        let _ = answer.remove_attribute("hidden");
    }
}
