//! The board's firmware runs programs whose DMA lane moves bytes while the core computes.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;
#[allow(dead_code, reason = "a part of it is used here")]
#[path = "../../../firmware/runtime/tests/programs/image.rs"]
mod image;

use std::path::{Path, PathBuf};

use common::run_on;
use image::{Tables, op};
use tilewright_plan::image::{CRC, EntryRecord, STORE_ALIGNMENT};
use tilewright_plan::{After, Kernel, LaneKind, Op, Space, Span, Step, View};
use tilewright_protocol::{
    CardFault, CardJob, CardProblem, CopyCount, Finish, Job, Limits, Response, StepCount, Watch,
};
use tilewright_report::Counts;
use tilewright_worker::Firmware;

const BOARDS: [&str; 2] = ["stm32f746g-disco", "stm32f469i-disco"];
const ROWS: u16 = 24;
const ROW_BYTES: u32 = 24 * 8;
const BYTES: u32 = ROWS as u32 * ROW_BYTES;
/// Bytes from row to row outside.
const PITCH: u32 = 224;
/// Offsets in the arena, a tensor each: the input, what is fetched, the maximum, what was sent out and
/// fetched again, its copy, what is computed meanwhile.
const PLACES: [u32; 6] = [0, BYTES, 2 * BYTES, 3 * BYTES, 4 * BYTES, 5 * BYTES];

fn firmware(tables: &Tables) -> Firmware {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let dist = std::env::var_os("TILEWRIGHT_DIST").map_or(project.join("dist"), PathBuf::from);
    let board = tilewright_board::find(tables.board.unwrap()).unwrap();
    let path = dist.join("firmware").join(&board.id).with_extension("elf");
    let elf = std::fs::read(&path)
        .unwrap_or_else(|e| panic!("{}: {e}; run `cargo xtask build`", path.display()));
    let mut firmware = Firmware::from_elf(&elf).unwrap();
    let plan = board.plan_address().unwrap();
    firmware.segments.push((plan, tables.build().bytes().to_vec()));
    firmware
}

fn flash_bytes() -> Vec<u8> {
    (0..u32::from(ROWS) * PITCH).map(|i| (i * 31 + i / 7) as u8).collect()
}

fn input_bytes() -> Vec<u8> {
    (0..BYTES).map(|i| (i * 167 + i / 5) as u8).collect()
}

/// What is in the rows of flash.
fn fetched() -> Vec<u8> {
    flash_bytes()
        .chunks(PITCH as usize)
        .flat_map(|row| &row[..ROW_BYTES as usize])
        .copied()
        .collect()
}

/// The maximum of input and flash.
fn expected() -> Vec<u8> {
    let pairs = input_bytes().into_iter().zip(fetched());
    pairs.map(|(a, b)| a.cast_signed().max(b.cast_signed()).cast_unsigned()).collect()
}

fn after(lane: u8, step: u32) -> [Option<After>; 3] {
    [Some(After { lane, step }), None, None]
}

fn inside(place: usize) -> Span {
    let (offset, space) = (PLACES[place], Space::Arena as u8);
    Span { space, offset, rows: 1, row_bytes: BYTES, pitch: BYTES, ..Span::default() }
}

fn outside(space: Space) -> Span {
    let (rows, row_bytes) = (ROWS.into(), ROW_BYTES);
    // A store begins with its header.
    let offset = if space == Space::ExternalFlash { STORE_ALIGNMENT as u32 } else { 0 };
    Span { space: space as u8, offset, rows, row_bytes, pitch: PITCH, ..Span::default() }
}

fn set_after(tables: &mut Tables, step: usize, after: [Option<After>; 3]) {
    let mut record = Step::from_record(&tables.steps[step]).unwrap();
    record.after = after;
    tables.steps[step] = record.to_record();
}

/// Core: 0 maximum of input and what DMA fetched from flash, 1 a pool of the input, 2 a copy of what
/// DMA sent to SDRAM and back. DMA: 0 fetches, 1 sends, 2 fetches again.
fn tables() -> Tables {
    tables_for(BOARDS[0])
}

fn tables_for(board: &'static str) -> Tables {
    let mut tables = Tables { board: Some(board), ..Tables::default() };
    let view = |place: usize| View::whole(Space::Arena, PLACES[place], ROWS, 24, 8);
    let pool = Op { window: [3; 2], padding: [1; 2], ..op(Kernel::MaxPool) };
    let identity = Op { scalars: [1 << 30, 1, 0, 0, 0, 0, 0], ..op(Kernel::Requantise) };
    tables.layer("maximum", op(Kernel::Maximum), &[view(0), view(1), view(2)]);
    tables.layer("meanwhile", pool, &[view(0), view(5)]);
    tables.layer("last", identity, &[view(3), view(4)]);
    tables.io(view(0), &[]);
    tables.io(view(4), &[]);
    tables.arena_bytes = 6 * BYTES;
    tables.external_ram_bytes = u32::from(ROWS) * PITCH;
    tables.external_flash_bytes = STORE_ALIGNMENT as u32 + u32::from(ROWS) * PITCH;
    tables.program();
    set_after(&mut tables, 0, after(1, 0));
    set_after(&mut tables, 2, after(1, 2));
    let copies = [
        tables.copy(outside(Space::ExternalFlash), inside(1), [None; 3]),
        tables.copy(inside(2), outside(Space::ExternalRam), after(0, 0)),
        tables.copy(outside(Space::ExternalRam), inside(3), [None; 3]),
    ];
    tables.lane(LaneKind::Dma, &copies);
    tables
}

