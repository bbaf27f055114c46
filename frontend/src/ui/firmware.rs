//! The files for the board.

use std::rc::Rc;

use tilewright_board::Board;
use yew::prelude::*;

use super::icon::{Glyph, icon};
use super::panel::Panel;
use super::parts::trouble_box;
use crate::message::{ImageFacts, Package, PlanFacts, Reordered};
use crate::session::Download;
use crate::state::{Event, Place, View};
use crate::view_model::figures;
use crate::view_model::firmware::{gain, proof, purpose, stretches};
use tilewright_report::Diagnostic;

#[derive(PartialEq, Properties)]
pub struct Props {
    pub plan: Rc<PlanFacts>,
    pub boards: Rc<Vec<Board>>,
    pub package: Option<Rc<Package>>,
    pub downloads: Rc<Vec<Download>>,
    pub image: Option<Download>,
    pub trouble: Option<Diagnostic>,
    pub can_reorder: bool,
    pub is_reordering: bool,
    pub reordered: Option<Rc<Reordered>>,
    pub reordered_file: Option<Download>,
    pub is_busy: bool,
    /// Whether library and plan are being put together.
    pub is_saving: bool,
    pub is_stale: bool,
    pub is_maximised: bool,
    pub on: Callback<Event>,
}

#[component]
pub fn FirmwarePanel(props: &Props) -> Html {
    let board = props.boards.iter().find(|board| board.id == props.plan.settings.board_id());
    let body = match &props.plan.image {
        None => html! {
            <p class="waiting" data-testid="no-image">
                { format!("There is no image: {}", props.plan.no_image.as_deref().unwrap_or(
                    "the plan does not fit. The overview says what would help.")) }
            </p>
        },
        Some(image) => {
            html! { <>{ files(props, image) }{ board.map(|b| where_to(props, b)) }{ in_own_firmware(props) }</> }
        }
    };
    html! {
        <Panel view={View::Firmware} is_maximised={props.is_maximised} on={props.on.clone()}
            is_stale={props.is_stale}>
            if let Some(trouble) = &props.trouble {
                { trouble_box(trouble, Place::Firmware, "The plan image alone can be downloaded.",
                    &props.on) }
            }
            { body }
            if props.can_reorder {
                { for_tflm(props) }
            }
            <p class="muted detail">
                { "All of this is made in your browser. Your model leaves it only if you run it on a server: then its plan image goes there." }
            </p>
        </Panel>
    }
}

fn files(props: &Props, image: &ImageFacts) -> Html {
    let package = props.package.iter().flat_map(|package| &package.files);
    let rows = package
        .zip(props.downloads.iter())
        .map(|(file, download)| row(download, file.bytes, &file.sha256));
    let waits_to_be_asked =
        image.store_bytes > 0 && props.package.is_none() && !props.is_busy && !props.is_stale;
    let alone = props.image.as_ref().map(|download| row(download, image.bytes, &image.sha256));
    html! {
        <>
            if image.store_bytes > 0 {
                <p data-testid="stores">
                    { format!("{} of weights and header lie in a store image outside of the chip.",
                        figures::bytes(image.store_bytes)) }
                </p>
            }
            if waits_to_be_asked {
                <button type="button" class="button primary" data-testid="package"
                    onclick={props.on.reform(|_| Event::Package)}>
                    { "Make firmware and store images" }
                </button>
            }
            if props.is_busy && props.package.is_none() {
                <p class="waiting">{ "Putting firmware and plan together…" }</p>
            }
            <div class="table-scroll" tabindex="0" role="group" aria-label="Files">
                <table class="files" data-testid="downloads">
                    <thead><tr>
                        <th scope="col">{ "File" }</th>
                        <th scope="col" class="number">{ "Bytes" }</th>
                        <th scope="col">{ "SHA-256" }</th>
                    </tr></thead>
                    <tbody>{ for rows }{ for alone }</tbody>
                </table>
            </div>
            <p class="detail muted">
                { "Plan id " }<span class="hash" title={image.plan_id.clone()}>{ short(&image.plan_id) }</span>
                { "; the board's console shows the same." }
            </p>
        </>
    }
}

