//! What is said beside the drawing: what forms mean, the figures of a node, the table.

use tilewright_report::short_name;
use yew::prelude::*;

use crate::message::{GraphFacts, NodeRole, PlanFacts};
use crate::view_model::figures;
use crate::view_model::graph::{Sheet, details};
use crate::view_model::layers::Family;

/// Rows of the table; further nodes are found by the search.
const ROWS: usize = 300;

/// What colours and forms mean, as far as they are there.
pub fn families(graph: &GraphFacts) -> Vec<(&'static str, AttrValue)> {
    let has = |family: &Family| {
        let is = |role| matches!(role, NodeRole::Operator(_));
        graph.nodes.iter().any(|node| node.family == *family && is(node.role))
    };
    let form = |family: Family| match family {
        Family::Conv => "convolution (rectangle)",
        Family::Depthwise => "depthwise (cut corners)",
        Family::Dense => "fully connected (slanted)",
        Family::Pool => "pooling (narrowing)",
        Family::Other => "other (round)",
    };
    let known = Family::ALL.into_iter().filter(has);
    let mut entries: Vec<(&'static str, AttrValue)> =
        known.map(|family| (family.id(), form(family).into())).collect();
    if graph.nodes.iter().any(|node| matches!(node.role, NodeRole::Opaque(_))) {
        entries.push(("opaque", "no kernel (dashed)".into()));
    }
    entries
}

/// The figures of a node, or how to get them.
pub fn node_words(graph: &GraphFacts, node: Option<usize>, plan: Option<&PlanFacts>) -> Html {
    let Some(node) = node.and_then(|node| graph.nodes.get(node)) else {
        return html! {
            <p class="muted">{ "Point at a node or choose one: its figures stand here." }</p>
        };
    };
    html! {
        <>
            <p class="graph-name">
                <strong>{ &node.name }</strong>{ " " }
                <span class="muted">{ format!("{} {}", node.op, node.detail) }</span>
            </p>
            <dl class="graph-figures">
                { for details(graph, node, plan).into_iter().map(|(what, value)| html! {
                    <div key={what}><dt>{ what }</dt><dd>{ value }</dd></div>
                }) }
            </dl>
        </>
    }
}

/// The figures of a tensor.
pub fn net_words(graph: &GraphFacts, net: usize) -> Html {
    let Some(net) = graph.nets.get(net) else { return html! {} };
    let name =
        |index: u32| graph.nodes.get(index as usize).map_or("", |node| short_name(&node.name));
    const NAMED: usize = 4;
    let mut to: Vec<&str> = net.to.iter().take(NAMED).map(|to| name(*to)).collect();
    let more = net.to.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    to.dedup();
    html! {
        <>
            <p class="graph-name">
                <strong>{ &net.name }</strong>{ " " }<span class="muted">{ "tensor" }</span>
            </p>
            <dl class="graph-figures">
                <div><dt>{ "Shape" }</dt><dd>{ &net.shape }</dd></div>
                <div><dt>{ "Bytes" }</dt><dd>{ figures::bytes(net.bytes) }</dd></div>
                <div><dt>{ "From" }</dt><dd>{ name(net.from) }</dd></div>
                <div><dt>{ "To" }</dt><dd>{ format!("{}{more}", to.join(", ")) }</dd></div>
            </dl>
        </>
    }
}

/// The graph as a table.
pub fn table(graph: &GraphFacts, sheet: &Sheet, choose: &Callback<usize>) -> Html {
    let takes = |index: usize| {
        let nets = sheet.taken.get(index).into_iter().flatten();
        let names = nets.filter_map(|net| {
            let from = graph.nets.get(*net)?.from as usize;
            Some(short_name(&graph.nodes.get(from)?.name).to_owned())
        });
        names.collect::<Vec<_>>().join(", ")
    };
    let more = graph.nodes.len().saturating_sub(ROWS);
    html! {
        <>
            <div class="table-scroll" tabindex="0" role="group" aria-label="Table of nodes">
                <table data-testid="graph-table">
                    <thead><tr>
                        <th scope="col">{ "Node" }</th>
                        <th scope="col">{ "Operator" }</th>
                        <th scope="col">{ "Takes from" }</th>
                        <th scope="col" class="number">{ "Gives" }</th>
                        <th scope="col" class="number">{ "MACs" }</th>
                        <th scope="col" class="number">{ "Parameters" }</th>
                    </tr></thead>
                    <tbody>
                        { for graph.nodes.iter().enumerate().take(ROWS).map(|(index, node)| {
                            let choose = choose.clone();
                            let unknown = matches!(node.role, NodeRole::Opaque(_));
                            html! {
                                <tr key={index}>
                                    <th scope="row">
                                        <button type="button" class="row-name" title={node.name.clone()}
                                            onclick={Callback::from(move |_| choose.emit(index))}>
                                            <span>{ short_name(&node.name) }</span>
                                        </button>
                                    </th>
                                    <td>
                                        { format!("{} {}", node.op, node.detail) }
                                        if unknown { <strong>{ " (no kernel)" }</strong> }
                                    </td>
                                    <td>{ takes(index) }</td>
                                    <td class="number">{ &node.output }</td>
                                    <td class="number">{ figures::grouped(node.macs) }</td>
                                    <td class="number">{ figures::grouped(node.parameters) }</td>
                                </tr>
                            }
                        }) }
                    </tbody>
                </table>
            </div>
            if more > 0 {
                <p class="muted detail">
                    { format!("The first {ROWS} nodes; {} more are found by the search.", figures::grouped(more as u64)) }
                </p>
            }
        </>
    }
}
