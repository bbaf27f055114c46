//! Uploads that must be refused, and what the server says of itself.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use tilewright_server::Config;

use axum::http::{Method, StatusCode, header};
use common::{NotBuilt, Server, act, bytes, fixture, get, input, json, post, post_body, refused};
use tower::ServiceExt;

async fn bad(server: &Server, parts: &[(&str, &[u8])], says: &str) {
    let (status, body) = refused(server.start(parts).await).await;
    assert_eq!(status, StatusCode::BAD_REQUEST, "{body}");
    assert!(body["what"].as_str().unwrap().contains(says), "{says:?} in {body}");
}

#[tokio::test]
async fn malformed_uploads_are_refused_with_the_reason_and_start_nothing() {
    let server = Server::new(Config::default());
    let image = fixture::image();
    let finish = input(act::FINISH);
    bad(&server, &[], "One of `image`, `model` and `zoo`").await;
    bad(&server, &[("image", &image), ("model", b"x"), ("input", &finish)], "One of").await;
    bad(&server, &[("zoo", b"lenet5"), ("model", b"x")], "One of").await;
    bad(&server, &[("zoo", b"lenet6")], "the nearest are lenet5").await;
    bad(&server, &[("zoo", b"mobilenet-v2-r7")], "32 to 1024").await;
    bad(&server, &[("image", &image), ("image", &image)], "twice").await;
    bad(&server, &[("picture", b"x")], "'picture'").await;
    bad(&server, &[("image", &image), ("watch", b"everything")], "`watch`").await;
    bad(&server, &[("image", &image), ("mode", b"half")], "`mode`").await;
    bad(&server, &[("image", &image)], "holds no input").await;
    bad(&server, &[("image", &image), ("input", &finish[1..])], "raw int8 of 32 bytes").await;
    bad(&server, &[("model", b"x"), ("dim", b"batch")], "NAME=SIZE").await;
    bad(&server, &[("model", b"x"), ("data", b"y")], "no file name").await;
    let samples = ("samples", &b"x"[..]);
    bad(&server, &[("model", b"x"), samples, ("calibration", b"best")], "minmax, percentile").await;
    let percentile = ("calibration", &b"percentile=12"[..]);
    bad(&server, &[("model", b"x"), samples, percentile], "'percentile=12'").await;
    let mse = ("calibration", &b"mse"[..]);
    bad(&server, &[("image", &image), ("input", &finish), mse], "nothing is quantised").await;
    bad(&server, &[("zoo", b"lenet5"), mse], "nothing is quantised").await;
    bad(&server, &[("zoo", b"lenet5"), ("pixels", b"-1..1")], "nothing is quantised").await;
    bad(&server, &[("image", b""), ("input", &finish)], "cut short").await;
    bad(&server, &[("image", b"not a plan image at all"), ("input", &finish)], "TWPI").await;
    bad(&server, &[("image", &image[..image.len() - 1]), ("input", &finish)], "cut short").await;
    let mut broken = image.clone();
    broken[200] ^= 1;
    bad(&server, &[("image", &broken), ("input", &finish)], "checksum").await;

    let cut = common::multipart(&[("image", &image)]);
    let (status, _) = refused(server.ask(post_body(cut[..cut.len() - 20].to_vec())).await).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    let mut plain = post(&[]);
    plain.headers_mut().remove(header::CONTENT_TYPE);
    assert_eq!(refused(server.ask(plain).await).await.0, StatusCode::BAD_REQUEST);
    assert_eq!(server.puppet.started.load(Ordering::SeqCst), 0);
    assert_eq!(server.shared.runs().active(), 0, "refused uploads leave their place");
}

#[tokio::test]
async fn parts_past_their_limits_are_refused() {
    let server = Server::new(Config { file_bytes: 4096, input_bytes: 64, ..Config::default() });
    let (status, body) = refused(server.start(&[("image", &[0; 4097])]).await).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(body["where"], "image");
    let (status, body) = refused(server.start(&[("input", &[0; 65])]).await).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(body["where"], "input");
}

