//! A server in this process, with a stand-in for the workers that does as the input says.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]
#![allow(dead_code, reason = "each test program uses a part")]

pub mod fixture;
pub mod onnx;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tilewright_app::{Blame, Cancel, Diagnostic};
use tilewright_protocol::RunOutcome;
use tilewright_queue::{Database, Location};
use tilewright_runner::{Dist, Execute, WorkerLimits};
use tilewright_server::{Config, Doer, Origins, SameProcess, Shared, router};

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response, StatusCode, header};
use http_body_util::BodyExt;
use serde_json::Value;
use tilewright_protocol::{Finish, Job, Response as Said, StepCount};
use tilewright_report::{Counts, Fault, FaultKind};
use tower::ServiceExt;

pub const BOARD: &str = "stm32f746g-disco";

/// What the stand-in does, as the first byte of the input.
pub mod act {
    pub const FINISH: u8 = 0;
    pub const HANG: u8 = 1;
    pub const PANIC: u8 = 2;
    pub const CRASH: u8 = 3;
    pub const FAULT: u8 = 4;
    pub const SLOW: u8 = 5;
}

/// Counts what it does.
#[derive(Default)]
pub struct Puppet {
    pub now: AtomicUsize,
    pub most: AtomicUsize,
    pub started: AtomicUsize,
    pub killed: AtomicUsize,
    /// Bytes of the store images that came with the last job: external flash, card.
    pub stores: [AtomicUsize; 2],
}

struct Under<'p>(&'p Puppet);

impl Drop for Under<'_> {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Execute for Puppet {
    fn execute(
        &self,
        job: Job,
        _: &WorkerLimits,
        on_event: &mut dyn FnMut(&Said),
        cancel: &Cancel,
    ) -> Result<RunOutcome, Diagnostic> {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.started.fetch_add(1, Ordering::SeqCst);
        self.most.fetch_max(now, Ordering::SeqCst);
        let _under = Under(self);
        let card = job.card.as_ref().map_or(0, |card| card.image.len());
        self.stores[0].store(job.external_flash.len(), Ordering::SeqCst);
        self.stores[1].store(card, Ordering::SeqCst);
        let frame = &job.frames[0][0];
        let payload = &frame[8..frame.len() - 4];
        on_event(&Said::Console(b"ready 32\r\n".to_vec()));
        let mut fault = None;
        match payload[0] {
            act::HANG => {
                while !cancel.is_cancelled() {
                    std::thread::sleep(Duration::from_millis(2));
                }
                self.killed.fetch_add(1, Ordering::SeqCst);
                return Err(Diagnostic::cancelled("The run was cancelled."));
            }
            act::PANIC => panic!("the stand-in panics"),
            act::CRASH => return Err(Diagnostic::ours("The worker crashed.", "worker")),
            act::FAULT => {
                fault = Some(Fault {
                    kind: FaultKind::HardFault,
                    message: "The core took a HardFault.".into(),
                    step: Some(1),
                    layer: Some(1),
                    layer_name: None,
                    copy: None,
                    registers: vec![("pc".into(), 0x0800_1234)],
                    last_blocks: vec![(0x0800_1230, "softmax".into())],
                });
            }
            act::SLOW => std::thread::sleep(Duration::from_millis(5)),
            _ => {}
        }
        let mut steps = Vec::new();
        for step in 0..2u32 {
            let count = StepCount {
                step,
                layer: step as u16,
                start: u64::from(step) * 100,
                end: u64::from(step) * 100 + 80,
                instructions: 50,
                cycles: 70,
                code_waits: 0,
                constant_waits: 0,
                waited: 0,
            };
            on_event(&Said::Progress { instructions: u64::from(step) * 50, step: Some(step) });
            on_event(&Said::Step(count));
            steps.push(count);
        }
        let ends = job.watches.iter().enumerate();
        let watched = ends
            .map(|(index, watch)| {
                Some(vec![index as u8 + 1; (watch.rows * watch.row_bytes) as usize])
            })
            .collect();
        let invoke = Counts { compute_instructions: 100, ..Counts::default() };
        Ok(RunOutcome {
            given_up: Vec::new(),
            engine: "puppet 1".into(),
            finish: Finish {
                fault,
                boot: Counts::default(),
                load: Counts::default(),
                invoke,
                stack: None,
                unknown_registers: vec![],
                invokes: Vec::new(),
                passed_steps: 0,
                wall_ns: 1,
            },
            steps,
            copies: Vec::new(),
            borders: Vec::new(),
            layers: Vec::new(),
            watched,
            console: b"ready 32\r\n".to_vec(),
        })
    }

    fn ready(&self) -> Result<(), Diagnostic> {
        Ok(())
    }
}

/// A worker program that has not been built.
pub struct NotBuilt;

