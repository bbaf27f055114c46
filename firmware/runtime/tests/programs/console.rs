//! The console over a port of bytes.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use crate::image::{BOARD, Tables, op};
use crate::lenet;
use embedded_io_async::{ErrorKind, ErrorType, Read, Write};
use tilewright_plan::image::{CRC, Expected};
use tilewright_plan::{ImageError, Instruction, Kernel, PlanImage, Space, Tile, View};
use tilewright_runtime::console::{self, ConsoleError, FramePort, LayerCycles, MarkKind, Marker};
use tilewright_runtime::{Memory, NoEngines};

/// Gives bytes in pieces, takes text.
struct Port {
    to_read: Vec<u8>,
    at: usize,
    /// Before these bytes the host is silent for long.
    silences: Vec<usize>,
    in_frame: bool,
    written: Vec<u8>,
}

impl Port {
    fn new(to_read: Vec<u8>, silences: Vec<usize>) -> Self {
        Self { to_read, at: 0, silences, in_frame: false, written: Vec::new() }
    }
}

impl ErrorType for Port {
    type Error = ErrorKind;
}

impl Read for Port {
    async fn read(&mut self, bytes: &mut [u8]) -> Result<usize, ErrorKind> {
        let silence = self.silences.first().copied();
        if silence == Some(self.at) {
            self.silences.remove(0);
            if self.in_frame {
                return Err(ErrorKind::TimedOut);
            }
        }
        let until = silence.filter(|at| *at > self.at).unwrap_or(usize::MAX);
        let rest = &self.to_read[self.at..until.min(self.to_read.len())];
        let count = bytes.len().min(rest.len()).min(7);
        bytes[..count].copy_from_slice(&rest[..count]);
        self.at += count;
        Ok(count)
    }
}

impl FramePort for Port {
    fn in_frame(&mut self, yes: bool) {
        self.in_frame = yes;
    }
}

impl Write for Port {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        let count = bytes.len().min(5);
        self.written.extend_from_slice(&bytes[..count]);
        Ok(count)
    }
    async fn flush(&mut self) -> Result<(), ErrorKind> {
        Ok(())
    }
}

/// A counter that moves by 100 for each mark, through its wrap.
struct Clock(u32, Vec<(MarkKind, u32)>);

impl Marker for Clock {
    fn mark(&mut self, kind: MarkKind, value: u32) -> u32 {
        self.1.push((kind, value));
        self.0 = self.0.wrapping_add(100);
        self.0
    }
}

/// The port never waits.
fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the port never waits"),
    }
}

fn frame(payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_le_bytes();
    [b"TWIN", &length[..], payload, &CRC.checksum(payload).to_le_bytes()].concat()
}

/// What the board says when it hears `bytes` and then the port closes.
fn session(tables: &Tables, bytes: Vec<u8>) -> (Vec<String>, Clock, bool) {
    session_with(tables, Port::new(bytes, Vec::new()))
}

/// As [`session`], with a port that may fall silent.
fn session_with(tables: &Tables, mut port: Port) -> (Vec<String>, Clock, bool) {
    let mut clock = Clock(u32::MAX - 250, Vec::new());
    let mut arena = vec![0; 16 * 1024];
    let mut memory = Memory::new(&mut arena);
    let mut layers = LayerCycles::new();
    let image = tables.build();
    let expected = Expected { board: BOARD, space_bytes: memory.space_bytes() };
    let image = PlanImage::read(image.bytes(), &expected).expect("the image is valid");
    let ended = ready(async {
        console::greet(&mut port, BOARD).await?;
        console::serve(&mut port, &image, &mut memory, &mut NoEngines, &mut clock, &mut layers)
            .await
    });
    let closed = matches!(ended, Err(ConsoleError::Closed));
    let text = String::from_utf8(port.written).expect("the console speaks UTF-8");
    assert!(text.ends_with("\r\n"));
    (text.trim_end().split("\r\n").map(str::to_owned).collect(), clock, closed)
}