#[tokio::test]
async fn uploads_share_a_bounded_memory() {
    let server = Server::new(Config { upload_bytes: 4096, ..Config::default() });
    let (status, body) = refused(server.start(&[("image", &[0; 4097])]).await).await;
    assert_eq!(status, StatusCode::TOO_MANY_REQUESTS, "{body}");
    server.taken(act::FINISH).await;
}

#[tokio::test]
async fn boards_must_be_known() {
    let server = Server::new(Config::default());
    for query in ["", "?board=pdp-11"] {
        let mut request = post(&[]);
        *request.uri_mut() = format!("/api/runs{query}").parse().unwrap();
        let (status, body) = refused(server.ask(request).await).await;
        assert_eq!(status, StatusCode::BAD_REQUEST);
        assert!(body["what_to_do"].as_str().unwrap().contains(common::BOARD), "{body}");
    }
}

#[tokio::test]
async fn without_a_worker_the_server_says_what_to_build() {
    let (_, routes, _folder) = common::with(Config::default(), Arc::new(NotBuilt));
    let response = routes.clone().oneshot(post(&[("image", b"x")])).await.unwrap();
    let (status, body) = refused(response).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(body["what_to_do"].as_str().unwrap().contains("cargo xtask build"));
    let health = json(routes.oneshot(get("/api/health")).await.unwrap()).await;
    assert_eq!(health["can_run"], false);
    assert_eq!(health["missing"]["kind"], "not_built");
}

#[tokio::test]
async fn the_server_says_what_it_is() {
    let server = Server::new(Config::default());
    let health = json(server.get("/api/health").await).await;
    assert_eq!(health["can_run"], true);
    assert_eq!(health["boards_with_firmware"][0], common::BOARD);
    let boards = json(server.get("/api/boards").await).await;
    assert_eq!(boards[0]["name"], common::BOARD);
    assert_eq!(boards[0]["arena_bytes"], 311_296);
    let description = json(server.get("/api/openapi.json").await).await;
    for path in [
        "/api/health",
        "/api/boards",
        "/api/runs",
        "/api/runs/{id}",
        "/api/runs/{id}/events",
        "/api/runs/{id}/layers",
        "/api/runs/{id}/firmware.elf",
        "/api/runs/{id}/firmware.bin",
        "/api/runs/{id}/firmware.hex",
    ] {
        assert!(description["paths"][path].is_object(), "{path}");
    }
    let text = description.to_string();
    for (start, _) in text.match_indices("\"#/components/schemas/") {
        let name = text[start..].split('"').nth(1).unwrap().rsplit('/').next().unwrap();
        assert!(description["components"]["schemas"][name].is_object(), "{name} is described");
    }
}

