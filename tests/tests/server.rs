//! The server with real workers: runs, cancelling, crowds, clients that vanish, workers that
//! crash.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]
#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tilewright_tests::emulated::project;
use tilewright_tests::program::program;
use tilewright_tests::server::{Part, Server};

const BOARD: &str = "stm32f746g-disco";
const LIMIT: Duration = Duration::from_secs(120);

fn file(path: &str) -> Vec<u8> {
    fs::read(project().join(path)).unwrap()
}

/// Parts of an upload of LeNet-5 with a digit.
struct Digit {
    model: Vec<u8>,
    samples: Vec<u8>,
    input: Vec<u8>,
}

impl Digit {
    fn new() -> Self {
        let mut pictures = fs::read_dir(project().join("models/samples")).unwrap();
        let seven = pictures
            .find_map(|entry| {
                let path = entry.unwrap().path();
                path.to_str().unwrap().ends_with("label7.png").then_some(path)
            })
            .unwrap();
        Self {
            model: file("models/lenet5.onnx"),
            samples: file("models/lenet5.calibration.npy"),
            input: fs::read(seven).unwrap(),
        }
    }

    fn parts(&self) -> [Part<'_>; 3] {
        [
            Part { name: "model", bytes: &self.model },
            Part { name: "samples", bytes: &self.samples },
            Part { name: "input", bytes: &self.input },
        ]
    }
}

#[test]
fn a_calibration_in_the_upload_gives_the_image_of_the_command_line() {
    let server = Server::start(&[]);
    let digit = Digit::new();
    let mut parts = digit.parts().to_vec();
    parts.push(Part { name: "calibration", bytes: b"mse" });
    let (status, accepted) = server.upload(BOARD, &parts);
    assert_eq!(status, 202, "{accepted}");
    let id = accepted["id"].as_str().unwrap();
    let events = server.events(id);
    assert!(events.iter().any(|line| line == "event: finished"), "{events:#?}");
    let (_, uploaded) = server.get(&format!("/api/runs/{id}/firmware.bin"));
    let made = |calibration: &str| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("image-{calibration}"));
        let output = program()
            .arg("image")
            .arg(project().join("models/lenet5.onnx"))
            .args(["--board", BOARD, "--calibration", calibration, "-o"])
            .arg(&folder)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        fs::read(folder.join("lenet5.bin")).unwrap()
    };
    assert!(uploaded == made("mse"), "the same choice, the same bytes");
    assert!(uploaded != made("minmax"), "another choice, other bytes");
}