impl Execute for NotBuilt {
    fn execute(
        &self,
        _: Job,
        _: &WorkerLimits,
        _: &mut dyn FnMut(&Said),
        _: &Cancel,
    ) -> Result<RunOutcome, Diagnostic> {
        Err(Diagnostic::ours("must not be called", "test"))
    }

    fn ready(&self) -> Result<(), Diagnostic> {
        Err(Diagnostic::new(Blame::NotBuilt, "No worker.", "worker", "Run `cargo xtask build`."))
    }
}

/// A server with its folder of built things.
pub struct Server {
    pub puppet: Arc<Puppet>,
    pub shared: Shared,
    pub routes: Router,
    pub folder: tempfile::TempDir,
}

impl Server {
    pub fn new(config: Config) -> Self {
        Self::on(config, Location::Temporary)
    }

    /// A server whose runs lie in this queue.
    pub fn on(config: Config, location: Location) -> Self {
        let puppet = Arc::new(Puppet::default());
        let executor = Arc::clone(&puppet) as Arc<dyn Execute>;
        let (shared, routes, folder) = with_queue(config, executor, location);
        Self { puppet, shared, routes, folder }
    }

    pub async fn ask(&self, request: Request<Body>) -> Response<Body> {
        self.routes.clone().oneshot(request).await.unwrap()
    }

    pub async fn get(&self, path: &str) -> Response<Body> {
        self.ask(get(path)).await
    }

    pub async fn start(&self, parts: &[(&str, &[u8])]) -> Response<Body> {
        self.ask(post(parts)).await
    }

    /// Starts a run that must be taken; its id.
    pub async fn taken(&self, what: u8) -> String {
        let response = self.start(&[("image", &fixture::image()), ("input", &input(what))]).await;
        assert_eq!(response.status(), StatusCode::ACCEPTED);
        json(response).await["id"].as_str().unwrap().to_owned()
    }

    pub async fn status(&self, id: &str) -> Value {
        json(self.get(&format!("/api/runs/{id}")).await).await
    }

    /// Waits until a run is over; its status.
    pub async fn over(&self, id: &str) -> Value {
        for _ in 0..2000 {
            let status = self.status(id).await;
            if !["queued", "running"].contains(&status["state"].as_str().unwrap()) {
                return status;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("run {id} does not end");
    }
}

pub fn with(config: Config, executor: Arc<dyn Execute>) -> (Shared, Router, tempfile::TempDir) {
    with_queue(config, executor, Location::Temporary)
}

fn with_queue(
    config: Config,
    executor: Arc<dyn Execute>,
    location: Location,
) -> (Shared, Router, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("firmware")).unwrap();
    std::fs::write(folder.path().join(format!("firmware/{BOARD}.elf")), fixture::elf()).unwrap();
    let boards = tilewright_board::all();
    let pipeline = Arc::new(SameProcess::new(Arc::clone(&executor)));
    let queue = Database::open(location, config.temporary()).unwrap();
    let dist = Dist::at(folder.path());
    let shared = Shared::new(Doer::new(config, dist, executor, pipeline, Arc::new(queue)), boards);
    let routes = router(shared.clone(), Origins::of("127.0.0.1:8080".parse().unwrap()));
    (shared, routes, folder)
}

pub fn input(what: u8) -> Vec<u8> {
    let mut input = vec![0; fixture::INPUT_BYTES];
    input[0] = what;
    input
}

pub fn get(path: &str) -> Request<Body> {
    Request::get(path).header(header::HOST, "127.0.0.1:8080").body(Body::empty()).unwrap()
}

pub fn multipart(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, bytes) in parts {
        body.extend(b"--seam\r\nContent-Disposition: form-data; name=\"");
        body.extend(name.as_bytes());
        body.extend(b"\"\r\n\r\n");
        body.extend(*bytes);
        body.extend(b"\r\n");
    }
    body.extend(b"--seam--\r\n");
    body
}

pub fn post_body(body: Vec<u8>) -> Request<Body> {
    Request::post(format!("/api/runs?board={BOARD}"))
        .header(header::HOST, "127.0.0.1:8080")
        .header(header::CONTENT_TYPE, "multipart/form-data; boundary=seam")
        .body(Body::from(body))
        .unwrap()
}

pub fn post(parts: &[(&str, &[u8])]) -> Request<Body> {
    post_body(multipart(parts))
}

pub async fn bytes(response: Response<Body>) -> Vec<u8> {
    response.into_body().collect().await.unwrap().to_bytes().to_vec()
}

pub async fn json(response: Response<Body>) -> Value {
    serde_json::from_slice(&bytes(response).await).unwrap()
}

/// The status, and that the body is an error that says what, where and what to do.
pub async fn refused(response: Response<Body>) -> (StatusCode, Value) {
    let status = response.status();
    let body = json(response).await;
    for key in ["what", "where", "what_to_do"] {
        assert!(!body[key].as_str().unwrap().is_empty(), "{key} in {body}");
    }
    (status, body)
}
