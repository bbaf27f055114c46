//! What strategy `auto` compared: the chosen technique beside the best plans by others.

use tilewright_report::{Alternative, Kind};
use yew::prelude::*;

use super::parts::kind_tag;
use crate::view_model::figures;

/// A table, the chosen one first; nothing if nothing was compared.
pub fn alternatives(all: &[Alternative]) -> Html {
    let [chosen, _, ..] = all else { return html! {} };
    // What is made least, if it is neither SRAM nor time.
    let is_of_energy = all.iter().any(|one| one.energy_uj.is_some());
    let is_of_wear = chosen.card_written_bytes.is_some();
    let row = |(index, one): (usize, &Alternative)| {
        let remark = match (index, one.fits) {
            (0, _) => "chosen".to_owned(),
            (_, false) => "does not fit".to_owned(),
            (_, true) => {
                let ratio = one.latency_us.0 / chosen.latency_us.0.max(1e-9);
                format!("× {}", figures::fixed(ratio, 2))
            }
        };
        let energy =
            one.energy_uj.map_or_else(|| "unknown".to_owned(), |energy| figures::joules(*energy));
        let written = one.card_written_bytes.map(|bytes| figures::decimal(*bytes));
        html! {
            <tr key={index} class={classes!((index == 0).then_some("chosen"))}>
                <th scope="row">{ one.words() }</th>
                if is_of_energy { <td class="number">{ energy }</td> }
                if is_of_wear { <td class="number">{ written }</td> }
                <td class="number">{ figures::binary(one.sram_bytes.0) }</td>
                <td class="number">{ figures::duration(one.latency_us.0) }</td>
                <td class="number">{ remark }</td>
            </tr>
        }
    };
    html! {
        <>
            <h3>{ "What was compared" }</h3>
            <div class="table-scroll" tabindex="0" role="group" aria-label="Techniques">
                <table class="alternatives" data-testid="alternatives">
                    <thead><tr>
                        <th scope="col">{ "Best plan of each technique" }</th>
                        if is_of_energy {
                            <th scope="col" class="number">{ "Energy" }{ kind_tag(Kind::Modelled) }</th>
                        }
                        if is_of_wear {
                            <th scope="col" class="number">{ "To the card" }{ kind_tag(Kind::Counted) }</th>
                        }
                        <th scope="col" class="number">{ "SRAM" }{ kind_tag(Kind::Counted) }</th>
                        <th scope="col" class="number">{ "A frame" }{ kind_tag(Kind::Modelled) }</th>
                        <th scope="col"><span class="visually-hidden">{ "Of the chosen" }</span></th>
                    </tr></thead>
                    <tbody>{ for all.iter().enumerate().map(row) }</tbody>
                </table>
            </div>
        </>
    }
}
