//! Runs from upload to result: order, limits, ends of every kind.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::sync::atomic::Ordering;
use std::time::Duration;
use tilewright_server::Config;

use axum::http::{Request, StatusCode, header};
use common::{Server, act, bytes, fixture, input, json, post_body, refused};

#[tokio::test]
async fn a_run_gives_counts_outputs_and_the_image_that_ran() {
    let server = Server::new(Config::default());
    let image = fixture::image();
    let parts: [(&str, &[u8]); 3] =
        [("image", &image), ("input", &input(act::FINISH)), ("watch", b"layers")];
    let response = server.start(&parts).await;
    assert_eq!(response.status(), StatusCode::ACCEPTED);
    let location = response.headers()[header::LOCATION].to_str().unwrap().to_owned();
    let accepted = json(response).await;
    assert_eq!(accepted["links"]["run"], location.as_str());
    assert!(accepted["kept"].as_str().unwrap().contains("until the server ends"), "{accepted}");
    let id = accepted["id"].as_str().unwrap();
    let status = server.over(id).await;
    assert_eq!(status["state"], "finished", "{status}");
    let result = &status["result"];
    assert_eq!(result["instructions"], 100);
    assert_eq!(result["verified"], serde_json::Value::Null);
    assert_eq!(result["layers"][0]["name"], "pool");
    assert_eq!(result["layers"][1]["op"], "softmax");
    assert_eq!(result["layers"][1]["instructions"], 50);
    assert_eq!(result["outputs"][0]["values"].as_array().unwrap().len(), fixture::OUTPUT_BYTES);
    assert_eq!(result["outputs"][0]["labels"][1], "dog");
    assert_eq!(result["top1_label"], "cat");
    assert_eq!(result["timeline"]["slices"].as_array().unwrap().len(), 2);

    let layers = bytes(server.get(&format!("{location}/layers")).await).await;
    assert_eq!(layers[..4], 0u32.to_le_bytes());
    assert_eq!(layers[12..16], 8u32.to_le_bytes());
    assert_eq!(layers.len(), 2 * (16 + fixture::OUTPUT_BYTES));

    let elf = bytes(server.get(&format!("{location}/firmware.elf")).await).await;
    assert_eq!(&elf[..4], b"\x7fELF");
    let bin = bytes(server.get(&format!("{location}/firmware.bin")).await).await;
    assert!(bin.ends_with(&image), "the image that ran is in the download");
    let hex = bytes(server.get(&format!("{location}/firmware.hex")).await).await;
    assert!(hex.starts_with(b":") && hex.ends_with(b":00000001FF\n"));
}

/// The names and numbers of a stream of events.
fn events(body: &[u8]) -> Vec<(u64, String)> {
    let text = std::str::from_utf8(body).unwrap();
    let field = |block: &str, name: &str| {
        block.lines().find_map(|line| line.strip_prefix(name)).map(|v| v.trim().to_owned())
    };
    text.split("\n\n")
        .filter_map(|block| Some((field(block, "id:")?.parse().unwrap(), field(block, "event:")?)))
        .collect()
}

#[tokio::test]
async fn events_come_in_order_and_a_client_can_go_on_where_it_was() {
    let server = Server::new(Config::default());
    let id = server.taken(act::SLOW).await;
    let path = format!("/api/runs/{id}/events");
    let response = server.get(&path).await;
    assert_eq!(response.headers()[header::CONTENT_TYPE], "text/event-stream");
    let all = events(&bytes(response).await);
    assert!(all.is_sorted_by_key(|(id, _)| *id), "{all:?}");
    let names: Vec<&str> = all.iter().map(|(_, name)| name.as_str()).collect();
    let place = |name: &str| names.iter().position(|n| *n == name).unwrap();
    assert!(place("stage") < place("console") && place("console") < place("step"), "{names:?}");
    assert_eq!(names.last(), Some(&"finished"));
    assert_eq!(names.iter().filter(|name| **name == "step").count(), 2);

    let third = all[2].0;
    let mut request = common::get(&path);
    request.headers_mut().insert("last-event-id", third.to_string().parse().unwrap());
    assert_eq!(events(&bytes(server.ask(request).await).await), all[3..]);
    let rest = bytes(server.get(&format!("{path}?after={third}")).await).await;
    assert_eq!(events(&rest), all[3..]);
    let last = all.last().unwrap().0;
    let nothing = server.get(&format!("{path}?after={last}")).await;
    assert_eq!(nothing.status(), StatusCode::NO_CONTENT);
}

