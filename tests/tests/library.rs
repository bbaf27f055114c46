//! The C library in a project of its own: written by the command line, compiled by CMake with a compiler for Arm, run on
//! the emulated board. What it says is bit-equal to the int8 reference.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::Path;
use std::process::Command;

use tilewright_board::{Board, CoreKind};
use tilewright_check::reference;
use tilewright_model::{Data, Model};
use tilewright_plan::Bytes;
use tilewright_protocol::{Job, Limits};
use tilewright_tests::{emulated, program};

/// The boards that the example has, and a model and a strategy for each: weights in place, in tiles, copied by a lane.
const CASES: [(&str, &str, &str); 4] = [
    ("nrf52840-dk", "ds-cnn", "resident"),
    ("nucleo-f746zg", "ds-cnn", "auto"),
    ("nucleo-f746zg", "resnet8", "sparse-tiled"),
    ("pico-2", "lenet5", "ping-pong"),
];

/// Bytes of stack that the README.txt beside a library promises, with those of the example.
const MOST_STACK: Bytes = Bytes(12 << 10);

/// Runs a command to its end; panics with what it said if it failed.
fn done(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| {
        let program = command.get_program().to_string_lossy();
        panic!("{program}: {error}; run `cargo xtask setup`")
    });
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (said(&output.stdout), said(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{out}\n{err}", output.status);
    out
}

/// What the example fills inputs with (`main.c`).
fn inputs(model: &Model) -> Vec<Data> {
    let mut state = 2_463_534_242_u32;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        (state >> 24) as i8
    };
    let elements = |input| model.tensor(input).shape.elements().unwrap();
    let all = model.inputs.iter();
    all.map(|input| Data::I8((0..elements(*input)).map(|_| next()).collect())).collect()
}

fn example() -> std::path::PathBuf {
    emulated::project().join("firmware/library/example").canonicalize().unwrap()
}

/// The example with the library of a model in `folder`, as an ELF file.
fn compiled(folder: &Path, board: &str) -> Vec<u8> {
    let (example, build) = (example(), folder.join("build"));
    let configured = done(
        Command::new("cmake")
            .arg("-S")
            .arg(&example)
            .arg("-B")
            .arg(&build)
            .arg(format!("-DCMAKE_TOOLCHAIN_FILE={}", example.join("toolchain.cmake").display()))
            .arg(format!("-DBOARD={board}"))
            .arg(format!("-DMODEL={}", folder.join("model").display())),
    );
    assert!(configured.contains("Configuring done"), "{configured}");
    done(Command::new("cmake").arg("--build").arg(&build));
    fs::read(build.join("example.elf")).unwrap()
}

/// What the example says on the emulated board.
fn said(board: &Board, elf: Vec<u8>) -> String {
    let limits = Limits { instructions: 2_000_000_000, console_bytes: 1 << 20 };
    // The core sleeps for ever once all is said, which the worker tells as a fault.
    let outcome = emulated::run_job(Job::new(board.id.clone(), elf, limits)).unwrap();
    let console = String::from_utf8_lossy(&outcome.console).into_owned();
    assert!(console.contains("\ndone\r\n"), "{console}\n{:?}", outcome.finish.fault);
    let stack = outcome.finish.stack.unwrap();
    assert!(stack.used_bytes <= MOST_STACK, "{}: {:?}", board.id, stack);
    console
}

/// Bytes of the outputs that it says.
fn outputs(console: &str) -> Vec<Vec<i8>> {
    let hexadecimal = |text: &str| {
        let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).unwrap().cast_signed();
        (0..text.len()).step_by(2).map(byte).collect()
    };
    let lines = console.lines().filter_map(|line| line.strip_prefix("output "));
    lines.map(|line| hexadecimal(line.split_once(' ').unwrap().1)).collect()
}

#[test]
fn a_project_of_its_own_gives_the_bytes_of_the_reference_on_every_core() {
    let mut cores = Vec::new();
    for (id, network, strategy) in CASES {
        let what = format!("{network} on {id}, {strategy}");
        let board = tilewright_board::find(id).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let name = format!("zoo:{network}");
        let model = folder.path().join("model");
        done(
            program::program()
                .args(["image", &name, "--board", id, "--strategy", strategy, "--library", "-o"])
                .arg(&model),
        );
        let console = said(&board, compiled(folder.path(), id));
        let model = tilewright_zoo::network(network).unwrap().int8().unwrap();
        let expected = reference::expected_outputs(&model, &inputs(&model), &|| false).unwrap();
        assert_eq!(outputs(&console), expected, "{what}: {console}");
        println!("{what}:\n{console}");
        cores.push(board.core.kind);
    }
    for core in [CoreKind::CortexM4, CoreKind::CortexM7, CoreKind::CortexM33] {
        assert!(cores.contains(&core), "{}", core.id());
    }
}

/// The header alone, in the languages that it is for.
#[test]
fn the_header_is_plain_c_and_c_plus_plus() {
    let folder = tempfile::tempdir().unwrap();
    let include = emulated::project().join("firmware/library/include");
    for (language, standard) in [("c", "c99"), ("c", "c11"), ("c++", "c++11")] {
        let source = folder.path().join("header.txt");
        fs::write(&source, "#include \"tilewright.h\"\nstatic tilewright model;\n").unwrap();
        done(
            Command::new("arm-none-eabi-gcc")
                .args(["-x", language, &format!("-std={standard}"), "-ffreestanding"])
                .args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-unused-variable"])
                .arg("-fsyntax-only")
                .arg("-I")
                .arg(&include)
                .arg(&source),
        );
    }
}

#[test]
fn plans_that_the_library_cannot_run_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let rows = "--board nucleo-f767zi --strategy auto --objective memory --stream-input";
    let sealed = "--board stm32f746g-disco --strategy stream --encrypt";
    for (options, reason) in [(rows, "arrives in rows"), (sealed, "is encrypted")] {
        let output = program::program()
            .args(["image", "zoo:lenet5", "--library", "-o"])
            .arg(folder.path().join("out"))
            .args(options.split(' '))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(
            said.contains("The library cannot run this plan") && said.contains(reason),
            "{said}"
        );
        assert!(!folder.path().join("out").exists(), "nothing is written");
    }
}