#[test]
fn frames_are_run_and_reported() {
    let mut bytes = frame(&lenet::input(1));
    bytes.extend(frame(&lenet::input(2)));
    let (lines, clock, closed) = session(&lenet::tables(), bytes);
    assert!(closed);
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(lines[0], format!("tilewright {version} abi 7 board stm32f746g-disco"));
    assert_eq!(lines[1], "plan 0707070707070707 layers 8 arena 9472");
    assert_eq!(lines[2], "ready 1024");
    for (index, name) in
        ["c1", "s2", "c3", "s4", "c5", "f6", "output", "softmax"].into_iter().enumerate()
    {
        assert_eq!(lines[3 + index], format!("layer {index} 100 {name}"));
    }
    let output = lenet::compute(&lenet::input(1)).unwrap();
    let hex: String = output.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(lines[11], format!("output 0 {hex}"));
    let best = (0..10).max_by_key(|class| (output[*class] as i8, -(*class as i32))).unwrap();
    assert_eq!(lines[12], format!("score {best} {} digit {best}", output[best] as i8));
    assert_eq!(lines[22], "invoke 1700");
    assert_eq!(lines[23], "done");
    assert_eq!(lines[24], "ready 1024");
    assert_eq!(lines[25..33], lines[3..11]);
    let output = lenet::compute(&lenet::input(2)).unwrap();
    let hex: String = output.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(lines[33], format!("output 0 {hex}"));
    assert_eq!(lines.last().unwrap(), "ready 1024");
    assert_eq!(clock.1.len(), 2 * 18);
    assert_eq!(
        clock.1[..3],
        [(MarkKind::InvokeBegin, 0), (MarkKind::StepBegin, 0), (MarkKind::StepEnd, 0)]
    );
    assert_eq!(clock.1[17], (MarkKind::InvokeEnd, 0));
}

#[test]
fn bad_frames_are_said_and_survived() {
    let good = frame(&lenet::input(3));
    let mut broken = good.clone();
    broken[500] ^= 4;
    let bytes = [b"hello TTWI", &frame(b"short")[..], &good, &broken, &good].concat();
    let (lines, _, closed) = session(&lenet::tables(), bytes);
    assert!(closed);
    let said: Vec<&str> = lines
        .iter()
        .filter(|line| ["retry", "ready", "done"].iter().any(|start| line.starts_with(start)))
        .map(|line| line.split(" checksum ").next().unwrap_or(line))
        .collect();
    assert_eq!(
        said,
        [
            "ready 1024",
            "retry: a frame starts with TWIN; waiting for that",
            "ready 1024",
            "retry: the frame's payload has 5 bytes, the inputs have 1024",
            "ready 1024",
            "done",
            "ready 1024",
            "retry: the frame says",
            "ready 1024",
            "done",
            "ready 1024",
        ]
    );
}

#[test]
fn a_frame_that_stops_is_said_and_the_next_is_run() {
    let good = frame(&lenet::input(3));
    // In the magic, in the length, in the payload, in the checksum.
    for cut in [1, 6, 500, good.len() - 1] {
        // Between frames silence is nothing to speak of.
        let bytes = [&good, &good[..cut], &good].concat();
        let silences = vec![0, good.len(), good.len() + cut];
        let (lines, _, closed) = session_with(&lenet::tables(), Port::new(bytes, silences));
        assert!(closed);
        let said: Vec<&String> = lines
            .iter()
            .filter(|line| ["retry", "done"].iter().any(|start| line.starts_with(start)))
            .collect();
        let stopped = "retry: the frame stopped before its end; send it whole";
        assert_eq!(said, ["done", stopped, "done"], "cut at {cut}");
    }
}

