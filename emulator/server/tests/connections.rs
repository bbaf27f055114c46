//! Clients that connect and say nothing, or little, or do not listen.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use tilewright_server::{Config, Served, serve};

use common::Server;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// A server that listens.
struct Listening {
    address: String,
    end: oneshot::Sender<()>,
    serving: JoinHandle<()>,
    _server: Server,
}

impl Listening {
    async fn start(config: Config) -> Self {
        let server = Server::new(config);
        let served = Served::bind("127.0.0.1:0").await.unwrap();
        let address = served.address().to_string();
        let (end, ended) = oneshot::channel::<()>();
        let serving = tokio::spawn(serve(served, server.shared.clone(), async {
            let _ = ended.await;
        }));
        Self { address, end, serving, _server: server }
    }

    /// Does what blocks while the server serves; then ends the server.
    async fn while_it_serves<T: Send + 'static>(
        self,
        block: impl FnOnce(&str) -> T + Send + 'static,
    ) -> T {
        let address = self.address.clone();
        let done = tokio::task::spawn_blocking(move || block(&address)).await.unwrap();
        drop(self.end);
        self.serving.await.unwrap();
        assert!(TcpStream::connect(&self.address).is_err(), "the server still listens");
        done
    }
}

fn begin(address: &str, text: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    stream
}

fn health(address: &str) -> String {
    format!("GET /api/health HTTP/1.1\r\nHost: {address}\r\n\r\n")
}

/// What a server says to a client until it closes the connection.
fn rest(stream: &mut TcpStream) -> Vec<u8> {
    let mut said = Vec::new();
    match stream.read_to_end(&mut said) {
        Ok(_) => {}
        Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
    }
    said
}

/// What a request is answered with, up to the connection's end.
fn ask(address: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let request =
        format!("GET /api/health HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn silent_clients_take_no_place_for_long() {
    let config =
        Config { connections: 4, headers: Duration::from_millis(300), ..Config::default() };
    Listening::start(config)
        .await
        .while_it_serves(|address| {
            // Nothing, half a line, half a head, and a second request that never comes.
            let texts =
                ["", "GET /api", "GET /api/health HTTP/1.1\r\nHost: x\r\n", &health(address)];
            let mut silent = texts.map(|text| begin(address, text));
            let answer = ask(address);
            assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
            // All have ended; what the server said to them does not matter.
            silent.iter_mut().for_each(|stream| drop(rest(stream)));
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn where_there_is_no_place_the_idlest_of_the_same_client_goes() {
    // Whoever waits for a head waits longer than this test.
    let hour = Duration::from_secs(3600);
    for config in [
        Config { connections: 4, headers: hour, ..Config::default() },
        Config { connections_of_peer: 4, headers: hour, ..Config::default() },
    ] {
        Listening::start(config)
            .await
            .while_it_serves(|address| {
                let mut idle: Vec<TcpStream> = (0..4).map(|_| begin(address, "GET /")).collect();
                for _ in 0..8 {
                    let answer = ask(address);
                    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
                }
                // The first went first; one that does more stays.
                assert!(rest(&mut idle[0]).is_empty());
            })
            .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_reads_nothing_is_left() {
    let config = Config { unread: Duration::from_millis(200), ..Config::default() };
    Listening::start(config)
        .await
        .while_it_serves(|address| {
            let mut deaf = begin(address, "");
            // Until the server, whose answers nobody takes, does not read on and then goes.
            let request = health(address).repeat(1000);
            let mut sent = 0;
            let ended = loop {
                match deaf.write(request.as_bytes()) {
                    Ok(count) => sent += count,
                    Err(error) => break error.kind(),
                }
                assert!(sent < 1 << 30, "it is answered for ever");
            };
            assert!(matches!(ended, ErrorKind::ConnectionReset | ErrorKind::BrokenPipe), "{ended}");
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn uploads_that_trickle_take_no_place_and_are_given_up() {
    let (start, rate) = (Duration::from_millis(500), 1 << 20);
    let config = Config {
        workers: 1,
        queue: 0,
        upload_start: start,
        upload_rate: rate,
        ..Config::default()
    };
    Listening::start(config)
        .await
        .while_it_serves(|address| {
            let head = format!(
                "POST /api/runs?board={} HTTP/1.1\r\nHost: {address}\r\nContent-Length: 1000000\r\n\
                 Content-Type: multipart/form-data; boundary=seam\r\n\r\n--seam\r\n",
                common::BOARD
            );
            let mut trickling: Vec<TcpStream> = (0..8).map(|_| begin(address, &head)).collect();
            let whole = common::multipart(&[("zoo", b"lenet6")]);
            let length = whole.len();
            let head = head.replace("1000000", &length.to_string());
            let head =
                head.trim_end_matches("--seam\r\n").replace("Host", "Connection: close\r\nHost");
            let mut other = begin(address, &head);
            other.write_all(&whole).unwrap();
            let said = String::from_utf8(rest(&mut other)).unwrap();
            // It is looked at, not refused for want of a place.
            assert!(said.contains("the nearest are lenet5"), "{said}");
            for stream in &mut trickling {
                let mut said = [0; 4096];
                let count = stream.read(&mut said).unwrap();
                let said = String::from_utf8_lossy(&said[..count]);
                assert!(said.starts_with("HTTP/1.1 400") && said.contains("slower"), "{said}");
            }
        })
        .await;
}
