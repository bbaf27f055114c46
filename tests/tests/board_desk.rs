//! `tilewright board` over a pseudo-terminal: with the emulated board, on lines that lose bytes or are slow, and with
//! what is no board at all.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tilewright_tests::desk::{
    Heard, Line, Pseudo, Stand, board_run, complaint, good, image, plan_id, report,
    silent_about_itself, stranger,
};
use tilewright_tests::{emulated, program};

const LENET: &str = "models/lenet5.onnx";
const BOARD: &str = "stm32f746g-disco";

/// Virtual time keeps to the clock here, so that these tests do not share the processor with each other.
static ALONE: Mutex<()> = Mutex::new(());

/// An image of lenet5 in a folder of its own.
struct Desk {
    _alone: std::sync::MutexGuard<'static, ()>,
    folder: tempfile::TempDir,
    image: PathBuf,
}

impl Desk {
    fn new() -> Self {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = tempfile::tempdir().unwrap();
        let image = image(LENET, BOARD, folder.path());
        Self { _alone: alone, folder, image }
    }

    fn runs(&self, port: &Path) -> (Value, String) {
        report(&board_run(&self.image, port, &["--json"]))
    }

    /// What a run over a line says whose wire does this to the board's bytes and its input's.
    fn refuses(&self, port: &Path, more: &[&str]) -> String {
        complaint(&board_run(&self.image, port, more))
    }
}

/// The outputs are those that `tilewright run` gives, and nothing of them is called measured.
fn is_right(report: &Value) {
    let arguments = ["run", LENET, "--board", BOARD, "--json"];
    let expected = program::json(&arguments, 0);
    assert_eq!(report["outputs"], expected["outputs"], "{report}");
    // What is left of a frame that was refused does not arrive while the board computes: that would take it 2 %.
    let cycles = |of: &Value| of["cycles"].as_f64().unwrap();
    assert!((cycles(report) / cycles(&expected) - 1.0).abs() < 0.01, "{report}");
    assert_eq!(report["layers"].as_array().unwrap().len(), 8);
    assert_eq!(report["measured_on"], "emulated board");
    assert_eq!(report["kinds"]["cycles"], "modelled");
}

#[test]
fn every_emulated_board_is_measured_as_what_it_is() {
    let desk = Desk::new();
    for board in emulated::boards() {
        let folder = tempfile::tempdir_in(desk.folder.path()).unwrap();
        let stand = Stand::start(&image(LENET, &board.id, folder.path()));
        let (port, record) = (stand.port.to_str().unwrap(), folder.path().join("record.json"));
        let written = record.to_str().unwrap();
        let arguments = [
            "board", "measure", LENET, "--board", &board.id, "--port", port, "--json", "-o",
            written,
        ];
        let told = program::json(&arguments, 0);
        let record: Value = serde_json::from_slice(&std::fs::read(record).unwrap()).unwrap();
        assert_eq!(told, record);
        assert_eq!(record["measured_on"], "emulated board");
        assert_eq!(record["kinds"]["cycles"], "modelled");
        assert_eq!(record["port"], "pseudo-terminal");
        assert!(record["stand_in"].as_str().unwrap().starts_with("by tilewright"), "{record}");
        assert_eq!(record["verified"], true, "{record}");
        assert_eq!(record["board"], board.id.as_str());
        let figure = |key: &str| record[key].as_f64().unwrap();
        // The core's cycle counter counts what the emulator charges, and a few marks more.
        assert!((figure("cycles") / figure("emulated_cycles") - 1.0).abs() < 0.005, "{record}");
        for layer in record["layers"].as_array().unwrap() {
            let figure = |key: &str| layer[key].as_f64().unwrap();
            assert!((figure("cycles") - figure("emulated_cycles")).abs() < 100.0, "{layer}");
            assert!(figure("predicted_cycles") > 0.0, "{layer}");
        }
    }
}

#[test]
fn a_board_answers_one_program_after_another() {
    let desk = Desk::new();
    let stand = Stand::start(&desk.image);
    for _ in 0..2 {
        let (told, said) = desk.runs(&stand.port);
        is_right(&told);
        assert_eq!((&told["sent_again"], &told["resets"]), (&0.into(), &0.into()), "{said}");
    }
}

#[test]
fn a_slow_host_is_waited_for() {
    let desk = Desk::new();
    let stand = Stand::start(&desk.image);
    let slowly = |_, byte| {
        thread::sleep(Duration::from_millis(2));
        Some(byte)
    };
    let line = Line::to(&stand.port, Box::new(slowly), good());
    let start = Instant::now();
    let (told, said) = desk.runs(&line.port);
    assert!(
        start.elapsed() > Duration::from_secs(2),
        "the input took longer than a board waits for a byte"
    );
    is_right(&told);
    assert_eq!(told["sent_again"], 0, "{said}");
}