/// The plan inside firmware that somebody writes.
fn in_own_firmware(props: &Props) -> Html {
    let on = props.on.reform(|_: MouseEvent| Event::SaveLibrary);
    html! {
        <>
            <h3>{ "In your own firmware" }</h3>
            <p>
                { "A static library for this core, a C header, the plan image as C source, and a target for CMake: \
                   open, invoke, read the outputs. The same plan by the same kernels." }
            </p>
            <button type="button" class="button" data-testid="library" disabled={props.is_saving || props.is_stale}
                onclick={on}>
                { icon(Glyph::Save) }{ "C library with this plan (.zip)" }
            </button>
        </>
    }
}

/// The model's own file for another runtime.
fn for_tflm(props: &Props) -> Html {
    let done = props.reordered.as_ref().zip(props.reordered_file.as_ref());
    let (on, is_off) = (props.on.clone(), props.is_reordering);
    let onclick = Callback::from(move |_: MouseEvent| on.emit(Event::Reorder));
    html! {
        <>
            <h3>{ "For TensorFlow Lite Micro" }</h3>
            if let Some((reordered, download)) = done {
                <p data-testid="reordered">
                    { "Tensor arena: " }<strong>{ gain(reordered) }</strong>
                    { format!("; {}.", proof(reordered)) }
                </p>
                <div class="table-scroll" tabindex="0" role="group" aria-label="Reordered model">
                    <table class="files"><tbody>
                        { row(download, reordered.file.bytes, &reordered.file.sha256) }
                    </tbody></table>
                </div>
            } else {
                <p>
                    { "Your .tflite file with its operators in the order that needs the smallest arena, and with tensor offsets as metadata that the stock runtime keeps to. It computes the same." }
                </p>
                <button type="button" class="button" data-testid="reorder" disabled={is_off} {onclick}>
                    { if is_off { "Looking for the order…" } else { "Make reordered .tflite" } }
                </button>
            }
        </>
    }
}

fn row(download: &Download, bytes: u64, sha256: &str) -> Html {
    let name = &download.name;
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    html! {
        <tr key={name.clone()}>
            <th scope="row">
                <a class="download" href={download.address.0.clone()} download={name.clone()}
                    data-testid={format!("download-{ending}")}>
                    { icon(Glyph::Save) }{ name }
                </a>
                <span class="muted detail">{ purpose(name) }</span>
            </th>
            <td class="number" title={figures::binary(bytes)}>{ figures::grouped(bytes) }</td>
            <td class="sum"><code class="hash" title={sha256.to_owned()}>{ sha256 }</code></td>
        </tr>
    }
}

fn short(digits: &str) -> String {
    let start: String = digits.chars().take(12).collect();
    format!("{start}…")
}

fn where_to(props: &Props, board: &Board) -> Html {
    let how = board.firmware.as_ref().map(|firmware| firmware.how_to_flash.clone());
    html! {
        <>
            <h3>{ "How to flash" }</h3>
            if let Some(package) = &props.package {
                <pre class="steps" data-testid="steps">{ &package.steps }</pre>
            } else {
                <p>{ how }</p>
            }
            <details>
                <summary>{ "Addresses" }</summary>
                <div class="table-scroll" tabindex="0" role="group" aria-label="Addresses">
                    <table>
                        <thead><tr>
                            <th scope="col">{ "What" }</th>
                            <th scope="col">{ "From" }</th>
                            <th scope="col" class="number">{ "Used" }</th>
                            <th scope="col" class="number">{ "Room" }</th>
                        </tr></thead>
                        <tbody>
                            { for stretches(&props.plan, board).iter().map(|stretch| html! {
                                <tr key={stretch.title}>
                                    <th scope="row">{ stretch.title }</th>
                                    <td><code class="hash">{ &stretch.address }</code></td>
                                    <td class="number">
                                        { stretch.used.map_or_else(|| "–".to_owned(), figures::grouped) }
                                    </td>
                                    <td class="number">{ figures::grouped(stretch.room) }</td>
                                </tr>
                            }) }
                        </tbody>
                    </table>
                </div>
            </details>
        </>
    }
}
