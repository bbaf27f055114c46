//! What is said of operators: words, columns and picture.

use std::fmt::Write as _;

use tilewright_report::{
    Axis, CsvColumn, DataCacheUse, DistinctOperator, OperatorClaim, OperatorsCore,
    OperatorsNetwork, OperatorsReport, Point, Scatter,
};

use crate::experiment::{command, series, some};
use crate::text::{BOLD, DIM, Side, Table, number};

/// A place of a network, with the operator that stands there, on a core.
pub struct Place<'r> {
    network: &'r OperatorsNetwork,
    index: usize,
    core: &'r OperatorsCore,
    operator: &'r DistinctOperator,
}

/// Core by core, network by network.
pub fn rows<'r>(record: &'r OperatorsReport) -> Vec<Place<'r>> {
    let of_core = |core: &'r OperatorsCore| {
        record.uses.iter().filter_map(move |one| {
            let network = record.networks.get(one.network)?;
            let OperatorsCore { operators, .. } = core;
            Some(Place { network, index: one.index, core, operator: operators.get(one.operator)? })
        })
    };
    record.cores.iter().flat_map(of_core).collect()
}

fn dims(dims: &[usize]) -> String {
    dims.iter().map(ToString::to_string).collect::<Vec<_>>().join("x")
}

/// A place, as comma-separated values; heads say how figures came to be.
pub fn columns<'r>() -> [CsvColumn<Place<'r>>; 18] {
    [
        CsvColumn { head: "board", field: |row| row.core.board.clone() },
        CsvColumn { head: "core", field: |row| row.core.core.clone() },
        CsvColumn { head: "data_cache", field: |row| row.core.data_cache.word().to_owned() },
        CsvColumn { head: "backbone", field: |row| row.network.backbone.clone() },
        CsvColumn { head: "width", field: |row| row.network.width.to_string() },
        CsvColumn { head: "resolution", field: |row| row.network.resolution.to_string() },
        CsvColumn { head: "index", field: |row| row.index.to_string() },
        CsvColumn { head: "operator", field: |row| row.operator.shape.op.clone() },
        CsvColumn { head: "window", field: |row| dims(&row.operator.shape.window) },
        CsvColumn { head: "stride", field: |row| dims(&row.operator.shape.stride) },
        CsvColumn {
            head: "inputs",
            field: |row| {
                row.operator.shape.inputs.iter().map(|one| dims(one)).collect::<Vec<_>>().join(" ")
            },
        },
        CsvColumn { head: "output", field: |row| dims(&row.operator.shape.output) },
        CsvColumn { head: "macs_counted", field: |row| row.operator.macs.to_string() },
        CsvColumn { head: "fits_proved", field: |row| row.operator.fits.to_string() },
        CsvColumn {
            head: "instructions_counted",
            field: |row| some(row.operator.run.map(|run| run.instructions)),
        },
        CsvColumn { head: "cycles_modelled", field: |row| some(row.operator.cycles()) },
        CsvColumn {
            head: "cycles_from",
            field: |row| {
                if row.operator.run.is_some() { "emulated run" } else { "cost table" }.to_owned()
            },
        },
        CsvColumn {
            head: "cycles_a_mac_modelled",
            field: |row| {
                let macs = *row.operator.macs as f64;
                let cycles = row.operator.cycles().filter(|_| macs > 0.0);
                some(cycles.map(|cycles| format!("{:.4}", cycles as f64 / macs)))
            },
        },
    ]
}

/// Figure 5.5: cycles against multiply-accumulates, by operator and window; of the first core.
pub fn scatter(record: &OperatorsReport) -> Scatter {
    let point = |operator: &DistinctOperator| {
        let cycles = operator.cycles()?;
        let shape = &operator.shape;
        let inputs = shape.inputs.iter().map(|one| dims(one)).collect::<Vec<_>>().join(" + ");
        let title = format!("{} {inputs} to {}: {cycles} cycles", shape.op, dims(&shape.output));
        let class = operator.class();
        Some((class, Point { x: *operator.macs as f64, y: cycles as f64, title }))
    };
    let title = record.cores.first().map_or_else(String::new, OperatorsCore::title);
    let operators = record.cores.first().into_iter().flat_map(|core| &core.operators);
    let has_macs = |operator: &&DistinctOperator| *operator.macs > 0;
    Scatter {
        title: format!("Operators of mobile networks on {title}"),
        command: command(),
        x: Axis { title: "multiply-accumulates (counted)".to_owned(), is_logarithmic: true },
        y: Axis { title: "cycles (modelled)".to_owned(), is_logarithmic: true },
        series: series(operators.filter(has_macs).filter_map(point)),
        ..Scatter::default()
    }
}

/// The classes that cores are compared by.
const CLASSES: [&str; 6] = [
    "Conv2D 1x1",
    "Conv2D 3x3",
    "DepthwiseConv2D 3x3",
    "DepthwiseConv2D 5x5",
    "DepthwiseConv2D 7x7",
    "FullyConnected",
];