#[tokio::test]
async fn unknown_addresses_methods_hosts_and_origins_are_refused() {
    let server = Server::new(Config::default());
    assert_eq!(refused(server.get("/api/nothing").await).await.0, StatusCode::NOT_FOUND);
    let mut put = get("/api/health");
    *put.method_mut() = Method::PUT;
    assert_eq!(refused(server.ask(put).await).await.0, StatusCode::METHOD_NOT_ALLOWED);
    let mut rebound = get("/api/health");
    rebound.headers_mut().insert(header::HOST, "evil.example:8080".parse().unwrap());
    assert_eq!(refused(server.ask(rebound).await).await.0, StatusCode::FORBIDDEN);
    let mut foreign = post(&[]);
    foreign.headers_mut().insert(header::ORIGIN, "https://evil.example".parse().unwrap());
    assert_eq!(refused(server.ask(foreign).await).await.0, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn every_error_is_json_and_every_answer_is_protected() {
    let server = Server::new(Config::default());
    let page = server.folder.path().join("page");
    std::fs::create_dir(&page).unwrap();
    std::fs::write(page.join("index.html"), "<script>start()</script>").unwrap();
    let (long, deep) = (format!("/{}", "x".repeat(300)), "/x".repeat(1000));
    let run = server.taken(act::FINISH).await;
    let event = format!("/api/runs/{run}/events?after=one");
    for (path, expected) in [
        (&*long, StatusCode::NOT_FOUND),
        (&*deep, StatusCode::NOT_FOUND),
        (&*format!("/firmware{long}"), StatusCode::NOT_FOUND),
        ("/%00", StatusCode::NOT_FOUND),
        ("/api/runs/%ff", StatusCode::BAD_REQUEST),
        (&*event, StatusCode::BAD_REQUEST),
    ] {
        let response = server.get(path).await;
        assert_eq!(response.headers()[header::X_FRAME_OPTIONS], "DENY", "{path}");
        let (status, body) = refused(response).await;
        assert_eq!(status, expected, "{path}: {body}");
        assert!(body.to_string().len() < 1000, "{path} is told in short");
    }
    let mut put = get("/");
    *put.method_mut() = Method::PUT;
    assert_eq!(refused(server.ask(put).await).await.0, StatusCode::METHOD_NOT_ALLOWED);
    for path in ["/", "/api/health"] {
        let response = server.get(path).await;
        let headers = response.headers();
        assert_eq!(headers[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
        let policy = headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
        assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
        assert_eq!(policy.contains("'sha256-"), path == "/", "{policy}");
    }
}

#[tokio::test]
async fn the_page_is_served_with_its_types_or_says_how_to_build_it() {
    let server = Server::new(Config::default());
    let missing = server.get("/").await;
    assert_eq!(missing.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(missing.headers()[header::CONTENT_TYPE].to_str().unwrap().starts_with("text/html"));
    assert!(String::from_utf8(bytes(missing).await).unwrap().contains("cargo xtask serve"));

    let page = server.folder.path().join("page");
    std::fs::create_dir(&page).unwrap();
    for (name, text) in [
        ("index.html", "<p>"),
        ("app.wasm", "plain"),
        ("app.wasm.br", "packed"),
        ("app.js", "1"),
        ("app.css", "a{}"),
    ] {
        std::fs::write(page.join(name), text).unwrap();
    }
    for (path, media) in [
        ("/", "text/html"),
        ("/app.wasm", "application/wasm"),
        ("/app.js", "text/javascript"),
        ("/app.css", "text/css"),
    ] {
        let response = server.get(path).await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        assert_eq!(response.headers()[header::CONTENT_TYPE], media);
        assert_eq!(response.headers()[header::CACHE_CONTROL], "no-cache");
    }
    let mut packed = get("/app.wasm");
    packed.headers_mut().insert(header::ACCEPT_ENCODING, "gzip, br".parse().unwrap());
    let packed = server.ask(packed).await;
    assert_eq!(packed.headers()[header::CONTENT_ENCODING], "br");
    assert_eq!(packed.headers()[header::CONTENT_TYPE], "application/wasm");
    assert_eq!(bytes(packed).await, b"packed");
    assert_eq!(refused(server.get("/none.js").await).await.0, StatusCode::NOT_FOUND);
    assert_eq!(server.get("/../Cargo.toml").await.status(), StatusCode::NOT_FOUND);

    let firmware = server.get(&format!("/firmware/{}.elf", common::BOARD)).await;
    assert_eq!(bytes(firmware).await, fixture::elf());
    assert_eq!(refused(server.get("/firmware/none.elf").await).await.0, StatusCode::NOT_FOUND);
    let unbuilt = server.get("/firmware/nucleo-l4r5zi.elf").await;
    assert_eq!(refused(unbuilt).await.0, StatusCode::SERVICE_UNAVAILABLE, "a board has firmware");
}

#[tokio::test]
async fn the_zoo_is_listed_with_its_sliders() {
    let server = Server::new(Config::default());
    let zoo = json(server.get("/api/zoo").await).await;
    let named = |name: &str| zoo.as_array().unwrap().iter().find(|n| n["name"] == name).unwrap();
    let v2 = named("mobilenet-v2");
    assert_eq!(v2["family"], "MobileNet");
    assert_eq!(v2["width"]["least"], 0.05);
    assert_eq!(v2["resolution"]["step"], 16.0);
    assert_eq!(v2["publications"][0]["our_parameters"], v2["publications"][0]["parameters"]);
    assert!(named("lenet5")["width"].is_null());
}
