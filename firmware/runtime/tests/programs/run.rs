//! Programs run, and say why they do not.

use crate::image::{BOARD, Image, Tables, op};
use crate::lenet;
use tilewright_kernels::{Channel, Multiplier, pack};
use tilewright_plan::image::{Expected, LaneRecord, StoreError};
use tilewright_plan::{
    After, ImageError, Instruction, Kernel, LaneKind, Op, PlanImage, Space, Step, Tile, View,
};
use tilewright_runtime::{
    AccessError, Cause, LaneDriver, LaneError, Memory, Observer, Pace, RunError, SoftwareEngines,
    run_program, run_with,
};

fn read<'i>(image: &'i Image, memory: &Memory<'_>) -> Result<PlanImage<'i>, ImageError> {
    let expected = Expected { board: BOARD, space_bytes: memory.space_bytes() };
    PlanImage::read(image.bytes(), &expected)
}

/// Writes down what it hears.
#[derive(Default)]
struct Heard(Vec<(char, u32)>);

impl Observer for Heard {
    fn step_begin(&mut self, step: u32, _layer: u16) {
        self.0.push(('<', step));
    }
    fn step_end(&mut self, step: u32, _layer: u16) {
        self.0.push(('>', step));
    }
}

#[test]
fn lenet_runs_as_its_kernels_do() {
    let image = lenet::tables().build();
    for seed in 0..4 {
        let mut arena = vec![0xa5; 16 * 1024];
        let input = lenet::input(seed);
        arena[..input.len()].copy_from_slice(&input);
        let mut memory = Memory::new(&mut arena);
        let image = read(&image, &memory).unwrap();
        let mut heard = Heard::default();
        run_program(&image, 0, &mut memory, &mut heard).unwrap();
        let output = image.view(image.entry_outputs(&image.entries()[0])[0].view).unwrap();
        let expected = lenet::compute(&input).unwrap();
        assert_eq!(memory.bytes(&image, &output).unwrap(), expected);
        assert!(expected.iter().any(|byte| *byte != expected[0]), "{expected:?} says nothing");
        let steps: Vec<_> = (0..8).flat_map(|step| [('<', step), ('>', step)]).collect();
        assert_eq!(heard.0, steps);
    }
}

/// A depthwise layer in two row tiles through a ring of three rows, then an addition.
#[test]
fn tiles_through_a_ring_give_the_whole() {
    let (h, w, c) = (4u16, 5u16, 3u32);
    let mut tables = Tables::default();
    let weights: Vec<i8> = (0..27).map(|i| i * 7 - 90).collect();
    let weights = tables.weights(&pack::weights(pack::Weights::Depthwise, &weights));
    let factor = Multiplier { multiplier: 1 << 30, shift: -6 };
    let channels = [Channel { bias: 11, factor }; 3];
    let channels = tables.constants(&pack::channel_constants(&channels));
    let depthwise = Op { window: [3; 2], padding: [1; 2], ..op(Kernel::Depthwise) };
    let input = View::whole(Space::Arena, 0, h, w, c);
    let whole = View::whole(Space::Arena, 64, h, w, c);
    tables.layer("whole", depthwise, &[input, whole, weights, channels]);
    // Rows 0..2 and 2..4 of the output, written as rows of a ring that wraps after three rows.
    let ring = 128;
    let tile = |start: u16| Tile {
        output_start: [start, 0],
        output_size: [2, w],
        channel_start: 0,
        channels: c,
        valid_start: [0, 0],
        valid_size: [h, w],
    };
    let part = |start: u16| View {
        h: 2,
        y0: start as i16,
        ring_rows: 3,
        first_row: start % 3,
        offset: ring,
        ..View::whole(Space::Arena, ring, 3, w, c)
    };
    let identity = Op { scalars: [1 << 30, 1, 0, 0, 0, 0, 0], ..op(Kernel::Requantise) };
    let copied = View::whole(Space::Arena, 192, h, w, c);
    for start in [0, 2] {
        let operands = vec![input, part(start), weights, channels];
        tables.tiled_layer("part", depthwise, &[(tile(start), operands)]);
        let to = View {
            h: 2,
            y0: start as i16,
            offset: 192 + u32::from(start) * 15,
            ring_rows: 2,
            ..copied
        };
        tables.tiled_layer("copy", identity, &[(tile(start), vec![part(start), to])]);
    }
    tables.arena_bytes = 256;
    tables.io(input, &[]);
    tables.io(whole, &[]);
    tables.program();
    let image = tables.build();

    let mut arena: Vec<u8> = (0..=255u8).map(|i| i.wrapping_mul(151)).collect();
    let mut memory = Memory::new(&mut arena);
    let image = read(&image, &memory).unwrap();
    run_program(&image, 0, &mut memory, &mut ()).unwrap();
    assert_eq!(arena[192..252], arena[64..124]);
    assert!(arena[64..124].iter().any(|byte| *byte != arena[64]));
}

