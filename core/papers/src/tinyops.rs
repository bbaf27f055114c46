//! Sadiq's thesis, chapters 4 and 5: overlaying from external memory.

use tilewright_board::Board;
use tilewright_explore::{AccuracyTable, SCALE_BACKBONE, Scale, Targets};
use tilewright_model::Model;
use tilewright_plan::{Bytes, Micros};
use tilewright_planner::{Options, Overlaid, Planned, Stop, Strategy};
use tilewright_report::{PaperFigure, ScaledNetwork};

mod overlay;

use crate::{ACCURACY, POINTS, Paper, Part, board, figure, model, plan_of, with_plan};

/// The thesis.
pub(crate) const PAPER: Paper = Paper {
    id: "tinyops",
    name: "TinyOps",
    citation: "Sadiq: Efficient Deep Learning Inference at the Edge, PhD thesis, University of Southampton, 2025; \
               TinyOps: ImageNet Scale Deep Learning on Microcontrollers, CVPR Workshops 2022",
    reading: "KB of memory are 1024 bytes. Networks are the thesis' own: channels rounded to four, heads scaled, \
              MobileNetV3 without squeezes. Costs are of the best of CMSIS-NN's builds; loads from outside are \
              charged by latency, to meet the printed external runs. Algorithm 3 may leave operators whole, and \
              algorithm 4 waits for a filter slot in use. The 102 KB run of figure 4.8 is the one with 95 ms over \
              internal. Accuracies are those of its tables alone.",
    parts: &[
        Part { title: "tables 4.5 and 4.6", figures: tables },
        Part { title: "figures 4.8 and 4.9", figures: overlays_and_budgets },
        Part { title: "table 4.3 and sizes", figures: all_sizes },
        Part { title: "MobileNetV3", figures: mobilenet_v3 },
        Part { title: "our kernels, auto", figures: beaten },
    ],
};

/// Configurations of tables 4.5 and 4.6.
const WAYS: [&str; 3] = ["internal", "external", "overlay"];

/// Table 4.5: board, milliwatts and millijoules in the order of [`WAYS`].
const POWER: [(&str, [f64; 3], [f64; 3]); 3] = [
    ("paper-tinyops-l552", [65.0, 205.0, 140.0], [56.0, 607.0, 137.0]),
    ("paper-tinyops-f469", [290.0, 435.0, 380.0], [316.0, 1049.0, 430.0]),
    ("paper-tinyops-f746", [645.0, 770.0, 798.0], [442.0, 773.0, 616.0]),
];

/// Table 4.3: ProxylessNAS, KB of flash and of RAM.
const SCALED: [(&str, f64, f64); 4] = [
    ("proxylessnas-thesis-w1-r224", 4579.0, 1095.0),
    ("proxylessnas-thesis-w1-r208", 4579.0, 987.0),
    ("proxylessnas-thesis-w0.9-r224", 3980.0, 1072.0),
    ("proxylessnas-thesis-w0.9-r208", 3980.0, 964.0),
];

/// Networks at 224 pixels: millions of MACs, KB of RAM, MB of flash.
const SIZES: [(&str, [f64; 3]); 3] = [
    ("mnasnet-thesis-w1-r224", [314.0, 1118.0, 4.79]),
    ("proxylessnas-thesis-w1-r224", [320.0, 1095.0, 4.47]),
    ("mobilenet-v3-thesis-w1-r224", [215.0, 1232.0, 4.26]),
];

/// Table 4.6: millions of MACs and of parameters.
const LARGE: [(&str, [f64; 2]); 4] = [
    ("mnasnet-thesis-w0.5-r224", [88.0, 1.47]),
    ("mnasnet-thesis-w0.75-r224", [191.0, 2.75]),
    ("mnasnet-thesis-w1-r224", [314.0, 4.38]),
    ("proxylessnas-thesis-w0.75-r224", [193.0, 2.59]),
];

/// Table 5.2, MobileNetV3 by overlaying: milliseconds on F746 and F469, and int8 accuracy in per cent.
const MOBILENET_V3: [(&str, [f64; 2], f64); 9] = [
    ("mobilenet-v3-thesis-w0.45-r112", [261.0, 623.0], 51.66),
    ("mobilenet-v3-thesis-w0.65-r128", [520.0, 1223.0], 60.58),
    ("mobilenet-v3-thesis-w0.75-r144", [762.0, 1924.0], 63.74),
    ("mobilenet-v3-thesis-w0.9-r144", [993.0, 2736.0], 66.43),
    ("mobilenet-v3-thesis-w1-r160", [1306.0, 3472.0], 68.19),
    ("mobilenet-v3-thesis-w0.95-r176", [1561.0, 3847.0], 68.74),
    ("mobilenet-v3-thesis-w1-r192", [1830.0, 4691.0], 69.35),
    ("mobilenet-v3-thesis-w1-r208", [2182.0, 5545.0], 70.67),
    ("mobilenet-v3-thesis-w1-r224", [2448.0, 5820.0], 70.37),
];

