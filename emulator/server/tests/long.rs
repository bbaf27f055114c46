//! Quantising that takes long: it ends when asked, in time, and is refused beyond its bounds.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::time::{Duration, Instant};
use tilewright_app::Bounds;
use tilewright_server::Config;

use axum::http::{Request, StatusCode, header};
use common::{Server, json, onnx};
use serde_json::Value;

const LAYERS: usize = 40;
const SAMPLES: usize = 20;
/// What the file asks for: about 10¹¹, many seconds on any computer.
const MACS: u64 = onnx::MACS_EACH * (LAYERS * SAMPLES) as u64;

/// Starts quantising; the run's id.
async fn start(server: &Server) -> String {
    let (model, samples) = (onnx::convolutions(LAYERS), onnx::samples(SAMPLES));
    let response = server.start(&[("model", &model), ("samples", &samples)]).await;
    assert_eq!(response.status(), StatusCode::ACCEPTED);
    json(response).await["id"].as_str().unwrap().to_owned()
}

async fn quantising(server: &Server, id: &str) {
    while server.status(id).await["progress"]["stage"] != "quantising" {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // Into the middle of a sample.
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(server.status(id).await["state"], "running");
}

fn problem(status: &Value) -> String {
    status["problem"].to_string()
}

#[tokio::test]
async fn a_long_calibration_ends_soon_after_it_is_cancelled() {
    let server = Server::new(Config::default());
    let (first, second) = (start(&server).await, start(&server).await);
    for id in [&first, &second] {
        quantising(&server, id).await;
    }
    let asked = Instant::now();
    for id in [&first, &second] {
        let request = Request::delete(format!("/api/runs/{id}"));
        let request = request.header(header::HOST, "127.0.0.1:8080");
        server.ask(request.body(axum::body::Body::empty()).unwrap()).await;
        assert_eq!(server.over(id).await["state"], "cancelled");
    }
    assert!(asked.elapsed() < Duration::from_secs(2), "{:?}", asked.elapsed());
}

#[tokio::test]
async fn closing_ends_a_long_calibration() {
    let server = Server::new(Config::default());
    let id = start(&server).await;
    quantising(&server, &id).await;
    let asked = Instant::now();
    server.shared.runs().close(Duration::from_secs(10)).await;
    assert!(asked.elapsed() < Duration::from_secs(2), "{:?}", asked.elapsed());
    assert_eq!(server.shared.runs().active(), 0);
}

#[tokio::test]
async fn a_long_calibration_ends_when_its_time_is_over() {
    let wall = Some(Duration::from_millis(300));
    let quantising = Bounds { wall, ..Config::default().quantising };
    let server = Server::new(Config { quantising, ..Config::default() });
    let id = start(&server).await;
    let begun = Instant::now();
    let status = server.over(&id).await;
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    assert_eq!(status["state"], "failed");
    assert!(problem(&status).contains("longer than the 0.3 s"), "{status}");
}

#[tokio::test]
async fn work_beyond_the_bounds_is_refused_with_the_numbers() {
    let bounds = Config::default().quantising;
    for (quantising, says) in [
        (Bounds { macs: Some(MACS - 1), ..bounds }, [MACS.to_string(), "at most 19".to_owned()]),
        (Bounds { values: Some(1000), ..bounds }, ["values".to_owned(), "1000".to_owned()]),
    ] {
        let server = Server::new(Config { quantising, ..Config::default() });
        let status = server.over(&start(&server).await).await;
        assert_eq!(status["problem"]["kind"], "too_large", "{status}");
        for word in says {
            assert!(problem(&status).contains(&word), "{word} in {status}");
        }
    }
}