#[test]
fn a_failing_step_ends_the_session() {
    let mut tables = lenet::tables();
    // The second layer's output onto its input.
    let overlap = tables.views[4].offset;
    tables.views[5].offset = overlap;
    let (lines, clock, closed) = session(&tables, frame(&lenet::input(0)));
    assert!(!closed);
    let last = &clock.1[clock.1.len() - 3..];
    let marks = [MarkKind::InvokeEnd, MarkKind::FailedStep, MarkKind::FailedLayer];
    assert_eq!(last, [(marks[0], 0), (marks[1], 1), (marks[2], 1)]);
    assert_eq!(
        lines.last().unwrap(),
        "error: step 1 of layer 1: an input shares bytes with the output (s2); \
         flash a plan image that was made for this firmware"
    );
}

#[test]
fn long_names_and_many_layers_are_said() {
    let mut tables = lenet::tables();
    tables.names[1] = format!("{}\r\n{}", "x".repeat(300), "y");
    for _ in 0..300 {
        let layer = tables.layers[7];
        tables.layers.push(layer);
    }
    let (lines, _, _) = session(&tables, frame(&lenet::input(0)));
    assert_eq!(lines[4], format!("layer 1 100 {}  y", "x".repeat(300)));
    let last = console::LAYER_SLOTS - 1;
    let following = tables.layers.len() - console::LAYER_SLOTS;
    assert_eq!(
        lines[3 + last],
        format!("layer {last} 0 softmax and the {following} layers that follow")
    );
    assert!(lines[4 + last].starts_with("output 0 "), "{}", lines[4 + last]);
}

#[test]
fn a_missing_image_is_said() {
    let mut port = Port::new(Vec::new(), Vec::new());
    ready(console::refuse(&mut port, &ImageError::NotAnImage, 0x0802_8000)).unwrap();
    assert_eq!(
        String::from_utf8(port.written).unwrap(),
        "error: no plan image: it does not start with TWPI; at 0x08028000 there must be a plan \
         image for this board and firmware: flash one\r\n"
    );
}

/// Two rows of an input that arrives in rows, through the bytes of one, and a pool of each.
fn arriving() -> Tables {
    let mut tables = Tables { arena_bytes: 32, ..Tables::default() };
    let row = |offset: u32, y0: i16| View { y0, ..View::whole(Space::Arena, offset, 1, 4, 1) };
    let tile = |y: u16| Tile {
        output_start: [y, 0],
        output_size: [1, 4],
        channels: 1,
        valid_start: [y, 0],
        valid_size: [1, 4],
        ..Tile::default()
    };
    for y in 0..2u16 {
        tables.views.push(row(0, y as i16));
        let view = tables.views.len() as u32 - 1;
        tables.step(y, Instruction::Arrive { view });
        let output = row(8 + 4 * u32::from(y), y as i16);
        let operands = vec![row(0, y as i16), output];
        tables.tiled_layer(&format!("row {y}"), op(Kernel::MaxPool), &[(tile(y), operands)]);
    }
    tables.io(row(0, 0), &[]);
    tables.io(View::whole(Space::Arena, 8, 2, 4, 1), &[]);
    tables.program();
    tables
}

#[test]
fn an_input_that_arrives_in_rows_is_asked_for_row_by_row() {
    let rows = [b"\x01\x02\x03\x04", b"\x05\x06\x07\x08"].map(|row| frame(row));
    let mut broken = rows[1].clone();
    broken[9] ^= 1;
    let [first, second] = &rows;
    let bytes = [first, &broken, second, first, second].map(|row| row.as_slice()).concat();
    let (lines, clock, closed) = session(&arriving(), bytes);
    assert!(closed);
    let said = |start: &str| lines.iter().filter(|line| line.starts_with(start)).count();
    assert_eq!((said("ready 4"), said("retry"), said("done")), (6, 1, 2), "{lines:?}");
    assert_eq!(said("output 0 0102030405060708"), 2, "{lines:?}");
    // Begin, two steps with two marks each, and the end; what passes while rows arrive is not counted.
    assert_eq!(said("invoke 600"), 2, "{lines:?}");
    let pauses = clock.1.iter().filter(|(kind, _)| *kind == MarkKind::Paused).count();
    assert_eq!(pauses, 2, "{:?}", clock.1);
}

