//! Early exits of a plan: what each costs.

use tilewright_report::{ExitRow, Kind, short_name};
use yew::prelude::*;

use super::parts::kind_tag;
use crate::view_model::figures;

/// A table, one row for each output; nothing if there are no exits.
pub fn exits(all: &[ExitRow]) -> Html {
    let (Some(first), Some(last)) = (all.first(), all.last()) else { return html! {} };
    let (has_programs, is_confident) = (first.latency_us.is_some(), last.exit_us.is_some());
    let time = |us: Option<f64>| us.map_or_else(String::new, figures::duration);
    let row = |exit: &ExitRow| {
        html! {
            <tr key={exit.output.clone()}>
                <th scope="row" title={exit.output.clone()}>{ short_name(&exit.output) }</th>
                if has_programs {
                    <td class="number">{ exit.macs.map_or_else(String::new, |macs| figures::grouped(*macs)) }</td>
                    <td class="number">{ time(exit.latency_us.map(|latency| latency.0)) }</td>
                }
                if is_confident {
                    <td class="number">{ time(exit.exit_us.map(|latency| latency.0)) }</td>
                }
            </tr>
        }
    };
    html! {
        <>
            <h3>{ "Early exits" }</h3>
            <div class="table-scroll" tabindex="0" role="group" aria-label="Early exits">
                <table class="alternatives" data-testid="exits">
                    <thead><tr>
                        <th scope="col">{ "Output" }</th>
                        if has_programs {
                            <th scope="col" class="number">{ "MACs" }{ kind_tag(Kind::Counted) }</th>
                            <th scope="col" class="number">{ "Alone" }{ kind_tag(Kind::Modelled) }</th>
                        }
                        if is_confident {
                            <th scope="col" class="number">{ "If the run ends here" }{ kind_tag(Kind::Modelled) }</th>
                        }
                    </tr></thead>
                    <tbody>{ for all.iter().map(row) }</tbody>
                </table>
            </div>
        </>
    }
}