/// All of it, for people: one core in detail, or several side by side.
pub fn words(record: &OperatorsReport) -> String {
    let distinct = record.cores.first().map_or(0, |core| core.operators.len());
    let text = format!(
        "{BOLD}{} operators of {} networks, {} distinct",
        number(record.uses.len() as u64),
        record.networks.len(),
        number(distinct as u64),
    );
    match record.cores.as_slice() {
        [core] => format!("{text} on {}{BOLD:#}\n\n{}", core.title(), one(core)),
        cores => format!("{text}{BOLD:#}\n\n{}", several(cores)),
    }
}

/// What switching the cache off means here.
const WITHOUT_CACHE: &str = "With its data cache off a core waits for each word of weights in flash; memories on the chip have no wait states \
     either way. It is emulated so too, with the firmware as it is.";

/// A row for each core, and the answers to each sentence.
fn several(cores: &[OperatorsCore]) -> String {
    let rates: Vec<String> =
        CLASSES.iter().map(|class| format!("{} (modelled)", class.replace("Conv2D", ""))).collect();
    let mut heads = vec![
        ("board", Side::Left),
        ("core", Side::Left),
        ("data cache", Side::Left),
        ("fit (proved)", Side::Right),
        ("emulated (counted)", Side::Right),
    ];
    heads.extend(rates.iter().map(|head| (head.trim(), Side::Right)));
    let mut table = Table::new(&heads);
    for core in cores {
        let rate = |class: &&str| some(core.cycles_a_mac(class).map(|rate| format!("{rate:.2}")));
        let of_core = [
            core.board.clone(),
            core.core.clone(),
            core.data_cache.word().to_owned(),
            number(core.fitting() as u64),
            number(core.emulated() as u64),
        ];
        table.row(of_core.into_iter().chain(CLASSES.iter().map(rate)));
    }
    let mut text =
        format!("Cycles of a multiply-accumulate, by operator and window\n{}\n", table.print());
    let claims = cores.first().map_or(&[][..], |core| &core.claims);
    for (index, OperatorClaim { says, compared, .. }) in claims.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{BOLD}{says}{BOLD:#}\n  {DIM}{compared} (modelled){DIM:#}");
        let mut table = Table::new(&[
            ("board", Side::Left),
            ("data cache", Side::Left),
            ("answer", Side::Left),
            ("holds in", Side::Right),
        ]);
        for (core, claim) in cores.iter().filter_map(|core| Some((core, core.claims.get(index)?))) {
            table.row([
                core.board.clone(),
                core.data_cache.word().to_owned(),
                claim.answer().to_owned(),
                format!("{} of {}", claim.holds, claim.of),
            ]);
        }
        let _ = writeln!(text, "{}", table.print());
    }
    if cores.iter().any(|core| core.data_cache == DataCacheUse::Off) {
        text.push_str(&format!("{DIM}{WITHOUT_CACHE}{DIM:#}\n"));
    }
    text
}

/// A core in detail.
fn one(core: &OperatorsCore) -> String {
    let (fitting, emulated) = (core.fitting() as u64, core.emulated() as u64);
    let mut text =
        format!("{} fit (proved), {} emulated (counted)\n\n", number(fitting), number(emulated));
    let mut table = Table::new(&[
        ("operator", Side::Left),
        ("places (counted)", Side::Right),
        ("distinct (counted)", Side::Right),
        ("emulated (counted)", Side::Right),
        ("MACs of the distinct (counted)", Side::Right),
        ("cycles a MAC (modelled)", Side::Right),
    ]);
    for class in &core.classes {
        table.row([
            class.name.clone(),
            number(*class.uses as u64),
            number(*class.distinct as u64),
            number(*class.emulated as u64),
            number(*class.macs),
            some(class.cycles_a_mac.map(|rate| format!("{:.2}", *rate))),
        ]);
    }
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}", table.print());
    for claim @ OperatorClaim { says, compared, holds, of } in &core.claims {
        let answer = claim.answer();
        let _ = writeln!(
            text,
            "{BOLD}{answer}{BOLD:#}: {says}\n  {DIM}holds in {holds} of {of}: {compared} (modelled){DIM:#}"
        );
    }
    if !core.depthwise.is_empty() {
        let mut table = Table::new(&[
            ("network", Side::Left),
            ("MACs in depthwise convolutions (counted)", Side::Right),
            ("cycles (modelled)", Side::Right),
        ]);
        for share in &core.depthwise {
            let percent = |value: f64| format!("{value:.1} %");
            table.row([
                share.network.clone(),
                percent(*share.macs_percent),
                percent(*share.cycles_percent),
            ]);
        }
        let _ = writeln!(text, "\n{}", table.print());
    }
    text
}