/// A board of the thesis, and ours with the same chip and our kernels.
const BOARDS: [(&str, &str); 3] = [
    ("paper-tinyops-l552", "stm32l552e-ev"),
    ("paper-tinyops-f469", "stm32f469i-disco"),
    ("paper-tinyops-f746", "stm32f746g-disco"),
];

/// The chip of a reference profile.
fn short(board: &str) -> String {
    board.trim_start_matches("paper-tinyops-").to_uppercase()
}

fn budget(printed: &overlay::Printed) -> String {
    printed.budget.map_or_else(String::new, |bytes| format!(", {} KB", bytes.0 / 1024))
}

/// Tables 4.5 and 4.6: latencies, their ratios, power and energy.
fn tables(stop: &Stop) -> Result<Vec<PaperFigure>, String> {
    let tables = &overlay::rows(stop)?;
    let mut rows = Vec::new();
    let row = |what: &str, of: &str, setting: &str, figures: (f64, Option<f64>), unit| {
        figure(what, (of, setting), figures, unit)
    };
    for overlay::Row { printed, ms, .. } in tables {
        let name = if printed.ms[0].is_some() { "4.5" } else { "4.6" };
        let budget = budget(printed);
        // The smaller budget is the same network again: only overlaying is another.
        for (index, way) in WAYS.into_iter().enumerate().skip(2 * usize::from(!budget.is_empty())) {
            let theirs = printed.ms[index].map(f64::from);
            if name == "4.6" && theirs.is_none() {
                continue;
            }
            let setting = format!("{}{budget}, {way}", short(printed.board));
            let what = format!("table {name}, latency");
            let figures = (ms[index], theirs);
            let strategy = overlay::STRATEGIES[index];
            let sram = printed.budget.map(|budget| budget.0);
            let plan = plan_of(printed.network, printed.board, strategy, sram);
            let row = row(&what, printed.network, &setting, figures, "ms");
            rows.push(with_plan(row, plan));
        }
    }
    for overlay::Row { printed, ms, .. } in tables {
        let [internal, external, overlay] = *ms;
        let [of_internal, of_external, of_overlay] = printed.ms.map(|ms| ms.map(f64::from));
        let board = format!("{}{}", short(printed.board), budget(printed));
        let ratio = |above: Option<f64>, below: Option<f64>| Some(above? / below?);
        if of_internal.is_some() {
            let figures = (overlay / internal, ratio(of_overlay, of_internal));
            rows.push(row("overlay : internal", printed.network, &board, figures, "×"));
        }
        let figures = (external / overlay, ratio(of_external, of_overlay));
        rows.push(row("external : overlay", printed.network, &board, figures, "×"));
    }
    rows.sort_by_key(|row| {
        let order = ["table 4.5, latency", "table 4.6, latency", "overlay : internal"];
        order.iter().position(|what| row.what == *what).unwrap_or(order.len())
    });
    let whole = |board: &str| {
        let is_whole =
            |row: &&overlay::Row| row.printed.board == board && row.printed.budget.is_none();
        tables.iter().find(is_whole)
    };
    for (board, power, _) in &POWER {
        let table = whole(board).ok_or("a table without its board")?;
        for (index, way) in WAYS.into_iter().enumerate() {
            let ours = table.mj[index].ok_or("a board without power")? * 1e3 / table.ms[index];
            let setting = format!("{}, {way}", short(board));
            let figures = (ours, Some(power[index]));
            rows.push(row("table 4.5, power", table.printed.network, &setting, figures, "mW"));
        }
    }
    for (board, _, energy) in &POWER {
        let table = whole(board).ok_or("a table without its board")?;
        for (index, way) in WAYS.into_iter().enumerate() {
            let ours = table.mj[index].ok_or("a board without power")?;
            let setting = format!("{}, {way}", short(board));
            let figures = (ours, Some(energy[index]));
            rows.push(row("table 4.5, energy", table.printed.network, &setting, figures, "mJ"));
        }
    }
    Ok(rows)
}

fn overlays_and_budgets(stop: &Stop) -> Result<Vec<PaperFigure>, String> {
    let mut rows = Vec::new();
    overlays(&mut rows, stop)?;
    budgets(&mut rows, stop)?;
    Ok(rows)
}

fn millis(planned: &Planned) -> f64 {
    planned.report.latency_us.map_or(0.0, |us| us.0 / 1e3)
}

fn plan(
    model: &Model,
    board: &Board,
    strategy: Strategy,
    sram: Option<Bytes>,
    stop: &Stop,
) -> Result<Planned, String> {
    let options = Options { sram, stop: stop.clone(), ..Options::default() };
    crate::planned(model, board, strategy, &options)
}

