//! Least tensor arenas beside what others publish, each counted by their rule: on a board without external RAM and
//! card, with flash for all weights.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;

use serde::Serialize;
use tilewright_board::{Board, MemoryKind};
use tilewright_formats::Limits;
use tilewright_model::Model;
use tilewright_plan::{Bytes, CyclePoint, Space, grouped};
use tilewright_planner::{Objective, Options, Planned, Strategy};
use tilewright_tests::emulated;

use crate::goals::Figure;

/// What somebody publishes of a network.
struct Published {
    network: &'static str,
    /// A file beside the project, or a name of the zoo.
    from: &'static str,
    /// Whose, with the options.
    whose: &'static str,
    bytes: u64,
    /// Multiply-accumulates, in hundredths of those without tiles.
    macs_percent: u64,
    /// Whether their figure leaves out the input, of which they hold some rows.
    streams: bool,
}

const fn published(
    (network, from): (&'static str, &'static str),
    whose: &'static str,
    (bytes, macs_percent, streams): (u64, u64, bool),
) -> Published {
    Published { network, from, whose, bytes, macs_percent, streams }
}

const V2: (&str, &str) = ("MobileNetV2 0.35@144", "mobilenet-v2-w0.35-r144");
const MCUNET: (&str, &str) = ("MCUNet 320 KB@176", "mcunet-in3");
const RESNET: (&str, &str) = ("ResNet-8", "mlperf_resnet8_int8.tflite");
const KWS: (&str, &str) = ("DS-CNN", "mlperf_kws_dscnn_int8.tflite");
const AD: (&str, &str) = ("autoencoder", "mlperf_ad01_autoencoder_int8.tflite");
const PERSON: (&str, &str) = ("person_detect", "tflm_person_detect_int8.tflite");
const VWW96: (&str, &str) = ("MLPerf VWW", "mlperf_vww96_mobilenetv1_025_int8.tflite");

/// msf-CNN's own tables (their rule: no residual additions, no pools, no last output; the input in rows); ST Edge AI's
/// `balanced`; Vela 5.2 for Ethos-U55-128, optimised for size.
const PUBLISHED: [Published; 15] = [
    published(V2, "msf-CNN", (83_065, 102, true)),
    published(V2, "msf-CNN", (25_674, 125, true)),
    published(V2, "msf-CNN", (15_340, 138, true)),
    published(V2, "MCUNetV2's heuristic", (32_076, 159, true)),
    published(MCUNET, "msf-CNN", (94_184, 145, true)),
    published(MCUNET, "msf-CNN", (62_880, 202, true)),
    published(MCUNET, "MCUNetV2's heuristic", (90_307, 325, true)),
    published(PERSON, "ST, balanced", (41_456, 100, false)),
    published(KWS, "ST, balanced", (18_556, 100, false)),
    published(RESNET, "ST, balanced", (44_712, 100, false)),
    published(AD, "ST, balanced", (2_048, 100, false)),
    published(RESNET, "Vela, size", (35_840, 100, false)),
    published(PERSON, "Vela, size", (30_720, 100, false)),
    published(VWW96, "Vela, size", (49_152, 100, false)),
    published(("MobileNetV2 1.0@224", "mobilenet-v2"), "Vela, size", (361_984, 100, false)),
];

/// Networks without branches that programs of the field use.
const SEQUENTIAL: [&str; 10] = [
    "lenet5",
    "ds-cnn",
    "vww",
    "mobilenet-v1-w0.25-r96",
    "mobilenet-v1-w0.5-r192",
    "mobilenet-v1",
    "mobilenet-v2-w0.35-r144",
    "mobilenet-v2",
    "proxylessnas-mobile-w0.3-r176",
    "mcunet-in0",
];

/// What our plans take of a network.
#[derive(Debug, Serialize)]
struct Row {
    network: &'static str,
    whose: &'static str,
    theirs: u64,
    their_macs_percent: u64,
    /// All tensors in SRAM, in the order given.
    resident: u64,
    /// The least arena of `auto`; nothing is computed again.
    ours: u64,
    /// Its predicted time, in hundredths of the resident plan's.
    time_percent: u64,
    input: String,
}

/// What our plans take of a network.
#[derive(Clone)]
struct Ours {
    resident: u64,
    bytes: u64,
    time_percent: u64,
    input: String,
}