struct Ran {
    finish: Finish,
    steps: Vec<StepCount>,
    copies: Vec<CopyCount>,
    output: Option<Vec<u8>>,
}

fn run_tables(tables: &Tables) -> Ran {
    run_with_store(tables, tables.store(&flash_bytes()))
}

fn run_with_store(tables: &Tables, external_flash: Vec<u8>) -> Ran {
    run_with(tables, external_flash, None)
}

fn run_with(tables: &Tables, external_flash: Vec<u8>, card: Option<CardJob>) -> Ran {
    let mut frame = b"TWIN".to_vec();
    frame.extend(BYTES.to_le_bytes());
    frame.extend(input_bytes());
    frame.extend(CRC.checksum(&input_bytes()).to_le_bytes());
    let board = tilewright_board::find(tables.board.unwrap()).unwrap();
    let address = board.firmware.as_ref().unwrap().arena_address + PLACES[4];
    let job = Job {
        external_flash,
        card,
        frames: vec![vec![frame]],
        watches: vec![Watch {
            step: 2,
            address,
            rows: 1,
            row_bytes: BYTES,
            pitch: BYTES,
            ..Watch::default()
        }],
        ..Job::new(
            board.id,
            Vec::new(),
            Limits { instructions: 1_000_000_000, console_bytes: 1 << 20 },
        )
    };
    let (finish, messages) = run_on(&job.board, firmware(tables), &job);
    let mut ran = Ran { finish, steps: Vec::new(), copies: Vec::new(), output: None };
    for message in messages {
        match message {
            Response::Step(step) => ran.steps.push(step),
            Response::Copy(copy) => ran.copies.push(copy),
            Response::Watched { bytes, .. } => ran.output = Some(bytes),
            _ => {}
        }
    }
    ran
}

fn fault(tables: &Tables) -> String {
    run_tables(tables).finish.fault.unwrap().message
}

#[test]
fn dma_moves_bytes_while_the_core_computes() {
    for board in BOARDS {
        moves_bytes_while_the_core_computes(board);
    }
}

fn moves_bytes_while_the_core_computes(board: &'static str) {
    let ran = run_tables(&tables_for(board));
    assert_eq!(ran.finish.fault, None, "{board}");
    assert!(ran.output.unwrap() == expected());
    assert_eq!(ran.finish.unknown_registers, [], "{board}");
    let bytes: Vec<_> = ran.copies.iter().map(|copy| (copy.lane, copy.step, copy.bytes)).collect();
    let moved = u64::from(BYTES);
    assert_eq!(bytes, [(1, 0, moved), (1, 1, moved), (1, 2, moved)]);
    let [fetch, send, again] = ran.copies[..] else { panic!("three copies") };
    let [first, meanwhile, last] = ran.steps[..] else { panic!("three steps") };
    // The core slept until the first tensor was there, and began behind it.
    let slept = first.waited * 100 / (fetch.end - fetch.start);
    assert!(first.start >= fetch.end && slept > 60, "{slept} %");
    // What follows overlaps with the way out.
    assert!(send.start < meanwhile.start && meanwhile.start < send.end);
    assert!(again.start >= send.end && last.start >= again.end && meanwhile.waited == 0);
    // Of 16 bytes, flash gives in 69 cycles of either board, SRAM takes in 7: a row of 192 bytes is 12 bursts; the
    // rest is interrupts and cache maintenance, row by row.
    let (bursts, took) = (u64::from(BYTES) / 16, fetch.end - fetch.start);
    assert!((bursts * (69 + 5)..bursts * (69 + 5) * 14 / 10).contains(&took), "{took}");
}

#[test]
fn a_checksum_that_differs_ends_the_run_with_its_step() {
    let mut tables = tables();
    tables.sums = vec![CRC.checksum(&fetched()), 0];
    let fetch = tables.steps.len() - 3;
    tables.steps[fetch].words[2] = 0;
    let ran = run_tables(&tables);
    assert_eq!(ran.finish.fault, None);
    assert!(ran.output.unwrap() == expected());
    tables.steps[fetch].words[2] = 1;
    let message = fault(&tables);
    assert!(message.contains("step 0 of layer 0: the transfer of step 0 failed"), "{message}");
    assert!(message.contains("maximum"), "{message}");
}

#[test]
fn what_nobody_waits_for_is_a_race_that_is_told() {
    // The core writes the maximum while DMA sends it out.
    let mut tables = tables();
    set_after(&mut tables, 0, [None; 3]);
    let send = tables.steps.len() - 2;
    set_after(&mut tables, send, after(1, 0));
    let message = fault(&tables);
    assert!(message.contains("a race: the core changed the byte at 0x2"), "{message}");
}