#[test]
fn a_host_that_stops_in_a_frame_sends_it_again() {
    let desk = Desk::new();
    let stand = Stand::start(&desk.image);
    let stops = |count, byte| {
        if count == 500 {
            thread::sleep(Duration::from_millis(1500));
        }
        Some(byte)
    };
    let line = Line::to(&stand.port, Box::new(stops), good());
    let (told, said) = desk.runs(&line.port);
    is_right(&told);
    assert_ne!(told["sent_again"], 0, "{said}");
    assert!(said.contains("the frame stopped before its end"), "{said}");
}

#[test]
fn a_line_that_loses_bytes_is_tried_again_and_given_up() {
    let desk = Desk::new();
    let stand = Stand::start(&desk.image);
    for lost in [2, 6, 700] {
        let once = move |count, byte| (count != lost).then_some(byte);
        let line = Line::to(&stand.port, Box::new(once), good());
        let (told, said) = desk.runs(&line.port);
        is_right(&told);
        assert_ne!(told["sent_again"], 0, "byte {lost}: {said}");
    }
    let often = |count: u64, byte| (!count.is_multiple_of(100)).then_some(byte);
    let line = Line::to(&stand.port, Box::new(often), good());
    let said = desk.refuses(&line.port, &[]);
    assert!(said.contains("The line loses bytes") && said.contains("ModemManager"), "{said}");
}

#[test]
fn an_answer_that_loses_bytes_is_asked_for_again() {
    let desk = Desk::new();
    let stand = Stand::start(&desk.image);
    let text = Mutex::new((Vec::new(), false));
    // The last digit of a layer's index is lost once.
    let once = move |_, byte| {
        let mut text = text.lock().unwrap();
        text.0.push(byte);
        let loses = !text.1 && text.0.ends_with(b"layer 3");
        text.1 |= loses;
        (!loses).then_some(byte)
    };
    let line = Line::to(&stand.port, good(), Box::new(once));
    let (told, said) = desk.runs(&line.port);
    is_right(&told);
    assert_eq!(told["sent_again"], 1, "{said}");
    assert!(said.contains("did not arrive whole"), "{said}");
}

#[test]
fn a_board_that_is_reset_in_the_middle_gets_its_input_again() {
    let desk = Desk::new();
    let mut stand = Stand::start(&desk.image);
    let slowly = |count, byte| {
        if count < 400 {
            thread::sleep(Duration::from_millis(5));
        }
        Some(byte)
    };
    let line = Line::to(&stand.port, Box::new(slowly), good());
    let port = line.port.clone();
    let (told, said) = thread::scope(|scope| {
        let run = scope.spawn(|| desk.runs(&port));
        thread::sleep(Duration::from_millis(1200));
        stand.reset();
        run.join().unwrap()
    });
    is_right(&told);
    assert_eq!(told["resets"], 1, "{said}");
    assert!(said.contains("was reset in the middle"), "{said}");
}

#[test]
fn another_image_and_another_board_are_refused() {
    let desk = Desk::new();
    let stand = Stand::start(&desk.image);
    let folder = tempfile::tempdir_in(desk.folder.path()).unwrap();
    let other = image("models/fashion-mobilenet.onnx", BOARD, folder.path());
    let said = complaint(&board_run(&other, &stand.port, &[]));
    assert!(said.contains("The board holds another image"), "{said}");
    assert!(said.contains(&plan_id(&other)) && said.contains(&plan_id(&desk.image)), "{said}");

    let other = image(LENET, "stm32f469i-disco", folder.path());
    let said = complaint(&board_run(&other, &stand.port, &[]));
    assert!(said.contains("The image is for stm32f469i-disco, but this board is a"), "{said}");
    let words = ["board", "flash", other.to_str().unwrap(), "--board", BOARD];
    let said = complaint(&program::run(&words));
    assert!(said.contains("The image is for stm32f469i-disco, not for"), "{said}");
}

#[test]
fn silence_noise_and_other_programs_are_told_apart() {
    let desk = Desk::new();
    let waits = |pseudo: &Pseudo| while pseudo.read(Duration::from_millis(20)) != Heard::Left {};
    let (port, _) = stranger(move |pseudo| waits(pseudo));
    let said = desk.refuses(&port, &["--greeting-within", "4"]);
    assert!(said.contains("press the board's reset button"), "{said}");
    assert!(said.contains("The board said nothing for 4 s."), "{said}");

    let (port, _) = stranger(move |pseudo| {
        let noise: Vec<u8> = (0..600u32).map(|n| ((n * n * 37) >> 3) as u8 | 0x80).collect();
        pseudo.write(&noise, &AtomicBool::new(false));
        waits(pseudo);
    });
    let said = desk.refuses(&port, &[]);
    assert!(said.contains("is no text: 600 bytes of noise at 115200 baud"), "{said}");

    let (port, _) = stranger(move |pseudo| {
        pseudo.write(b"Hello from the demo\r\n", &AtomicBool::new(false));
        waits(pseudo);
    });
    let said = desk.refuses(&port, &["--greeting-within", "1"]);
    assert!(said.contains("Another program talks on the board: 'Hello from the demo'"), "{said}");
}

