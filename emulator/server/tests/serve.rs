//! The server as a process: it greets, answers, and ends on a signal without leaving anything.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(dist: &std::path::Path) -> Self {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin("tilewright-server"))
            .args(["--addr", "127.0.0.1:0"])
            .env("TILEWRIGHT_DIST", dist)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = loop {
            let line = lines.next().expect("the server greets").unwrap();
            if let Some((_, address)) = line.split_once("http://") {
                break address.to_owned();
            }
        };
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, address }
    }

    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
            self.address
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn end(&mut self, signal: &str) -> Option<i32> {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        let until = Instant::now() + Duration::from_secs(10);
        while Instant::now() < until {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("the server does not end");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_server_answers_and_ends_well_on_both_signals() {
    let dist = tempfile::tempdir().unwrap();
    for signal in ["-INT", "-TERM"] {
        let mut server = Server::start(dist.path());
        let health = server.get("/api/health");
        assert!(health.starts_with("HTTP/1.1 200"), "{health}");
        assert!(health.contains("\"can_run\":false"), "{health}");
        assert!(server.get("/").starts_with("HTTP/1.1 503"));
        // An open connection that asks nothing must not keep the server alive.
        let _idle = TcpStream::connect(&server.address).unwrap();
        assert_eq!(server.end(signal), Some(0), "{signal}");
    }
}

#[test]
fn a_taken_address_is_named() {
    let dist = tempfile::tempdir().unwrap();
    let server = Server::start(dist.path());
    let output = Command::new(assert_cmd::cargo::cargo_bin("tilewright-server"))
        .args(["--addr", &server.address])
        .env("TILEWRIGHT_DIST", dist.path())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains(&server.address) && text.contains("--addr"), "{text}");
}

#[test]
fn a_queue_that_cannot_be_used_is_named() {
    let dist = tempfile::tempdir().unwrap();
    let wrong = dist.path().join("wrong.sqlite");
    std::fs::write(&wrong, b"no database at all, but long enough to be taken for one").unwrap();
    for (queue, says) in [
        (wrong.to_str().unwrap(), "wrong.sqlite"),
        ("mysql://me:secret@host/runs", "sqlite: and postgres:"),
        ("postgres://me:secret@127.0.0.1:1/runs", "127.0.0.1:1/runs"),
    ] {
        for words in
            [&["--addr", "127.0.0.1:0", "--queue", queue][..], &["worker", "--queue", queue]]
        {
            let output = Command::new(assert_cmd::cargo::cargo_bin("tilewright-server"))
                .args(words)
                .env("TILEWRIGHT_DIST", dist.path())
                .output()
                .unwrap();
            let text = String::from_utf8(output.stderr).unwrap();
            assert_ne!(output.status.code(), Some(0), "{text}");
            assert!(text.contains(says) && !text.contains("secret"), "{text}");
        }
    }
}