#[tokio::test]
async fn two_hundred_uploads_at_once_are_all_answered_and_none_is_lost() {
    let server = Server::new(Config { queue: 64, ..Config::default() });
    let image = fixture::image();
    // What is alike would be run once.
    let slow: Vec<Vec<u8>> = (0..200u8)
        .map(|index| {
            let mut slow = input(act::SLOW);
            slow[1] = index;
            slow
        })
        .collect();
    let parts: Vec<[(&str, &[u8]); 2]> =
        slow.iter().map(|slow| [("image", &image[..]), ("input", slow)]).collect();
    let uploads = parts.iter().map(|parts| server.start(parts));
    let answers = futures_util::future::join_all(uploads).await;
    let mut ids = Vec::new();
    let mut busy = 0;
    for answer in answers {
        if answer.status() == StatusCode::ACCEPTED {
            ids.push(json(answer).await["id"].as_str().unwrap().to_owned());
        } else {
            assert_eq!(answer.status(), StatusCode::TOO_MANY_REQUESTS);
            assert!(answer.headers().contains_key(header::RETRY_AFTER));
            refused(answer).await;
            busy += 1;
        }
    }
    assert_eq!(ids.len() + busy, 200);
    // Three quarters of the places may be one peer's.
    assert!(ids.len() >= 50, "{} were taken", ids.len());
    for id in &ids {
        assert_eq!(server.over(id).await["state"], "finished");
    }
    assert_eq!(server.puppet.started.load(Ordering::SeqCst), ids.len());
    assert!(server.puppet.most.load(Ordering::SeqCst) <= 2);
    assert_eq!(server.puppet.now.load(Ordering::SeqCst), 0);
    server.taken(act::FINISH).await;
}

