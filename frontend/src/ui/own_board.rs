//! The editor of a board of a person's own: what differs from one that is known.

use std::rc::Rc;

use tilewright_board::{Board, OWN, OwnBoard, SMALL, Support};
use tilewright_plan::Space;
use web_sys::HtmlInputElement;
use yew::prelude::*;

use super::choice::Choice;
use super::save::save_text;
use crate::message::PlanSettings;
use crate::state::Event;
use tilewright_report::sentence;

#[derive(PartialEq, Properties)]
pub struct Props {
    pub boards: Rc<Vec<Board>>,
    pub settings: PlanSettings,
    pub on: Callback<Event>,
}

/// A number of the board: its name, what `base` has, and what differs.
struct Field {
    id: &'static str,
    title: &'static str,
    base: u64,
    own: fn(&mut OwnBoard) -> &mut Option<u32>,
}

#[component]
pub fn OwnBoardEditor(props: &Props) -> Html {
    let first = || {
        let board = &props.settings.board;
        let usual = OwnBoard { base: board.clone(), ..OwnBoard::default() };
        board.parse().unwrap_or(usual)
    };
    let draft = use_state(first);
    let is_own = props.settings.board.starts_with(OWN);
    let bases = || {
        props.boards.iter().filter(|board| !board.id.starts_with(OWN) && !board.id.ends_with(SMALL))
    };
    let Some(base) = bases().find(|board| board.id == draft.base).or_else(|| bases().next()) else {
        return Html::default();
    };
    let made = draft.of(base);
    let on_base = {
        let draft = draft.clone();
        Callback::from(move |base: String| draft.set(OwnBoard { base, ..OwnBoard::default() }))
    };
    let options = bases()
        .filter(|board| board.support != Support::Virtual)
        .map(|board| (board.id.clone().into(), board.name.clone().into()))
        .collect::<Vec<_>>();
    let usable = {
        let (settings, on) = (props.settings.on_board(&draft.to_string()), props.on.clone());
        Callback::from(move |_: MouseEvent| {
            on.emit(Event::Settings(settings.clone(), false));
            on.emit(Event::ShowBoards(false));
        })
    };
    let save = {
        let text = draft.toml();
        Callback::from(move |_: MouseEvent| save_text("board.toml", &text, "application/toml"))
    };
    let has_slot = base.slot.is_some() && base.serves(Space::Card);
    html! {
        <details class="own-board" open={is_own} data-testid="own-board">
            <summary>{ "A board of your own" }</summary>
            <p class="muted detail">
                { "Begin with the board whose core and buses are nearest, and say what differs. Its times are kept. \
                   Plans are made and simulated for it; there is no firmware, so nothing runs." }
            </p>
            <div class="own-board-fields">
                <div class="picker">
                    <label for="pick-own-base">{ "Begins with" }</label>
                    <Choice id="own-base" value={draft.base.clone()} {options} on_choose={on_base} />
                </div>
                { for fields(base).into_iter().map(|field| number(&field, &draft)) }
                if has_slot {
                    <label class="choice">
                        <input type="checkbox" checked={draft.card != Some(false)} data-testid="own-card"
                            onchange={change(&draft, |own, input| {
                                own.card = if input.checked() { None } else { Some(false) };
                            })} />
                        { "Place for a card" }
                    </label>
                }
            </div>
            { match &made {
                Ok(_) => html! {
                    <p class="own-board-actions">
                        <button type="button" class="button primary" data-testid="own-use" onclick={usable}>{ "Plan for it" }</button>
                        <button type="button" class="button" onclick={save}>{ "Save as .toml" }</button>
                        <span class="muted detail">
                            { "The link of the page holds it; the command line takes the file: " }
                            <code>{ "--board board.toml" }</code>
                        </span>
                    </p>
                },
                Err(error) => html! {
                    <p class="trouble" role="alert" data-testid="own-trouble">{ sentence(&error.to_string()) }</p>
                },
            } }
        </details>
    }
}

/// Numbers that `base` has something of.
fn fields(base: &Board) -> Vec<Field> {
    let outside = |space| {
        let memory = base.external(space).filter(|_| base.serves(space));
        memory.map_or(0, |memory| memory.bytes.0 / 1024)
    };
    let all = [
        Field {
            id: "clock",
            title: "Clock, MHz",
            base: base.core.clock.hertz.0 / 1_000_000,
            own: |own| &mut own.clock_mhz,
        },
        Field {
            id: "sram",
            title: "SRAM for tensors, KiB",
            base: base.arena().0 / 1024,
            own: |own| &mut own.sram_kib,
        },
        Field {
            id: "flash",
            title: "Flash for the plan, KiB",
            base: base.plan_bytes().0 / 1024,
            own: |own| &mut own.flash_kib,
        },
        Field {
            id: "ram",
            title: "External RAM, KiB",
            base: outside(Space::ExternalRam),
            own: |own| &mut own.external_ram_kib,
        },
        Field {
            id: "store",
            title: "External flash, KiB",
            base: outside(Space::ExternalFlash),
            own: |own| &mut own.external_flash_kib,
        },
    ];
    all.into_iter().filter(|field| field.base > 0).collect()
}

fn number(field: &Field, draft: &UseStateHandle<OwnBoard>) -> Html {
    let (base, own) = (field.base, field.own);
    let value = own(&mut (**draft).clone()).map_or(base, u64::from);
    let onchange = change(draft, move |draft, input| {
        let number = input.value().trim().parse::<u32>().ok();
        *own(draft) = number.filter(|number| u64::from(*number) != base);
    });
    let class = classes!((value != base).then_some("own-changed"));
    html! {
        <label {class}>
            { field.title }
            <input type="number" min="0" value={value.to_string()} {onchange} data-testid={format!("own-{}", field.id)} />
        </label>
    }
}

/// Changes the draft by what a person did to an input.
fn change(
    draft: &UseStateHandle<OwnBoard>,
    set: impl Fn(&mut OwnBoard, HtmlInputElement) + 'static,
) -> Callback<yew::Event> {
    let draft = draft.clone();
    Callback::from(move |event: yew::Event| {
        let Some(input) = event.target_dyn_into::<HtmlInputElement>() else { return };
        let mut next = (*draft).clone();
        set(&mut next, input);
        draft.set(next);
    })
}
