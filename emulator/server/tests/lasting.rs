//! Runs whose queue outlives the server, and results that are there already.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use common::{Server, act, bytes};
use tilewright_queue::Location;
use tilewright_server::Config;

async fn until_running(server: &Server, id: &str) {
    for _ in 0..1000 {
        if server.status(id).await["state"] == "running" {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("run {id} does not begin");
}

#[tokio::test]
async fn runs_go_on_and_results_are_there_when_the_server_is_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let location = Location::File(folder.path().join("queue.sqlite"));
    let config = Config { workers: 1, ..Config::default() };
    let (over, elf, under_way, waits, after) = {
        let server = Server::on(config.clone(), location.clone());
        let over = server.taken(act::FINISH).await;
        server.over(&over).await;
        let elf = bytes(server.get(&format!("/api/runs/{over}/firmware.elf")).await).await;
        let under_way = server.taken(act::HANG).await;
        let waits = server.taken(act::SLOW).await;
        until_running(&server, &under_way).await;
        let followed = server.get(&format!("/api/runs/{under_way}/events")).await;
        server.shared.runs().close(Duration::from_secs(5)).await;
        // The streams end, but tell no end of the run: whoever listens comes again.
        let stream = bytes(followed).await;
        assert!(!String::from_utf8(stream).unwrap().contains("cancelled"));
        assert_eq!(server.puppet.now.load(Ordering::SeqCst), 0);
        (over, elf, under_way, waits, 99)
    };
    let server = Server::on(config, location);
    let status = server.status(&over).await;
    assert_eq!(status["state"], "finished", "{status}");
    assert_eq!(status["result"]["instructions"], 100);
    assert_eq!(bytes(server.get(&format!("/api/runs/{over}/firmware.elf")).await).await, elf);
    until_running(&server, &under_way).await;
    let health = String::from_utf8(bytes(server.get("/api/health").await).await).unwrap();
    assert!(health.contains("also when the server is started again"), "{health}");
    assert_eq!(server.status(&waits).await["position"], 1);
    let request = Request::delete(format!("/api/runs/{under_way}"));
    let request = request.header(header::HOST, "127.0.0.1:8080").body(Body::empty()).unwrap();
    assert_eq!(server.ask(request).await.status(), StatusCode::ACCEPTED);
    assert_eq!(server.over(&under_way).await["state"], "cancelled");
    assert_eq!(server.over(&waits).await["state"], "finished");
    // A client that saw more events of the server before is told the end all the same.
    let rest = server.get(&format!("/api/runs/{waits}/events?after={after}")).await;
    assert!(String::from_utf8(bytes(rest).await).unwrap().contains("event: finished"));
}

#[tokio::test]
async fn a_result_that_is_there_is_not_computed_again() {
    let server = Server::new(Config::default());
    let first = server.taken(act::FINISH).await;
    let status = server.over(&first).await;
    let second = server.taken(act::FINISH).await;
    assert_ne!(first, second);
    let again = server.status(&second).await;
    assert_eq!((&again["state"], &again["result"]), (&status["state"], &status["result"]));
    assert_eq!(server.puppet.started.load(Ordering::SeqCst), 1);
    let said = bytes(server.get(&format!("/api/runs/{second}/events")).await).await;
    let said = String::from_utf8(said).unwrap();
    assert!(said.contains("event: note") && said.contains("not computed again"), "{said}");
    // What has no result is tried again.
    for _ in 0..2 {
        assert_eq!(server.over(&server.taken(act::CRASH).await).await["state"], "failed");
    }
    assert_eq!(server.puppet.started.load(Ordering::SeqCst), 3);
}