#[tokio::test]
async fn a_cancelled_run_ends_whether_it_waits_or_runs() {
    let server = Server::new(Config { workers: 1, ..Config::default() });
    let running = server.taken(act::HANG).await;
    let waiting = server.taken(act::HANG).await;
    let last = server.taken(act::FINISH).await;
    for _ in 0..1000 {
        if server.puppet.started.load(Ordering::SeqCst) == 1 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    assert_eq!(server.status(&running).await["state"], "running");
    assert_eq!(server.status(&waiting).await["position"], 1);
    assert_eq!(server.status(&last).await["position"], 2);
    for id in [&waiting, &running] {
        let request = Request::delete(format!("/api/runs/{id}"))
            .header(header::HOST, "127.0.0.1:8080")
            .body(axum::body::Body::empty())
            .unwrap();
        assert_eq!(server.ask(request).await.status(), StatusCode::ACCEPTED);
        assert_eq!(server.over(id).await["state"], "cancelled");
    }
    assert_eq!(server.over(&last).await["state"], "finished");
    assert_eq!(server.puppet.killed.load(Ordering::SeqCst), 1);
    let stream = bytes(server.get(&format!("/api/runs/{running}/events")).await).await;
    assert_eq!(events(&stream).last().unwrap().1, "cancelled");
}

#[tokio::test]
async fn a_run_that_everyone_left_is_cancelled_but_not_one_that_is_followed() {
    let vanish = Duration::from_millis(300);
    let server = Server::new(Config { vanish, ..Config::default() });
    let left = server.taken(act::HANG).await;
    let followed = server.taken(act::HANG).await;
    let stream = server.get(&format!("/api/runs/{followed}/events")).await;
    for _ in 0..1000 {
        if server.puppet.killed.load(Ordering::SeqCst) > 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(server.over(&left).await["state"], "cancelled");
    assert_eq!(server.status(&followed).await["state"], "running");
    drop(stream);
    for _ in 0..1000 {
        if server.puppet.killed.load(Ordering::SeqCst) > 1 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(server.over(&followed).await["state"], "cancelled");
}

#[tokio::test]
async fn crashes_panics_and_faults_are_told_apart_and_the_server_goes_on() {
    let server = Server::new(Config::default());
    let crashed = server.over(&server.taken(act::CRASH).await).await;
    assert_eq!(crashed["state"], "failed");
    assert_eq!(crashed["problem"]["kind"], "ours");
    assert_eq!(crashed["result"], serde_json::Value::Null);
    let panicked = server.over(&server.taken(act::PANIC).await).await;
    assert_eq!(panicked["state"], "failed");
    assert_eq!(panicked["problem"]["kind"], "ours");
    let faulted = server.over(&server.taken(act::FAULT).await).await;
    assert_eq!(faulted["state"], "failed");
    assert_eq!(faulted["problem"]["kind"], "fault");
    assert_eq!(faulted["problem"]["where"], "layer 1 'softmax', step 1");
    assert_eq!(faulted["result"]["fault"]["registers"][0][0], "pc");
    let id = server.taken(act::FINISH).await;
    assert_eq!(server.over(&id).await["state"], "finished");
}

#[tokio::test]
async fn what_is_not_there_yet_says_so() {
    let server = Server::new(Config::default());
    let (status, _) = refused(server.get("/api/runs/none").await).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let id = server.taken(act::HANG).await;
    for what in ["layers", "firmware.elf", "firmware.bin", "firmware.hex"] {
        let (status, _) = refused(server.get(&format!("/api/runs/{id}/{what}")).await).await;
        assert_eq!(status, StatusCode::CONFLICT, "{what}");
    }
    let done = server.taken(act::FINISH).await;
    server.over(&done).await;
    let (status, _) = refused(server.get(&format!("/api/runs/{done}/layers")).await).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    server.shared.runs().close(Duration::from_secs(5)).await;
    assert_eq!(server.over(&id).await["state"], "cancelled");
    assert_eq!(server.puppet.now.load(Ordering::SeqCst), 0);
    let (status, _) = refused(server.start(&[]).await).await;
    assert_eq!(status, StatusCode::TOO_MANY_REQUESTS);
}

#[tokio::test]
async fn results_are_dropped_oldest_first() {
    let server = Server::new(Config { keep_count: 3, ..Config::default() });
    let mut ids = Vec::new();
    for _ in 0..5 {
        let id = server.taken(act::FINISH).await;
        server.over(&id).await;
        ids.push(id);
    }
    let mut kept = Vec::new();
    for id in &ids {
        kept.push(server.get(&format!("/api/runs/{id}")).await.status() == StatusCode::OK);
    }
    assert_eq!(kept, [false, false, true, true, true]);
}

#[tokio::test]
async fn an_upload_that_never_ends_is_given_up_and_frees_its_place() {
    let upload = Duration::from_millis(100);
    let server = Server::new(Config { upload, workers: 1, queue: 0, ..Config::default() });
    let start = common::multipart(&[("image", &fixture::image())]);
    let half = start[..start.len() / 2].to_vec();
    let chunks = futures_util::stream::iter([Ok::<_, std::io::Error>(half)]);
    let endless = futures_util::StreamExt::chain(chunks, futures_util::stream::pending());
    let mut request = post_body(vec![]);
    *request.body_mut() = axum::body::Body::from_stream(endless);
    let (status, _) = refused(server.ask(request).await).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    server.taken(act::FINISH).await;
}
