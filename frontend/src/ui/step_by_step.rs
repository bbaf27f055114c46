//! Two plans side by side, operator by operator: played, scrubbed, or stepped with keys.

use std::rc::Rc;

use tilewright_report::short_name;
use yew::prelude::*;

use super::chart::use_width;
use super::choice::Choice;
use super::panel::Panel;
use super::parts::legend;
use super::player::{keys, player, use_ticks};
use super::save::save_buttons;
use super::step_by_step_drawing::{Links, drawing};
use crate::message::PlanSettings;
use crate::state::{Event, Plans, Selection, View};
use crate::view_model::compare::columns;
use crate::view_model::figures;
use crate::view_model::step_by_step::{Move, Side, Walk, holds_parts_only, lines, sides, step};

#[derive(PartialEq, Properties)]
pub struct Props {
    pub model: AttrValue,
    pub strategies: Rc<Vec<String>>,
    pub settings: PlanSettings,
    pub plans: Plans,
    pub lit: Selection,
    /// What was chosen, whatever the pointer is over.
    pub selected: Selection,
    pub is_maximised: bool,
    pub on: Callback<Event>,
}

#[component]
pub fn WalkPanel(props: &Props) -> Html {
    let picked = use_state(|| [None::<String>, None]);
    let columns = columns(&props.strategies, &props.settings, &props.plans);
    let planned: Vec<Side> = columns
        .into_iter()
        .filter_map(|c| Some(Side { plan: Rc::clone(c.plan()?), strategy: c.strategy }))
        .collect();
    let shown = sides(&planned, &props.settings.strategy, &picked);
    let operators = shown.iter().map(|side| side.plan.memory.rows.len()).max().unwrap_or(0);
    let own = shown.iter().any(|side| side.plan.settings == props.settings);
    let walk = use_reducer(Walk::default);
    let now = Walk { at: walk.at.min(operators.saturating_sub(1)), ..*walk };
    let hovers = props.on.reform(|at| Event::Hover(Selection::layer(at)));
    use_ticks(&walk, now, operators, own.then_some(hovers));
    use_selection(&walk, props.selected.layer.filter(|_| own), operators);
    let node = use_node_ref();
    let width = use_width(node.clone(), shown.len() == 2);
    // Keys may come faster than the page is drawn.
    let latest = use_mut_ref(|| now);
    *latest.borrow_mut() = now;
    let go = {
        let (walk, on, shown) = (walk.dispatcher(), props.on.clone(), shown.clone());
        Callback::from(move |by: Move| {
            walk.dispatch((by, operators));
            let to = latest.borrow().moved(by, operators);
            *latest.borrow_mut() = to;
            if !to.is_playing {
                let selection = if own { Selection::layer(to.at) } else { Selection::NONE };
                on.emit(Event::Reach(selection, words(&shown, to.at)));
            }
        })
    };
    let actions = html! {
        { save_buttons(&node, &format!("{}-steps", props.model), "steps", &props.on) }
    };
    let Some([before, after]) = <&[Side; 2]>::try_from(shown.as_slice()).ok() else {
        return html! {
            <Panel view={View::Walk} is_maximised={props.is_maximised} on={props.on.clone()}>
                <p class="waiting">
                    { "As soon as two strategies are planned, they stand here side by side." }
                </p>
            </Panel>
        };
    };
    let last = operators.saturating_sub(1);
    let is_shown = [before, after].map(|side| side.plan.settings == props.settings);
    let links = Links { go: &go, on: &props.on, lit: props.lit, is_shown };
    html! {
        <Panel view={View::Walk} is_maximised={props.is_maximised} on={props.on.clone()} {actions}>
            <div class="walk-controls">
                { picker("before", "Before", before, &planned, &picked) }
                { picker("after", "After", after, &planned, &picked) }
                { player(now, last, "Operator", "walk", &go) }
            </div>
            <div class="chart walk" ref={node.clone()} tabindex="0" role="application"
                aria-roledescription="animation" data-testid="walk" onkeydown={keys(&go)}
                aria-label={label(before, after)}>
                if width > 0.0 {
                    { drawing([before, after], now.at, width, &links) }
                }
            </div>
            { legend(key_of([before, after])) }
            <div class="walk-words" data-testid="walk-words">
                { for shown.iter().map(|side| html! {
                    <p key={side.strategy.clone()} class="detail">
                        <strong>{ &side.strategy }</strong>{ ": " }
                        { step(&side.plan, now.at).map_or_else(
                            || "has ended.".to_owned(),
                            |step| step.words(&side.plan),
                        ) }
                    </p>
                }) }
            </div>
            { table(before, after) }
        </Panel>
    }
}