/// Waits until the server does no run.
fn without_workers(server: &Server) {
    let until = Instant::now() + Duration::from_secs(10);
    while !server.walks().is_empty() {
        assert!(Instant::now() < until, "processes are left: {:?}", server.walks());
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn an_uploaded_model_runs_verified_and_its_image_can_be_fetched() {
    let server = Server::start(&[]);
    let digit = Digit::new();
    let (status, accepted) = server.upload(BOARD, &digit.parts());
    assert_eq!(status, 202, "{accepted}");
    let id = accepted["id"].as_str().unwrap();
    let events = server.events(id);
    assert!(events.iter().any(|line| line == "event: finished"), "{events:#?}");
    let run = server.json(&format!("/api/runs/{id}"));
    let result = &run["result"];
    assert_eq!(result["verified"], true, "{result}");
    assert_eq!(result["top1"], 7, "{result}");
    let (status, elf) = server.get(&format!("/api/runs/{id}/firmware.elf"));
    assert_eq!((status, &elf[..4]), (200, &b"\x7fELF"[..]));
    let openapi = server.json("/api/openapi.json");
    assert!(openapi["paths"]["/api/runs"]["post"].is_object());
    without_workers(&server);
}

#[test]
fn two_hundred_uploads_at_once_are_all_answered() {
    let server = Server::start(&[]);
    let digit = Digit::new();
    let answers: Vec<(u16, serde_json::Value)> = thread::scope(|scope| {
        let uploads: Vec<_> =
            (0..200).map(|_| scope.spawn(|| server.upload(BOARD, &digit.parts()))).collect();
        uploads.into_iter().map(|upload| upload.join().unwrap()).collect()
    });
    let taken: Vec<&str> = answers
        .iter()
        .filter(|(status, _)| *status == 202)
        .map(|(_, answer)| answer["id"].as_str().unwrap())
        .collect();
    assert!(!taken.is_empty());
    for (status, answer) in &answers {
        assert!(matches!(status, 202 | 429 | 503), "{status}: {answer}");
        if *status != 202 {
            assert!(answer["what_to_do"].is_string(), "{answer}");
        }
    }
    assert_eq!(server.get("/api/health").0, 200);
    let last = taken[taken.len() - 1];
    // A run that nobody looks at may be given up; those that are watched finish.
    assert_eq!(server.wait(last, LIMIT)["state"], "finished");
    for id in &taken {
        server.delete(&format!("/api/runs/{id}"));
    }
    without_workers(&server);
    // What the crowd needed goes back to the system, once the threads that served it have ended;
    // results that are kept stay.
    let until = Instant::now() + Duration::from_secs(40);
    while server.resident_kib() > 60 << 10 {
        assert!(Instant::now() < until, "{} KiB stay resident", server.resident_kib());
        assert_eq!(server.get("/api/health").0, 200);
        thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_cancelled_run_leaves_nothing_running() {
    let server = Server::start(&[]);
    let digit = Digit::new();
    let ids: Vec<String> = (0..6)
        .map(|_| server.upload(BOARD, &digit.parts()).1["id"].as_str().unwrap().to_owned())
        .collect();
    for id in &ids {
        assert_eq!(server.delete(&format!("/api/runs/{id}")), 202);
    }
    let states: Vec<_> =
        ids.iter().map(|id| server.wait(id, LIMIT)["state"].as_str().unwrap().to_owned()).collect();
    assert!(states.iter().any(|state| state == "cancelled"), "{states:?}");
    assert!(states.iter().all(|state| state == "cancelled" || state == "finished"), "{states:?}");
    without_workers(&server);
}

#[test]
fn a_client_that_vanishes_does_no_harm() {
    let server = Server::start(&[]);
    let address = server.address.trim_start_matches("http://").to_owned();
    for cut in [20, 200, 5000] {
        let head = format!(
            "POST /api/runs?board={BOARD} HTTP/1.1\r\nHost: {address}\r\nContent-Type: \
             multipart/form-data; boundary=b\r\nContent-Length: 1000000\r\n\r\n"
        );
        let mut stream = TcpStream::connect(&address).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(&vec![b'-'; cut]).unwrap();
        drop(stream);
    }
    let digit = Digit::new();
    let (_, accepted) = server.upload(BOARD, &digit.parts());
    let id = accepted["id"].as_str().unwrap();
    let mut stream = TcpStream::connect(&address).unwrap();
    let request = format!("GET /api/runs/{id}/events HTTP/1.1\r\nHost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    drop(stream);
    assert_eq!(server.wait(id, LIMIT)["state"], "finished");
    without_workers(&server);
}

#[test]
fn a_worker_that_crashes_is_a_failed_run_with_a_reason() {
    let server = Server::start(&[("TILEWRIGHT_WORKER", "/bin/false")]);
    let digit = Digit::new();
    let (status, accepted) = server.upload(BOARD, &digit.parts());
    assert_eq!(status, 202, "{accepted}");
    let run = server.wait(accepted["id"].as_str().unwrap(), LIMIT);
    assert_eq!(run["state"], "failed", "{run}");
    assert!(run["problem"]["what"].is_string() && run["problem"]["what_to_do"].is_string());
    assert_eq!(server.get("/api/health").0, 200);
}

fn kill(process: u32) {
    // It may have ended by itself meanwhile.
    let _ = Command::new("kill").args(["-9", &process.to_string()]).stderr(Stdio::null()).status();
}

/// Whether a process is there and not only waits to be reaped.
fn runs(process: u32) -> bool {
    fs::read_to_string(format!("/proc/{process}/stat"))
        .is_ok_and(|stat| stat.rsplit(')').next().is_some_and(|rest| !rest.starts_with(" Z")))
}

/// Numbers uploads.
static UPLOADS: AtomicU32 = AtomicU32::new(0);

/// Uploads until the server has a worker; its process id.
fn some_worker(server: &Server, digit: &Digit, ids: &mut Vec<String>) -> u32 {
    let until = Instant::now() + LIMIT;
    loop {
        assert!(Instant::now() < until, "no worker was seen");
        // What was run before is not run again: bytes behind the picture's end make another input of it.
        let number = UPLOADS.fetch_add(1, Ordering::Relaxed).to_le_bytes();
        let input = [&digit.input[..], &number].concat();
        let mut parts = digit.parts();
        parts[2].bytes = &input;
        let (status, accepted) = server.upload(BOARD, &parts);
        if status == 202 {
            ids.push(accepted["id"].as_str().unwrap().to_owned());
        }
        let soon = Instant::now() + Duration::from_millis(500);
        while Instant::now() < soon {
            if let Some(worker) = server.workers().first() {
                return *worker;
            }
        }
    }
}

#[test]
fn a_worker_that_is_killed_in_the_middle_is_a_failed_run_with_a_reason() {
    let server = Server::start(&[]);
    let digit = Digit::new();
    let until = Instant::now() + LIMIT;
    // A worker may be done before the signal arrives: then the next one is killed.
    let problem = loop {
        assert!(Instant::now() < until, "no worker could be killed in time");
        let mut ids = Vec::new();
        kill(some_worker(&server, &digit, &mut ids));
        let ended: Vec<_> = ids.iter().map(|id| server.wait(id, LIMIT)).collect();
        if let Some(failed) = ended.iter().find(|run| run["state"] == "failed") {
            break failed["problem"].clone();
        }
    };
    assert!(problem["what"].as_str().unwrap().contains("signal: 9"), "{problem}");
    assert!(problem["what_to_do"].is_string(), "{problem}");
    assert_eq!(server.get("/api/health").0, 200);
    without_workers(&server);
    let (_, accepted) = server.upload(BOARD, &digit.parts());
    assert_eq!(server.wait(accepted["id"].as_str().unwrap(), LIMIT)["state"], "finished");
}

#[test]
fn a_server_that_is_killed_leaves_no_worker() {
    let server = Server::start(&[]);
    let worker = some_worker(&server, &Digit::new(), &mut Vec::new());
    kill(server.process());
    let until = Instant::now() + Duration::from_secs(20);
    while runs(worker) {
        assert!(Instant::now() < until, "worker {worker} runs on");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_server_that_is_killed_and_started_again_does_what_it_had_begun() {
    let folder = tempfile::tempdir().unwrap();
    let queue = folder.path().join("queue.sqlite");
    let queue = queue.to_str().unwrap();
    let mut ids = Vec::new();
    {
        let server = Server::start_on(queue, &[]);
        some_worker(&server, &Digit::new(), &mut ids);
        kill(server.process());
    }
    let server = Server::start_on(queue, &[]);
    for id in &ids {
        assert_eq!(server.wait(id, LIMIT)["state"], "finished");
    }
    without_workers(&server);
}

#[test]
fn uploads_that_are_wrong_are_refused_with_a_reason() {
    let server = Server::start(&[]);
    let cases: [(&str, &[Part<'_>]); 5] = [
        ("no parts", &[]),
        ("noise for an image", &[Part { name: "image", bytes: &[7; 5000] }]),
        ("an empty image", &[Part { name: "image", bytes: b"" }]),
        ("noise for a model", &[Part { name: "model", bytes: &[9; 5000] }]),
        ("an unknown part", &[Part { name: "virus", bytes: b"x" }]),
    ];
    for (name, parts) in cases {
        let (status, answer) = server.upload(BOARD, parts);
        let answer = if status == 202 {
            server.wait(answer["id"].as_str().unwrap(), LIMIT)["problem"].clone()
        } else {
            assert!((400..500).contains(&status), "{name}: {status}");
            answer
        };
        assert!(answer["what"].is_string() && answer["what_to_do"].is_string(), "{name}: {answer}");
    }
    assert!((400..500).contains(&server.upload("pdp-11", &[]).0));
    let too_large = vec![0; 200 << 20];
    let (status, answer) = server.upload(BOARD, &[Part { name: "image", bytes: &too_large }]);
    assert_eq!(status, 413, "{answer}");
    assert_eq!(server.get("/api/health").0, 200);
}
