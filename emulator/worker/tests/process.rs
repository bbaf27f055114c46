//! The worker as a process: handshake, a job from an ELF file, limits, and its end.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{ENTRY, FLASH, job};
use tilewright_protocol::{Job, Request, Response, VERSION, read_frame, write_frame};
use tilewright_report::FaultKind;

/// An ELF file with one segment: a vector table and `code` at [`ENTRY`].
fn elf(code: &[u16]) -> Vec<u8> {
    let mut content = vec![0; 0x40];
    content[..4].copy_from_slice(&0x2000_4000u32.to_le_bytes());
    content[4..8].copy_from_slice(&(ENTRY | 1).to_le_bytes());
    content.extend(code.iter().flat_map(|halfword| halfword.to_le_bytes()));
    let length = content.len() as u32;
    let mut file = b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    // Executable for Arm; header, one program header behind it, no sections.
    for half in [2u16, 40] {
        file.extend(half.to_le_bytes());
    }
    for word in [1, ENTRY | 1, 52, 0, 0x0500_0400] {
        file.extend(u32::to_le_bytes(word));
    }
    for half in [52u16, 32, 1, 40, 0, 0] {
        file.extend(half.to_le_bytes());
    }
    for word in [1, 84, FLASH, FLASH, length, length, 5, 4] {
        file.extend(u32::to_le_bytes(word));
    }
    file.extend(content);
    file
}

fn start(arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_tilewright-worker"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn greet(worker: &mut Child, version: u32) -> Response {
    write_frame(worker.stdin.as_mut().unwrap(), &Request::Hello { version }).unwrap();
    read_frame(worker.stdout.as_mut().unwrap()).unwrap()
}

fn ended(worker: &mut Child) -> Option<i32> {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        if let Some(status) = worker.try_wait().unwrap() {
            return status.code();
        }
        if Instant::now() > until {
            worker.kill().unwrap();
            panic!("the worker does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn last_words(worker: &mut Child) -> String {
    let mut text = String::new();
    worker.stderr.as_mut().unwrap().read_to_string(&mut text).unwrap();
    text
}

#[test]
fn a_job_is_done_within_a_memory_limit() {
    let mut worker = start(&["--memory-limit", "1073741824"]);
    let Response::Hello { version, engine } = greet(&mut worker, VERSION) else {
        panic!("no hello")
    };
    assert_eq!(version, VERSION);
    assert!(engine.starts_with("unicorn 2."), "{engine}");
    // movs r0,#1; wfi
    let job = Job { elf: elf(&[0x2001, 0xbf30]), ..job() };
    write_frame(worker.stdin.as_mut().unwrap(), &Request::Run(job)).unwrap();
    let Response::Finished(finish) = read_frame(worker.stdout.as_mut().unwrap()).unwrap() else {
        panic!("no result")
    };
    assert_eq!(finish.boot.instructions(), 2);
    assert_eq!(finish.fault.unwrap().kind, FaultKind::Deadlock);
    assert_eq!(ended(&mut worker), Some(0));
}

#[test]
fn a_worker_whose_input_is_closed_ends() {
    let mut worker = start(&[]);
    greet(&mut worker, VERSION);
    let mut job = Job { elf: elf(&[0xe7fe]), ..job() };
    job.limits.instructions = u64::MAX;
    write_frame(worker.stdin.as_mut().unwrap(), &Request::Run(job)).unwrap();
    // It reports progress, so it runs.
    let progress = read_frame(worker.stdout.as_mut().unwrap()).unwrap();
    assert!(matches!(progress, Response::Progress { instructions: 1.., .. }));
    drop(worker.stdin.take());
    ended(&mut worker);
}

#[test]
fn a_job_with_a_host_waits_for_it_and_ends_with_it() {
    let mut worker = start(&[]);
    greet(&mut worker, VERSION);
    // wfi; b to it
    let job = Job { elf: elf(&[0xbf30, 0xe7fd]), ..job() };
    write_frame(worker.stdin.as_mut().unwrap(), &Request::RunWithHost(job)).unwrap();
    // Without a host this is a deadlock, which ends at once.
    write_frame(worker.stdin.as_mut().unwrap(), &Request::Console(b"TWIN".to_vec())).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(worker.try_wait().unwrap(), None);
    drop(worker.stdin.take());
    assert_eq!(ended(&mut worker), Some(0));
}

#[test]
fn a_refusal_has_an_exit_code_and_a_reason() {
    let mut worker = start(&[]);
    greet(&mut worker, VERSION);
    let job = Job { board: "pdp-11".into(), ..job() };
    write_frame(worker.stdin.as_mut().unwrap(), &Request::Run(job)).unwrap();
    assert_eq!(ended(&mut worker), Some(2));
    assert!(last_words(&mut worker).contains("pdp-11"));
}

#[test]
fn another_version_is_refused_after_the_hello() {
    let mut worker = start(&[]);
    assert!(matches!(greet(&mut worker, VERSION + 1), Response::Hello { version: VERSION, .. }));
    assert_eq!(ended(&mut worker), Some(2));
}

#[test]
fn garbage_is_refused() {
    use std::io::Write;
    let mut worker = start(&[]);
    worker.stdin.as_mut().unwrap().write_all(&[1, 0, 0, 0, 0xff]).unwrap();
    assert_eq!(ended(&mut worker), Some(2));
    let mut worker = start(&["--no-such-option"]);
    assert_eq!(ended(&mut worker), Some(2));
    assert!(last_words(&mut worker).contains("usage"));
}