#[test]
fn a_lane_that_waits_for_its_waiter_is_told() {
    let mut tables = tables();
    let fetch = tables.steps.len() - 3;
    set_after(&mut tables, fetch, after(0, 2));
    let message = fault(&tables);
    assert!(message.contains("it waits for a step that cannot be complete"), "{message}");
}

#[test]
fn a_lane_that_nothing_runs_is_told() {
    let mut tables = tables();
    tables.lanes[1].kind = LaneKind::Card as u16;
    let message = fault(&tables);
    assert!(message.contains("this firmware drives no Card engine"), "{message}");
}

/// A boot program brings what the core needs to SDRAM, once.
#[test]
fn a_boot_program_runs_once_and_is_counted_apart() {
    let mut tables = tables();
    let main = tables.entries[0];
    let copies =
        [tables.copy(outside(Space::ExternalFlash), outside(Space::ExternalRam), [None; 3])];
    let boot = EntryRecord {
        kind: 1,
        name: main.name,
        lane_first: tables.lanes.len() as u16,
        input_first: tables.io.len() as u16,
        output_first: tables.io.len() as u16,
        frames: 1,
        ..EntryRecord::default()
    };
    tables.entries.push(boot);
    tables.lane(LaneKind::Core, &[]);
    tables.lane(LaneKind::Dma, &copies);
    // The main program fetches from SDRAM.
    let fetch = tables.steps.len() - 4;
    let from_ram = tables.steps[fetch + 2].words[0];
    tables.steps[fetch].words[0] = from_ram;
    let ran = run_tables(&tables);
    assert_eq!(ran.finish.fault, None);
    assert!(ran.output.unwrap() == expected());
    assert_eq!(ran.copies.len(), 3, "copies of the boot program belong to no invoke");
    let (load, boot) = (ran.finish.load.cycles(), ran.finish.boot.cycles());
    assert!(load.0 > u64::from(BYTES) / 16 * 80 && load < boot, "{load} {boot}");
    assert_eq!(run_tables(&self::tables()).finish.load, Counts::default());
}

#[test]
fn a_store_of_another_plan_is_refused() {
    let tables = tables();
    let mut other = tables.store(&flash_bytes());
    other[64] ^= 1;
    for (store, what) in [
        (Vec::new(), "no store image: it does not start with TWST; in external flash"),
        (other, "store image: header checksum differs"),
    ] {
        let message = run_with_store(&tables, store).finish.fault.unwrap().message;
        assert!(message.contains(what), "{message}");
    }
}

/// The core computes while DMA fetches and a card is read that is gone: what DMA's interrupt says then is
/// nobody's business any more, but must not be raised for ever.
#[test]
fn a_card_that_fails_beside_dma_is_told() {
    for board in BOARDS {
        let mut tables = Tables { board: Some(board), ..Tables::default() };
        let view = |place: usize| View::whole(Space::Arena, PLACES[place], ROWS, 24, 8);
        let pool = Op { window: [3; 2], padding: [1; 2], ..op(Kernel::MaxPool) };
        tables.layer("meanwhile", pool, &[view(0), view(5)]);
        tables.layer("behind", op(Kernel::Maximum), &[view(1), view(3), view(4)]);
        tables.io(view(0), &[]);
        tables.io(view(4), &[]);
        tables.arena_bytes = 6 * BYTES;
        tables.external_flash_bytes = STORE_ALIGNMENT as u32 + u32::from(ROWS) * PITCH;
        tables.card_bytes = STORE_ALIGNMENT as u32 + BYTES;
        tables.program();
        let mut second = after(1, 0);
        second[1] = after(2, 0)[0];
        set_after(&mut tables, 1, second);
        let on_card =
            Span { space: Space::Card as u8, offset: STORE_ALIGNMENT as u32, ..inside(0) };
        let fetch = tables.copy(outside(Space::ExternalFlash), inside(1), [None; 3]);
        let read = tables.copy(on_card, inside(3), [None; 3]);
        tables.lane(LaneKind::Dma, &[fetch]);
        tables.lane(LaneKind::Card, &[read]);
        let card = |faults| CardJob {
            class: "sd-class10".into(),
            image: tables.store_for(Space::Card, &input_bytes()).into(),
            bytes: 1 << 30,
            faults,
        };
        let flash = || tables.store(&flash_bytes());
        let ran = run_with(&tables, flash(), Some(card(Vec::new())));
        assert_eq!(ran.finish.fault, None, "{board}");
        assert_eq!(ran.copies.len(), 2, "{board}");
        let [fetched, meanwhile] = [ran.copies[0].end, ran.steps[0].end];
        assert!(fetched < meanwhile, "{board}: DMA ends at {fetched}, the step at {meanwhile}");
        let gone = CardFault { transfer: 1, every: 0, problem: CardProblem::Removed };
        let ran = run_with(&tables, flash(), Some(card(vec![gone])));
        let message = ran.finish.fault.unwrap().message;
        assert!(message.contains("gave up") && message.contains("card"), "{board}: {message}");
    }
}