#[test]
fn a_cable_that_is_pulled_says_how_far_the_input_came() {
    let desk = Desk::new();
    let greeting = format!(
        "tilewright 0.1.0 abi {} board {BOARD}\r\nplan {} layers 8 arena 64\r\nready 1024\r\n",
        tilewright_plan::image::FIRMWARE_ABI,
        plan_id(&desk.image),
    );
    let (port, stranger) = stranger(move |pseudo| {
        pseudo.write(greeting.as_bytes(), &AtomicBool::new(false));
        while !matches!(pseudo.read(Duration::from_millis(20)), Heard::Bytes(_) | Heard::Left) {}
    });
    let said = desk.refuses(&port, &[]);
    stranger.join().unwrap();
    assert!(said.contains("The port went away"), "{said}");
    assert!(said.contains("the input"), "{said}");
}

#[test]
fn a_port_that_is_taken_or_gone_is_told() {
    let desk = Desk::new();
    let (port, _) =
        stranger(|pseudo| while pseudo.read(Duration::from_millis(20)) != Heard::Left {});
    let first = thread::scope(|scope| {
        let first = scope.spawn(|| desk.refuses(&port, &["--greeting-within", "3"]));
        thread::sleep(Duration::from_millis(1000));
        let said = desk.refuses(&port, &[]);
        assert!(said.contains("Another program has the port."), "{said}");
        first.join().unwrap()
    });
    assert!(first.contains("The board said nothing"), "{first}");
    let said = desk.refuses(Path::new("/dev/ttyACM99"), &[]);
    assert!(said.contains("There is no such port."), "{said}");
    let said = desk.refuses(&desk.image, &[]);
    assert!(said.contains("This is no serial port."), "{said}");
}

#[test]
fn a_port_of_a_program_is_never_called_a_board() {
    let desk = Desk::new();
    let stand = Stand::start(&desk.image);
    // Who loses the lines that name the stand-in still has a port that a program serves.
    let line = Line::to(&stand.port, good(), silent_about_itself());
    let (told, _) = desk.runs(&line.port);
    assert_eq!(told["stand_in"], Value::Null);
    assert_eq!(told["measured_on"], "unknown");
    assert_eq!(told["kinds"]["cycles"], "modelled");
}

#[test]
fn what_is_no_image_is_refused_in_words() {
    let desk = Desk::new();
    for (ending, told) in
        [("hex", "This is Intel HEX"), ("plan", "This is a plan image without firmware")]
    {
        let file = desk.image.with_extension(ending);
        let said = complaint(&board_run(&file, Path::new("/dev/ttyACM0"), &[]));
        assert!(said.contains(told) && said.contains("what to do"), "{said}");
    }
    let said = complaint(&board_run(Path::new("README.md"), Path::new("/dev/ttyACM0"), &[]));
    assert!(said.contains("This is no image"), "{said}");
    let words = ["board", "emulate", desk.image.to_str().unwrap(), "--board", "nucleo-f767zi"];
    let said = complaint(&program::run(&words));
    assert!(said.contains("The image is for stm32f746g-disco, not for nucleo-f767zi"), "{said}");
}

/// A folder with a program of this name that notes how it is called, and ends with a code.
fn tool(folder: &Path, name: &str, code: i32) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let bin = folder.join(format!("{name}-{code}"));
    std::fs::create_dir(&bin).unwrap();
    let (path, log) = (bin.join(name), bin.join("called"));
    let script = format!("#!/bin/sh\necho {name} \"$@\" >> {}\nexit {code}\n", log.display());
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    bin
}

#[test]
fn images_are_written_with_what_is_at_hand() {
    let desk = Desk::new();
    let flash = |path: &Path, more: &[&str]| {
        let arguments = ["board", "flash", desk.image.to_str().unwrap()];
        let path = format!("{}:/usr/bin:/bin", path.display());
        program::program().args(arguments).args(more).env("PATH", path).output().unwrap()
    };
    let image = desk.image.display();
    let probe_rs = tool(desk.folder.path(), "probe-rs", 0);
    let output = flash(&probe_rs, &["--probe", "0483:374b:0670"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let at = "--chip STM32F746NGHx --probe 0483:374b:0670";
    let expected = format!("probe-rs download {at} {image}\nprobe-rs reset {at}\n");
    assert_eq!(std::fs::read_to_string(probe_rs.join("called")).unwrap(), expected);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let told: String = expected.lines().map(|line| format!("$ {line}\n")).collect();
    assert_eq!(said, told, "the exact commands are said");

    let cube = tool(desk.folder.path(), "STM32_Programmer_CLI", 1);
    let said = complaint(&flash(&cube, &[]));
    assert!(said.contains("It failed: exit status: 1."), "{said}");
    let command = format!("STM32_Programmer_CLI -c port=SWD -w {image} -v");
    assert!(said.contains(&format!("where: {command}")), "{said}");
    assert_eq!(std::fs::read_to_string(cube.join("called")).unwrap(), format!("{command}\n"));
    let said = complaint(&flash(&cube, &["--with", "probe-rs"]));
    assert!(said.contains("probe-rs is not in PATH"), "{said}");
    let said = complaint(&flash(Path::new("/nowhere"), &[]));
    assert!(said.contains("There is neither probe-rs nor STM32_Programmer_CLI in PATH"), "{said}");
}
