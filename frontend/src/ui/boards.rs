//! Boards as cards, in a dialog: what each has, what the open model comes to on it, and a board of a person's own.

use std::rc::Rc;

use tilewright_board::Board;
use yew::prelude::*;

use super::chart::px;
use super::modal::use_modal;
use super::own_board::OwnBoardEditor;
use super::parts::trouble_box;
use crate::message::PlanSettings;
use crate::state::{Boards, Doer, Event, Place};
use crate::view_model::boards::{Bar, Card, Outcome, cards, references};
use tilewright_report::Diagnostic;

/// Pixels for each doubling of a memory's size, from 1 KiB on.
const DOUBLING: f64 = 6.0;
const BAR: f64 = 8.0;
const ROW: f64 = 15.0;

#[derive(PartialEq, Properties)]
pub struct Props {
    pub choice: Boards,
    pub boards: Rc<Vec<Board>>,
    pub settings: PlanSettings,
    /// Name of the open model.
    pub model: Option<AttrValue>,
    /// What is planned now.
    pub doing: Option<String>,
    pub trouble: Option<Diagnostic>,
    pub on: Callback<Event>,
}

#[component]
pub fn BoardsDialog(props: &Props) -> Html {
    let Props { choice, boards, settings, on, .. } = props;
    let node = use_modal(choice.is_open);
    let close = on.reform(|_: MouseEvent| Event::ShowBoards(false));
    html! {
        <dialog ref={node} class="zoo boards" aria-labelledby="boards-heading" data-testid="boards"
            onclose={on.reform(|_: yew::Event| Event::ShowBoards(false))}>
            if choice.is_open {
                <div class="zoo-body">
                    <header class="zoo-head">
                        <h2 id="boards-heading">{ "Boards" }</h2>
                        <button type="button" class="quiet" data-testid="boards-close" onclick={close}>{ "Close" }</button>
                    </header>
                    if let Some(trouble) = &props.trouble {
                        { trouble_box(trouble, Place::Explore, "", on) }
                    }
                    <p class="muted detail" data-testid="boards-said">
                        { match &props.model {
                            Some(model) => format!("What {model} comes to on each with the best plan (time is modelled); \
                                the smallest board that fits comes first."),
                            None => "Open a model to see on which of them it fits.".to_owned(),
                        } }
                        if let Some(doing) = &props.doing {
                            { format!(" {doing} ") }
                            <button type="button" class="quiet" onclick={on.reform(|_| Event::Stop(Doer::Sweeper))}>
                                { "Stop" }
                            </button>
                        }
                    </p>
                    <ul class="gallery" data-testid="boards-list">
                        { for cards(boards, &choice.rows, &settings.board).iter().map(|card| drawn(card, props)) }
                    </ul>
                    <OwnBoardEditor key={settings.board.clone()} boards={Rc::clone(boards)} settings={settings.clone()}
                        on={on.clone()} />
                    <details>
                        <summary>{ "Reference profiles of papers, which nobody can buy" }</summary>
                        <ul class="gallery">
                            { for references(boards, &settings.board).iter().map(|card| drawn(card, props)) }
                        </ul>
                    </details>
                </div>
            }
        </dialog>
    }
}

fn drawn(card: &Card, props: &Props) -> Html {
    let settings = props.settings.on_board(&card.id);
    let choose = {
        let on = props.on.clone();
        Callback::from(move |_: MouseEvent| {
            on.emit(Event::Settings(settings.clone(), false));
            on.emit(Event::ShowBoards(false));
        })
    };
    let (outcome, class) = match &card.outcome {
        Outcome::Unknown => (String::new(), ""),
        Outcome::Fits { text, .. } => (format!("✓ {text}"), "board-fits"),
        Outcome::Not(why) => (why.clone(), "card-unfit"),
    };
    html! {
        <li key={card.id.clone()}>
            <button type="button" class={classes!("card", "board-card", class, card.is_chosen.then_some("card-chosen"))}
                aria-pressed={card.is_chosen.to_string()} data-testid={format!("board-{}", card.id)} onclick={choose}>
                <strong>{ &card.title }</strong>
                <span>{ &card.core }</span>
                { picture(card) }
                <span class="detail">
                    <span class={classes!("board-state", card.runs.then_some("board-runs"))}>{ card.state }</span>
                    if card.is_smallest { <span class="board-smallest">{ "smallest that fits" }</span> }
                </span>
                if !outcome.is_empty() { <span class="detail card-outcome">{ outcome }</span> }
            </button>
        </li>
    }
}

/// The chip with its memories, and below it those outside, each as long as it has doublings.
fn picture(card: &Card) -> Html {
    let chip = 6.0 + ROW * card.inside.len() as f64;
    let height = chip + 10.0 + ROW * card.outside.len() as f64;
    let row = |bar: &Bar, top: f64| {
        let width = 4.0 + DOUBLING * bar.doublings;
        html! {
            <>
                <rect class={format!("fill-{}", bar.fill)} x="14" y={px(top)} width={px(width)} height={px(BAR)} rx="1.5" />
                <text class="board-text" x={px(22.0 + width)} y={px(top + BAR)}>{ &bar.title }</text>
            </>
        }
    };
    let inside = card.inside.iter().enumerate();
    let outside = card.outside.iter().enumerate();
    let top_of = |index: usize| chip + 10.0 + ROW * index as f64;
    html! {
        <svg class="board-picture" viewBox={format!("0 0 300 {}", px(height))} width="300" height={px(height)}
            aria-hidden="true">
            <rect class="board-chip" x="6" y="0.5" width="288" height={px(chip)} rx="3" />
            { for inside.map(|(index, bar)| row(bar, 6.0 + ROW * index as f64)) }
            if let Some(last) = card.outside.len().checked_sub(1) {
                <path class="board-bus" d={format!("M8 {}V{}", px(chip + 0.5), px(top_of(last) + BAR / 2.0))} />
            }
            { for outside.map(|(index, bar)| html! {
                <>
                    <path class="board-bus" d={format!("M8 {}H14", px(top_of(index) + BAR / 2.0))} />
                    { row(bar, top_of(index)) }
                </>
            }) }
        </svg>
    }
}