fn limit(us: u32) -> Vec<u8> {
    let us = us.to_le_bytes();
    [b"TWLM", &us[..], &CRC.checksum(&us).to_le_bytes()].concat()
}

/// Four bytes that become two outputs, with an exit at the first; and each output as a sub-network.
fn with_exit(least: i8) -> Tables {
    let mut tables = Tables { arena_bytes: 32, ..Tables::default() };
    let view = |offset| View::whole(Space::Arena, offset, 1, 4, 1);
    let tile = Tile { output_size: [1, 4], channels: 1, valid_size: [1, 4], ..Tile::default() };
    let outputs = [view(8), view(16)];
    for (layer, output) in (0..).zip(outputs) {
        let operands = vec![view(0), output];
        tables.tiled_layer(&format!("pool {layer}"), op(Kernel::MaxPool), &[(tile, operands)]);
        if layer == 0 {
            tables.step(0, Instruction::Exit { output: 0, least });
        }
    }
    tables.io(view(0), &[]);
    outputs.iter().for_each(|output| tables.io(*output, &[]));
    tables.program();
    for (output, (name, latency)) in [("first", 100), ("second", 250)].into_iter().enumerate() {
        let first = tables.steps.len();
        tables.steps.push(tables.steps[2 * output]);
        tables.subnetwork(name, first, latency, outputs[output]);
    }
    tables
}

#[test]
fn an_output_that_is_certain_enough_ends_the_run() {
    let input = frame(b"\x01\x02\x03\x04");
    let (lines, clock, _) = session(&with_exit(4), input.clone());
    let said = |start: &str| lines.iter().filter(|line| line.starts_with(start)).count();
    assert_eq!(
        (said("exit 0"), said("output 0 01020304"), said("output 1")),
        (1, 1, 0),
        "{lines:?}"
    );
    assert_eq!(clock.1.iter().filter(|mark| **mark == (MarkKind::Exit, 0)).count(), 1);
    let (lines, ..) = session(&with_exit(5), input);
    let said = |start: &str| lines.iter().filter(|line| line.starts_with(start)).count();
    assert_eq!((said("exit"), said("output 0"), said("output 1 01020304")), (0, 1, 1), "{lines:?}");
}

#[test]
fn a_limit_chooses_the_program_of_the_frames_that_follow() {
    let input = frame(b"\x01\x02\x03\x04");
    let mut broken = limit(300);
    broken[5] ^= 1;
    let parts =
        [&input, &limit(249), &input, &broken, &limit(250), &input, &limit(7), &input, &limit(0)];
    let bytes = parts.map(|part| part.as_slice()).concat();
    let (lines, clock, closed) = session(&with_exit(127), [bytes, input.clone()].concat());
    assert!(closed);
    let said: Vec<&str> = lines
        .iter()
        .map(String::as_str)
        .filter(|line| ["program", "output", "retry"].iter().any(|word| line.starts_with(word)))
        .map(|line| line.split(" says").next().unwrap_or(line))
        .collect();
    let both = ["output 0 01020304", "output 1 01020304"];
    let one = both[0];
    let expected = [
        both[0],
        both[1],
        "program 1 100 first",
        one,
        "retry: the frame",
        "program 2 250 second",
        one,
        "program 1 100 first",
        one,
        "program 0 0 main",
        both[0],
        both[1],
    ];
    assert_eq!(said, expected);
    let chosen: Vec<u32> = clock
        .1
        .iter()
        .filter(|(kind, _)| *kind == MarkKind::Selected)
        .map(|(_, entry)| *entry)
        .collect();
    assert_eq!(chosen, [1, 2, 1, 0]);
}