/// Figure 4.8: what each overlay brings, in 102 KB of the F469.
fn overlays(rows: &mut Vec<PaperFigure>, stop: &Stop) -> Result<(), String> {
    let (name, board) = ("proxylessnas-thesis-w0.3-r144", board("paper-tinyops-f469")?);
    let model = model(name)?;
    let options = Options { sram: Some(overlay::SMALL_BUDGET), ..Options::default() };
    let nothing = Overlaid { inputs: false, filters: false, parameters: false, ..Overlaid::THESIS };
    let inputs = Overlaid { inputs: true, ..nothing };
    let filters = Overlaid { filters: true, ..inputs };
    let internal = millis(&plan(&model, &board, Strategy::Resident, None, stop)?);
    let external = millis(&plan(&model, &board, Strategy::External, None, stop)?);
    let mut push = |setting: &str, figures, unit| {
        rows.push(figure("figure 4.8", (name, setting), figures, unit));
    };
    push("internal", (internal, None), "ms");
    push("external", (external, None), "ms");
    let mut last = 0.0;
    let steps = [("tiles", inputs), ("and filters", filters), ("and parameters", Overlaid::THESIS)];
    for (setting, overlaid) in steps {
        let options = Options { overlaid, ..options.clone() };
        let planned = tilewright_planner::plan(&model, &board, Strategy::Overlay, &options);
        let planned = planned.map_err(|error| error.to_string())?;
        last = millis(&planned);
        push(setting, (last, None), "ms");
    }
    push("over internal", (last - internal, Some(95.0)), "ms");
    push("external : overlay", (external / last, Some(2.0)), "×");
    Ok(())
}

/// Figure 4.9: budgets of SRAM for one network.
fn budgets(rows: &mut Vec<PaperFigure>, stop: &Stop) -> Result<(), String> {
    let name = "proxylessnas-thesis-w0.5-r192";
    let model = model(name)?;
    for (id, kib, printed) in
        [("paper-tinyops-f469", 256, Some(2.1)), ("paper-tinyops-f746", 320, None)]
    {
        let board = board(id)?;
        let short = short(id);
        let external = millis(&plan(&model, &board, Strategy::External, None, stop)?);
        for part in 1..=4 {
            let budget = kib * part / 4;
            let planned =
                plan(&model, &board, Strategy::Overlay, Some(Bytes(budget * 1024)), stop)?;
            let setting = format!("{short}, {budget} KB, external : overlay");
            let printed = printed.filter(|_| part == 4);
            let figures = (external / millis(&planned), printed);
            rows.push(figure("figure 4.9", (name, setting), figures, "×"));
        }
        if printed.is_some() {
            let resident =
                plan(&model, &board, Strategy::Resident, None, stop)?.report.peak_sram_bytes;
            let figures = (resident.0 as f64 / 1024.0, Some(627.0));
            rows.push(figure("figure 4.9", (name, "memory in SRAM"), figures, "KB"));
        }
    }
    Ok(())
}

/// Table 4.3, and the sizes of the networks at 224 pixels.
fn all_sizes(stop: &Stop) -> Result<Vec<PaperFigure>, String> {
    let mut rows = Vec::new();
    let board = board("paper-tinyops-f469")?;
    let resident = |name: &str| {
        let report = plan(&model(name)?, &board, Strategy::Resident, None, stop)?.report;
        let parameters: u64 = report.layers.iter().map(|layer| *layer.parameters).sum();
        let [macs, sram] =
            [report.macs, report.peak_sram_bytes.0.into()].map(|figure| *figure as f64);
        Ok::<_, String>((macs / 1e6, sram / 1024.0, parameters as f64, report.flash_bytes.0 as f64))
    };
    for (name, flash, ram) in SCALED {
        let (_, ours, _, image) = resident(name)?;
        let mut push = |setting: &str, figures| {
            rows.push(figure("table 4.3", (name, setting), figures, "KB"));
        };
        push("flash", (image / 1024.0, Some(flash)));
        push("RAM", (ours, Some(ram)));
    }
    for (name, [macs, parameters]) in LARGE {
        let (its_macs, _, its_parameters, _) = resident(name)?;
        let mut push = |setting: &str, figures| {
            rows.push(figure("table 4.6, sizes", (name, setting), figures, "M"));
        };
        push("MACs", (its_macs, Some(macs)));
        push("parameters", (its_parameters / 1e6, Some(parameters)));
    }
    for (name, [macs, ram, flash]) in SIZES {
        let (ours, sram, _, image) = resident(name)?;
        let mut push = |setting: &str, figures, unit| {
            rows.push(figure("sizes of networks", (name, setting), figures, unit));
        };
        push("MACs", (ours, Some(macs)), "M");
        push("RAM", (sram, Some(ram)), "KB");
        push("flash", (image / 1e6, Some(flash)), "MB");
    }
    Ok(rows)
}

