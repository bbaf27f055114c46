//! Where the cycles of a layer went, and the instructions of its hottest blocks.

use tilewright_report::{HotBlock, Kind, LayerCount};
use yew::prelude::*;

use super::parts::kind_tag;
use crate::view_model::hot::hot;

/// What the last run says of the chosen layer, else of the hottest; nothing without such a run.
pub fn hot_blocks(counts: &[LayerCount], chosen: Option<usize>) -> Html {
    let Some(hot) = hot(counts, chosen) else { return html! {} };
    let label = format!("Where the cycles of {} went", hot.name);
    html! {
        <details data-testid="hot" open={true}>
            <summary>{ &label }</summary>
            <div class="table-scroll" tabindex="0" role="group" aria-label={label.clone()}>
                <table data-testid="hot-causes">
                    <thead><tr>
                        <th scope="col">{ "Cause" }</th>
                        <th scope="col" class="number">{ "Instructions a MAC" }{ kind_tag(Kind::Counted) }</th>
                        <th scope="col" class="number">{ "Cycles a MAC" }{ kind_tag(Kind::Modelled) }</th>
                        <th scope="col" class="number">{ "Of the cycles" }{ kind_tag(Kind::Modelled) }</th>
                    </tr></thead>
                    <tbody>
                        { for hot.causes.iter().map(|row| html! {
                            <tr key={row.cause}>
                                <th scope="row">{ row.cause }</th>
                                <td class="number">{ &row.instructions }</td>
                                <td class="number">{ &row.cycles }</td>
                                <td class="number">{ &row.share }</td>
                            </tr>
                        }) }
                    </tbody>
                </table>
            </div>
            { for hot.blocks.iter().map(|(sentence, block)| listing(sentence, block)) }
        </details>
    }
}

fn listing(sentence: &str, block: &HotBlock) -> Html {
    html! {
        <details key={block.address}>
            <summary>{ sentence }</summary>
            <div class="table-scroll" tabindex="0" role="group" aria-label="Instructions of the block">
                <table>
                    <thead><tr>
                        <th scope="col" class="number">{ "Cycles" }{ kind_tag(Kind::Modelled) }</th>
                        <th scope="col" class="number">{ "Waits before" }{ kind_tag(Kind::Modelled) }</th>
                        <th scope="col">{ "Cause" }</th>
                        <th scope="col">{ "Instruction" }</th>
                    </tr></thead>
                    <tbody>
                        { for block.listing.iter().enumerate().map(|(index, line)| html! {
                            <tr key={index}>
                                <td class="number">{ *line.cycles }</td>
                                <td class="number">{ *line.stall_cycles }</td>
                                <td>{ line.cause.word() }</td>
                                <td><code>{ &line.text }</code></td>
                            </tr>
                        }) }
                    </tbody>
                </table>
            </div>
        </details>
    }
}