fn copy_tables(from: View, to: View) -> Tables {
    let mut tables = Tables { arena_bytes: 64, ..Tables::default() };
    let identity = Op { scalars: [1 << 30, 1, 0, 0, 0, 0, 0], ..op(Kernel::Requantise) };
    tables.layer("copy", identity, &[from, to]);
    // A second step, which makes the same again.
    tables.steps.push(tables.steps[0]);
    tables.io(from, &[]);
    tables.io(to, &[]);
    tables.program();
    tables
}

fn copy_from_to(from: u32, to: u32) -> Tables {
    let view = |offset| View::whole(Space::Arena, offset, 1, 1, 16);
    copy_tables(view(from), view(to))
}

fn run(tables: &Tables) -> Result<(), RunError> {
    let mut arena = [0; 64];
    let mut memory = Memory::new(&mut arena);
    let image = tables.build();
    let image = read(&image, &memory).expect("the image is valid");
    run_program(&image, 0, &mut memory, &mut ())
}

#[test]
fn overlapping_operands_are_refused_with_their_step() {
    assert_eq!(run(&copy_from_to(0, 16)), Ok(()));
    let error = run(&copy_from_to(0, 8)).unwrap_err();
    let cause = Cause::Access(AccessError::Overlap);
    assert_eq!(error, RunError::Step { step: 0, layer: 0, cause });
    assert_eq!(error.to_string(), "step 0 of layer 0: an input shares bytes with the output");
}

#[test]
fn memory_that_is_missing_is_refused_when_read() {
    let image = copy_from_to(0, 16).build();
    let mut arena = [0; 32];
    let memory = Memory::new(&mut arena);
    let error = read(&image, &memory).unwrap_err();
    assert!(matches!(error, ImageError::SpaceTooSmall { space: Space::Arena, .. }), "{error}");
}

#[test]
fn a_smaller_memory_than_the_image_was_validated_for_is_refused() {
    let image = copy_from_to(0, 48).build();
    let (mut large, mut small) = ([0; 64], [0; 32]);
    let large = Memory::new(&mut large);
    let mut small = Memory::new(&mut small);
    let image = read(&image, &large).unwrap();
    let cause = Cause::Access(AccessError::OutOfBounds(Space::Arena));
    let error = run_program(&image, 0, &mut small, &mut ()).unwrap_err();
    assert_eq!(error, RunError::Step { step: 0, layer: 0, cause });
    let error = run_program(&image, 7, &mut small, &mut ()).unwrap_err();
    assert_eq!(error, RunError::NoProgram { index: 7 });
}

/// Adds a lane of a transfer engine with two steps, and lets the core wait for `after`.
fn with_engine(after: After) -> Tables {
    let mut tables = copy_from_to(0, 16);
    let mut step = Step::from_record(&tables.steps[1]).expect("a step");
    step.after[0] = Some(after);
    tables.steps[1] = step.to_record();
    let kind = LaneKind::Card as u16;
    let step_first = tables.steps.len() as u32;
    tables.steps.extend([Step { after: [None; 3], ..step }.to_record(); 2]);
    tables.lanes.push(LaneRecord { kind, reserved: 0, step_first, step_count: 2 });
    tables.entries[0].lane_count = 2;
    tables
}

#[test]
fn lanes_without_engine_and_deadlocks_are_refused() {
    let card = with_engine(After { lane: 1, step: 0 });
    let cause = LaneError::NoEngine(LaneKind::Card);
    assert_eq!(run(&card), Err(RunError::Lane { lane: 1, cause }));

    let mut itself = with_engine(After { lane: 0, step: 1 });
    itself.entries[0].lane_count = 1;
    let cause = Cause::Lane(LaneError::Deadlock);
    assert_eq!(run(&itself), Err(RunError::Step { step: 1, layer: 0, cause }));
}

/// An engine that writes down what is asked of it, and fails at a step.
struct Engine {
    heard: Vec<String>,
    fails: Option<u32>,
}

impl LaneDriver for Engine {
    fn start(
        &mut self,
        _: &PlanImage<'_>,
        lane: u8,
        record: &LaneRecord,
        _: &mut Memory<'_>,
    ) -> Result<(), LaneError> {
        self.heard.push(format!("start lane {lane} kind {}", record.kind));
        Ok(())
    }
    fn wait(&mut self, after: After, _: &mut Memory<'_>) -> Result<(), LaneError> {
        self.heard.push(format!("wait for step {} of lane {}", after.step, after.lane));
        if self.fails == Some(after.step) {
            return Err(LaneError::Failed { step: after.step });
        }
        Ok(())
    }
    fn core_completed(&mut self, step: u32, _: &mut Memory<'_>) -> Result<(), LaneError> {
        self.heard.push(format!("core completed {step}"));
        Ok(())
    }
}