/// MobileNetV3 overlaid with the kernels of the thesis.
fn mobilenet_v3(stop: &Stop) -> Result<Vec<PaperFigure>, String> {
    let mut rows = Vec::new();
    for ((theirs, _), column) in [(BOARDS[2], 0), (BOARDS[1], 1)] {
        let short = short(theirs);
        let board = board(theirs)?;
        for (name, printed, _) in MOBILENET_V3 {
            let planned = plan(&model(name)?, &board, Strategy::Overlay, None, stop)?;
            let figures = (millis(&planned), Some(printed[column]));
            let what = format!("MobileNetV3 overlaid, {short}");
            rows.push(figure(what, (name, "CMSIS-NN's kernels"), figures, "ms"));
        }
    }
    let chosen = within_limits(BOARDS[2].0, Strategy::Overlay, stop)?;
    for (Chosen { network, percent, setting }, (_, _, printed)) in
        chosen.into_iter().zip(MOBILENET_V3)
    {
        let what = "table 5.2, most accurate within";
        rows.push(figure(what, (network, setting), (percent, Some(printed)), ACCURACY));
    }
    Ok(rows)
}

/// What is taken for a limit of table 5.2.
struct Chosen {
    network: String,
    /// int8 accuracy in per cent (measured).
    percent: f64,
    setting: String,
}

/// The most accurate MobileNetV3 of 165 sizes within each latency of table 5.2.
fn within_limits(id: &str, strategy: Strategy, stop: &Stop) -> Result<Vec<Chosen>, String> {
    let said = |error: &dyn std::fmt::Display| error.to_string();
    let targets = Targets { boards: vec![board(id)?], strategies: vec![strategy], sram: None };
    let limits = MOBILENET_V3.map(|(_, [ms, _], _)| Micros(ms * 1e3));
    let accuracies = AccuracyTable::published().map_err(|error| said(&error))?;
    let scale =
        Scale::new(SCALE_BACKBONE, targets, &limits, accuracies).map_err(|error| said(&error))?;
    let rows = scale.sweep().all(stop).map_err(|error| said(&error))?;
    let report = scale.report(&rows);
    let target = report.targets.first().ok_or("no board or strategy")?;
    let chosen = target.limits.iter().map(|within| {
        let network = within.network.clone().ok_or("nothing meets a limit")?;
        let trade_off = target.size(&network).and_then(ScaledNetwork::trade_off);
        let percent = trade_off.ok_or("a network without accuracy")?.percent;
        let setting = format!("{:.0} ms, {strategy}", within.limit_us / 1e3);
        Ok(Chosen { network, percent, setting })
    });
    chosen.collect()
}

/// How much faster `auto` with our kernels is on the boards that one buys: within the thesis' SRAM, and MobileNetV3;
/// and how much more accurate what is chosen for its latencies.
fn beaten(stop: &Stop) -> Result<Vec<PaperFigure>, String> {
    let mut rows = Vec::new();
    for overlay::Printed { board: of, network, ms, budget } in overlay::PRINTED {
        let (Some((theirs, ours)), Some(printed)) =
            (BOARDS.iter().find(|pair| pair.0 == of), ms[2])
        else {
            continue;
        };
        let sram = budget.map_or(board(theirs)?.arena(), |budget| budget);
        let planned = plan(&model(network)?, &board(ours)?, Strategy::Auto, Some(sram), stop)?;
        let setting = format!("{}, {} KB", ours, sram.0.min(board(ours)?.arena().0) / 1024);
        let figures = (f64::from(printed) / millis(&planned), None);
        let what = "faster than TinyOps: our kernels, auto";
        let row = figure(what, (network, setting), figures, "×");
        rows.push(with_plan(row, plan_of(network, ours, Strategy::Auto, Some(sram.0))));
    }
    for ((theirs, ours), column) in [(BOARDS[2], 0), (BOARDS[1], 1)] {
        let short = short(theirs);
        let board = board(ours)?;
        for (name, printed, _) in MOBILENET_V3 {
            let planned = plan(&model(name)?, &board, Strategy::Auto, None, stop)?;
            let figures = (printed[column] / millis(&planned), None);
            let what = format!("faster than the thesis, {short}");
            rows.push(figure(what, (name, "our kernels, auto"), figures, "×"));
        }
    }
    let chosen = within_limits(BOARDS[2].1, Strategy::Auto, stop)?;
    for (Chosen { network, percent, setting }, (_, _, printed)) in
        chosen.into_iter().zip(MOBILENET_V3)
    {
        let what = "table 5.2, with our kernels";
        rows.push(figure(what, (network, setting), (percent - printed, None), POINTS));
    }
    Ok(rows)
}