/// Prints both tables.
///
/// # Errors
/// If a network cannot be had or planned.
pub fn peers(json: bool) -> Result<Vec<Figure>, String> {
    let board = roomy()?;
    let mut rows = Vec::new();
    let mut known: BTreeMap<(&str, bool), Ours> = BTreeMap::new();
    let quarter = |from| published((from, from), "a quarter of resident", (0, 100, true));
    for one in PUBLISHED.into_iter().chain(SEQUENTIAL.map(quarter)) {
        let key = (one.from, one.streams);
        if let Entry::Vacant(place) = known.entry(key) {
            let Some(model) = model(one.from)? else { continue };
            place.insert(ours(&model, &board, one.streams)?);
        }
        let Some(Ours { resident, bytes, time_percent, input }) = known.get(&key).cloned() else {
            continue;
        };
        let Published { network, whose, macs_percent, .. } = one;
        let theirs = if one.bytes == 0 { resident / 4 } else { one.bytes };
        let their_macs_percent = macs_percent;
        rows.push(Row {
            network,
            whose,
            theirs,
            their_macs_percent,
            resident,
            ours: bytes,
            time_percent,
            input,
        });
    }
    if json {
        println!("{}", serde_json::to_string_pretty(&rows).map_err(|e| e.to_string())?);
        return Ok(rows.iter().map(Row::figure).collect());
    }
    println!(
        "| network | whose | theirs, B | their MACs | ours, B | of theirs | time of resident | resident, B | input |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for row in &rows {
        let part = |percent: u64| format!("{}.{:02}", percent / 100, percent % 100);
        println!(
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            row.network,
            row.whose,
            grouped(row.theirs),
            part(row.their_macs_percent),
            grouped(row.ours),
            part(row.ours * 100 / row.theirs.max(1)),
            part(row.time_percent),
            grouped(row.resident),
            row.input,
        );
    }
    Ok(rows.iter().map(Row::figure).collect())
}

impl Row {
    fn figure(&self) -> Figure {
        let Self { network, whose, theirs, ours, time_percent, .. } = self;
        // A quarter of one's own plan is no number that a goal can be named by.
        let theirs_named =
            if whose.contains("resident") { String::new() } else { format!("/{theirs}") };
        Figure::new(
            format!("peers/{network}/{whose}{theirs_named}"),
            format!(
                "{} B, time × {}.{:02}",
                grouped(*ours),
                time_percent / 100,
                time_percent % 100
            ),
            ours <= theirs,
        )
    }
}

/// The least arena of `auto`, with the input in rows where they leave it out, and its time beside that of all in SRAM.
fn ours(model: &Model, board: &Board, streams: bool) -> Result<Ours, String> {
    let options = Options {
        objective: Objective::Memory,
        is_inside: true,
        streams_input: streams,
        ..Options::default()
    };
    let planned = |strategy| {
        let found = tilewright_planner::plan(model, board, strategy, &options);
        found.map_err(|error| format!("{}: {error}", model.name))
    };
    let (resident, least) = (planned(Strategy::Resident)?, planned(Strategy::Auto)?);
    let time = |plan: &Planned| plan.timeline.end().since(CyclePoint::default()).0;
    Ok(Ours {
        resident: resident.plan.space(Space::Arena).0,
        bytes: least.plan.space(Space::Arena).0,
        time_percent: time(&least) * 100 / time(&resident).max(1),
        input: least.report.input,
    })
}

/// A board of the field without external RAM and card, with flash for all weights and SRAM for all tensors.
fn roomy() -> Result<Board, String> {
    let mut board = tilewright_board::find("nucleo-f767zi").map_err(|e| e.to_string())?;
    for memory in &mut board.memory {
        if matches!(memory.kind, MemoryKind::Flash | MemoryKind::Sram) {
            memory.bytes = Bytes(64 << 20);
        }
    }
    if let Some(firmware) = &mut board.firmware {
        firmware.arena_bytes = Bytes(32 << 20);
    }
    Ok(board)
}

/// A file beside the project, or a network of the zoo; nothing if the file is missing.
fn model(from: &str) -> Result<Option<Model>, String> {
    if !from.ends_with(".tflite") {
        let network = tilewright_zoo::network(from).map_err(|e| e.to_string())?;
        return network.int8().map(Some).map_err(|e| e.to_string());
    }
    let path = emulated::project().join("../shared/models").join(from);
    let Ok(bytes) = fs::read(&path) else { return Ok(None) };
    let model = tilewright_formats::open(from, &bytes, &Limits::default(), &[]);
    model.map(Some).map_err(|e| format!("{from}: {e}"))
}