#[test]
fn engines_are_started_waited_for_and_told() {
    let failed = LaneError::Failed { step: 0 };
    let at_core = RunError::Step { step: 1, layer: 0, cause: Cause::Lane(failed) };
    let at_end = RunError::Lane { lane: 1, cause: LaneError::Failed { step: 1 } };
    for (fails, result) in [(None, Ok(())), (Some(0), Err(at_core)), (Some(1), Err(at_end))] {
        let image = with_engine(After { lane: 1, step: 0 }).build();
        let mut arena = [0; 64];
        let mut memory = Memory::new(&mut arena);
        let image = read(&image, &memory).unwrap();
        let mut engine = Engine { heard: Vec::new(), fails };
        assert_eq!(run_with(&image, 0, &mut memory, &mut engine, &mut ()), result);
        let mut expected =
            vec!["start lane 1 kind 2", "core completed 0", "wait for step 0 of lane 1"];
        if fails != Some(0) {
            expected.extend(["core completed 1", "wait for step 1 of lane 1"]);
        }
        assert_eq!(engine.heard, expected);
    }
}

/// Bytes are fetched from external RAM, copied by the core, and taken back behind them.
fn there_and_back(first: Option<After>, second: Option<After>) -> Tables {
    let mut tables = copy_from_to(0, 16);
    let mut step = Step::from_record(&tables.steps[0]).expect("a step");
    step.after[0] = first;
    tables.steps[0] = step.to_record();
    let span = |space: Space, offset, rows, row_bytes, pitch| tilewright_plan::Span {
        space: space as u8,
        offset,
        rows,
        row_bytes,
        pitch,
        ..Default::default()
    };
    let copies = [
        tables.copy(
            span(Space::ExternalRam, 0, 4, 4, 8),
            span(Space::Arena, 0, 1, 16, 16),
            [None; 3],
        ),
        tables.copy(
            span(Space::Arena, 16, 2, 8, 8),
            span(Space::ExternalRam, 32, 1, 16, 16),
            [second, None, None],
        ),
    ];
    tables.lane(LaneKind::Dma, &copies);
    tables.external_ram_bytes = 48;
    tables
}

fn run_in_software(tables: &Tables, pace: Pace) -> (Result<(), RunError>, Vec<u8>) {
    let mut arena = [0; 64];
    let mut ram: Vec<u8> = (0..48).collect();
    let mut memory = Memory::new(&mut arena).with_external(&mut ram, &[]);
    let image = tables.build();
    let image = read(&image, &memory).expect("the image is valid");
    let mut engines = SoftwareEngines::new(image, &mut [], pace);
    let result = run_with(&image, 0, &mut memory, &mut engines, &mut ());
    (result, ram)
}

#[test]
fn software_moves_bytes_in_the_order_that_steps_wait_in() {
    let after = |lane, step| Some(After { lane, step });
    let tables = there_and_back(after(1, 0), after(0, 0));
    let moved: Vec<u8> = [0, 8, 16, 24].iter().flat_map(|first| *first..first + 4).collect();
    for pace in [Pace::Early, Pace::Late] {
        let (result, ram) = run_in_software(&tables, pace);
        assert_eq!((result, &ram[32..]), (Ok(()), &moved[..]), "{pace:?}");
    }
    // Without its wait the core copies what was there before the bytes came.
    let (result, ram) = run_in_software(&there_and_back(None, after(0, 0)), Pace::Late);
    assert_eq!((result, &ram[32..]), (Ok(()), &[0; 16][..]));
    // The core waits for a copy that waits for the core.
    let (result, _) = run_in_software(&there_and_back(after(1, 1), after(0, 0)), Pace::Early);
    let cause = Cause::Lane(LaneError::Deadlock);
    assert_eq!(result, Err(RunError::Step { step: 0, layer: 0, cause }));
}

#[test]
fn a_copy_in_the_core_lane_is_no_step() {
    let mut tables = copy_from_to(0, 16);
    tables.spans =
        vec![tilewright_plan::Span { rows: 1, row_bytes: 4, pitch: 4, ..Default::default() }; 2];
    let instruction = Instruction::Copy { source: 0, destination: 1, sum: None };
    let step = Step { after: [None; 3], frame: 0, layer: 0, instruction };
    tables.steps[1] = step.to_record();
    assert_eq!(run(&tables), Err(RunError::Step { step: 1, layer: 0, cause: Cause::BadStep }));
}

#[test]
fn external_flash_must_hold_the_store_that_belongs_to_the_plan() {
    let mut tables = copy_from_to(0, 16);
    tables.external_flash_bytes = 516;
    let image = tables.build();
    let checked = |flash: &[u8]| {
        let mut arena = [0; 64];
        let memory = Memory::new(&mut arena).with_external(&mut [], flash);
        memory.check_stores(&read(&image, &memory).expect("the image is valid"))
    };
    let mut store = tables.store(&[1, 2, 3, 4]);
    assert_eq!(checked(&store), Ok(()));
    assert_eq!(checked(&[0; 516]), Err(StoreError::NotAStore));
    store[64] ^= 1;
    assert_eq!(checked(&store), Err(StoreError::Checksum { section: None }));
}