/// What the colours of both sides mean.
fn key_of(sides: [&Side; 2]) -> Vec<(&'static str, AttrValue)> {
    let in_parts = sides.iter().any(|side| holds_parts_only(&side.plan));
    let rest = if in_parts { "needed later, or by others meanwhile" } else { "needed later" };
    let mut key =
        vec![("input", "read".into()), ("output", "written".into()), ("rest", rest.into())];
    if in_parts {
        key.extend([("weights", "weights".into()), ("scratch", "scratch".into())]);
    }
    if !sides.iter().all(|side| holds_parts_only(&side.plan)) {
        key.push(("freed", "freed after this operator".into()));
    }
    key
}

/// Goes where other panels select an operator.
#[hook]
fn use_selection(walk: &UseReducerHandle<Walk>, selected: Option<usize>, operators: usize) {
    let walk = walk.clone();
    use_effect_with(selected, move |selected| {
        if let Some(layer) = selected.filter(|layer| *layer != walk.at) {
            walk.dispatch((Move::To(layer), operators));
        }
    });
}

fn picker(
    id: &'static str,
    title: &'static str,
    shown: &Side,
    planned: &[Side],
    picked: &UseStateHandle<[Option<String>; 2]>,
) -> Html {
    let options: Vec<_> =
        planned.iter().map(|p| (p.strategy.clone().into(), p.strategy.clone().into())).collect();
    let picked = picked.clone();
    let on_choose = Callback::from(move |strategy: String| {
        let mut now = (*picked).clone();
        now[usize::from(id == "after")] = Some(strategy);
        picked.set(now);
    });
    html! {
        <div class="picker">
            <label for={format!("pick-{id}")}>{ title }</label>
            <Choice {id} value={shown.strategy.clone()} {options} {on_choose} />
        </div>
    }
}

/// What is said aloud at an operator; the panel says the rest.
fn words(shown: &[Side], at: usize) -> String {
    let said = |side: &Side| {
        let step = step(&side.plan, at)?;
        let (name, live) = (short_name(&step.name), figures::bytes(step.live_bytes));
        Some(format!("{}: {name}, {live} live", side.strategy))
    };
    let said: Vec<String> = shown.iter().filter_map(said).collect();
    format!("Operator {}. {}", at + 1, said.join("; "))
}

fn label(before: &Side, after: &Side) -> String {
    let moved = lines(&before.plan, &after.plan).iter().filter(|line| line.is_moved).count();
    let arena = |side: &Side| figures::bytes(side.plan.memory.arena_bytes.0);
    format!(
        "{}: arena of {}; {}: arena of {}; {moved} operators stand elsewhere. Space plays and \
         pauses, arrow keys step, Home and End go to the ends.",
        before.strategy,
        arena(before),
        after.strategy,
        arena(after)
    )
}

fn table(before: &Side, after: &Side) -> Html {
    let operators = before.plan.memory.rows.len().max(after.plan.memory.rows.len());
    let cells = |side: &Side, at: usize| {
        let row = side.plan.memory.rows.get(at);
        html! {
            <>
                <td>{ row.map_or("", |row| short_name(&row.name)) }</td>
                <td class="number">
                    { row.map_or_else(String::new, |row| figures::grouped(row.live_bytes.0)) }
                </td>
            </>
        }
    };
    let heads = |side: &Side| {
        html! {
            <>
                <th scope="col">{ &side.strategy }</th>
                <th scope="col" class="number">{ "Live bytes" }</th>
            </>
        }
    };
    html! {
        <details>
            <summary>{ "The same as a table" }</summary>
            <div class="table-scroll" tabindex="0" role="group" aria-label="Table of both orders">
                <table>
                    <thead><tr>
                        <th scope="col" class="number">{ "#" }</th>
                        { heads(before) }{ heads(after) }
                    </tr></thead>
                    <tbody>
                        { for (0..operators).map(|at| html! {
                            <tr key={at}>
                                <td class="number muted">{ at }</td>
                                { cells(before, at) }{ cells(after, at) }
                            </tr>
                        }) }
                    </tbody>
                </table>
            </div>
        </details>
    }
}
