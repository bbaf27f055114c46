//! Clients that connect and say nothing, or little.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use common::Server;
use tilewright_server::{Config, Served, serve};
use tokio::sync::oneshot;

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
    let server = Server::new(config);
    let served = Served::bind("127.0.0.1:0").await.unwrap();
    let address = served.address().to_string();
    let (end, ended) = oneshot::channel::<()>();
    let serving = tokio::spawn(serve(served, server.shared.clone(), async {
        let _ = ended.await;
    }));
    let (mut silent, answer) = tokio::task::spawn_blocking({
        let address = address.clone();
        move || {
            let begin = |text: &str| {
                let mut stream = TcpStream::connect(&address).unwrap();
                stream.write_all(text.as_bytes()).unwrap();
                stream
            };
            let whole = format!("GET /api/health HTTP/1.1\r\nHost: {address}\r\n\r\n");
            // Nothing, half a line, half a head, and a second request that never comes.
            let silent: Vec<TcpStream> =
                ["", "GET /api", "GET /api/health HTTP/1.1\r\nHost: x\r\n", &whole]
                    .map(begin)
                    .into();
            (silent, ask(&address))
        }
    })
    .await
    .unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    for stream in &mut silent {
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        // All have ended; what the server said to them does not matter.
        let mut said = Vec::new();
        match stream.read_to_end(&mut said) {
            Ok(_) => {}
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset),
        }
    }
    drop(end);
    serving.await.unwrap();
    assert!(TcpStream::connect(&address).is_err(), "the server still listens");
}
