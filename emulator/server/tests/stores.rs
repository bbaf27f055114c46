//! Runs of plan images whose weights lie in store images beside them.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::sync::atomic::Ordering;
use tilewright_app::{Bounds, PlanFile, Silent, checked_plan, plan_file, zoo};
use tilewright_server::Config;

use axum::http::StatusCode;
use common::{BOARD, Server, json, refused};
use tilewright_planner::{Integrity, Options, Strategy};

/// LeNet-5 as planned with `strategy`, and an input.
fn lenet5(strategy: Strategy) -> (PlanFile, Vec<u8>) {
    let board = tilewright_board::find(BOARD).unwrap();
    let network = zoo::network("lenet5").unwrap();
    let host = Silent::default();
    let prepared = zoo::analytic(&network, &Bounds::default(), &host).unwrap();
    let (model, options) = (&prepared.model, Options::default());
    let planned = checked_plan(model, &board, strategy, &options, &host).unwrap();
    let elements = model.tensor(model.inputs[0]).shape.elements().unwrap();
    (plan_file(&planned, model, &board, Integrity::Trusted, &host).unwrap(), vec![0; elements])
}

async fn bad(server: &Server, parts: &[(&str, &[u8])], place: &str, says: &str) {
    let (status, body) = refused(server.start(parts).await).await;
    assert_eq!(status, StatusCode::BAD_REQUEST, "{body}");
    assert!(body["what"].as_str().unwrap().contains(says), "{says:?} in {body}");
    assert_eq!(body["where"], place);
}

#[tokio::test]
async fn stores_come_with_their_plan_image_and_reach_the_worker() {
    let server = Server::new(Config::default());
    for (strategy, part) in [(Strategy::External, 0), (Strategy::Swap, 1)] {
        let (file, input) = lenet5(strategy);
        let stores = [file.external_flash(), file.card()];
        let mut parts = vec![("image", file.bytes()), ("input", &input)];
        for (name, store) in ["external_flash", "card"].into_iter().zip(stores) {
            if !store.is_empty() {
                parts.push((name, store));
            }
        }
        assert!(!stores[part].is_empty(), "{strategy:?}");
        let response = server.start(&parts).await;
        assert_eq!(response.status(), StatusCode::ACCEPTED);
        let id = json(response).await["id"].as_str().unwrap().to_owned();
        let status = server.over(&id).await;
        assert_eq!(status["state"], "finished", "{status}");
        for (store, came) in stores.iter().zip(&server.puppet.stores) {
            assert_eq!(came.load(Ordering::SeqCst), store.len());
        }
    }
}

#[tokio::test]
async fn stores_that_lack_or_belong_elsewhere_are_refused_before_anything_runs() {
    let server = Server::new(Config::default());
    let (file, input) = lenet5(Strategy::External);
    let (image, store) = (file.bytes(), file.external_flash());
    let (given, flash) = ([("image", image), ("input", &input[..])], "external_flash");
    let with = |more: &[(&'static str, Vec<u8>)]| -> Vec<(&'static str, Vec<u8>)> {
        let own = given.iter().map(|(name, bytes)| (*name, bytes.to_vec()));
        own.chain(more.iter().cloned()).collect()
    };
    let other = lenet5(Strategy::Swap).0;
    let cases = [
        (vec![], flash, "did not come"),
        (vec![(flash, b"weights".to_vec())], flash, "TWST"),
        (vec![(flash, store[..store.len() - 1].to_vec())], flash, "cut short"),
        (vec![(flash, other.card().to_vec())], flash, "another memory"),
        (vec![(flash, store.to_vec()), ("card", other.card().to_vec())], "card", "no such memory"),
    ];
    for (more, place, says) in cases {
        let parts = with(&more);
        let parts: Vec<_> = parts.iter().map(|(name, bytes)| (*name, &bytes[..])).collect();
        bad(&server, &parts, place, says).await;
    }
    bad(&server, &[("zoo", b"lenet5"), (flash, store)], "upload", "belong to an `image`").await;
    assert_eq!(server.puppet.started.load(Ordering::SeqCst), 0);
    assert_eq!(server.shared.runs().active(), 0);
}

#[tokio::test]
async fn a_damaged_store_is_a_failed_run_and_nothing_runs() {
    let server = Server::new(Config::default());
    let (file, input) = lenet5(Strategy::External);
    let mut store = file.external_flash().to_vec();
    *store.last_mut().unwrap() ^= 1;
    let parts = [("image", file.bytes()), ("input", &input), ("external_flash", &store)];
    let id = json(server.start(&parts).await).await["id"].as_str().unwrap().to_owned();
    let status = server.over(&id).await;
    assert_eq!(status["problem"]["kind"], "bad_input", "{status}");
    assert!(status["problem"]["what"].as_str().unwrap().contains("checksum"), "{status}");
    assert_eq!(server.puppet.started.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn stores_have_a_limit_of_their_own() {
    let server = Server::new(Config { store_bytes: 4096, ..Config::default() });
    let (status, body) = refused(server.start(&[("card", &[0; 4097])]).await).await;
    assert_eq!((status, &body["where"]), (StatusCode::PAYLOAD_TOO_LARGE, &"card".into()));
}
