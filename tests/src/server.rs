//! The server as a process, and a small HTTP client for it.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::program::program;

/// A server that ends with this value.
pub struct Server {
    child: Child,
    /// Where it answers, without a slash at the end.
    pub address: String,
    agent: ureq::Agent,
}

/// A part of an upload.
#[derive(Clone, Copy)]
pub struct Part<'p> {
    /// Name of the part.
    pub name: &'p str,
    /// Content.
    pub bytes: &'p [u8],
}

impl Server {
    /// Starts the built program's server on a free port, with these environment variables.
    ///
    /// # Panics
    /// If it does not greet.
    #[must_use]
    pub fn start(environment: &[(&str, &str)]) -> Self {
        Self::start_on("temporary", environment)
    }

    /// The same, whose runs are executed by this engine.
    ///
    /// # Panics
    /// If it does not greet.
    #[must_use]
    pub fn start_with_engine(engine: &str) -> Self {
        Self::start_as(&["--queue", "temporary", "--engine", engine], &[])
    }

    /// The same, with runs in this queue.
    ///
    /// # Panics
    /// If it does not greet.
    #[must_use]
    pub fn start_on(queue: &str, environment: &[(&str, &str)]) -> Self {
        Self::start_as(&["--queue", queue], environment)
    }

    fn start_as(options: &[&str], environment: &[(&str, &str)]) -> Self {
        let mut child = program()
            .args(["serve", "--addr", "127.0.0.1:0"])
            .args(options)
            .envs(environment.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|e| panic!("the server does not start: {e}; run `cargo xtask build`"));
        let stderr = child.stderr.take();
        let mut lines = BufReader::new(stderr.unwrap_or_else(|| panic!("no stderr"))).lines();
        let address = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| line.find("http://").map(|at| line[at..].trim().to_owned()))
            .unwrap_or_else(|| panic!("the server ended without a greeting"));
        thread::spawn(move || lines.for_each(drop));
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(120)))
            .build();
        Self { child, address: address.trim_end_matches('/').to_owned(), agent: config.into() }
    }

    /// Process id of the server.
    #[must_use]
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// The server's resident memory in KiB.
    ///
    /// # Panics
    /// If it is gone.
    #[must_use]
    pub fn resident_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        status
            .ok()
            .and_then(|text| text.split("VmRSS:").nth(1)?.split_whitespace().next()?.parse().ok())
            .unwrap_or_else(|| panic!("the server is gone"))
    }

    /// Process ids of the server's workers: each run has a process, and that a worker.
    #[must_use]
    pub fn workers(&self) -> Vec<u32> {
        self.walks().into_iter().flat_map(children).collect()
    }

    /// Process ids of the processes that do runs.
    #[must_use]
    pub fn walks(&self) -> Vec<u32> {
        children(self.child.id())
    }

    /// Status and body of a GET.
    ///
    /// # Panics
    /// If there is no answer.
    #[must_use]
    pub fn get(&self, path: &str) -> (u16, Vec<u8>) {
        let answer = self.agent.get(format!("{}{path}", self.address)).call();
        body(answer.unwrap_or_else(|e| panic!("GET {path}: {e}")))
    }

    /// JSON of a GET that succeeds.
    ///
    /// # Panics
    /// If it does not.
    #[must_use]
    pub fn json(&self, path: &str) -> Value {
        let (status, body) = self.get(path);
        assert_eq!(status, 200, "GET {path}: {}", String::from_utf8_lossy(&body));
        serde_json::from_slice(&body).unwrap_or_else(|e| panic!("GET {path}: {e}"))
    }

    /// Status of a DELETE.
    ///
    /// # Panics
    /// If there is no answer.
    pub fn delete(&self, path: &str) -> u16 {
        let answer = self.agent.delete(format!("{}{path}", self.address)).call();
        answer.unwrap_or_else(|e| panic!("DELETE {path}: {e}")).status().as_u16()
    }

    /// Uploads a run; gives status and JSON.
    ///
    /// # Panics
    /// If there is no answer.
    #[must_use]
    pub fn upload(&self, board: &str, parts: &[Part<'_>]) -> (u16, Value) {
        const BOUNDARY: &str = "part-of-an-upload";
        let mut form: Vec<u8> = Vec::new();
        for part in parts {
            let head = format!(
                "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{0}\"; \
                 filename=\"{0}\"\r\n\r\n",
                part.name
            );
            form.extend(head.bytes());
            form.extend(part.bytes);
            form.extend(b"\r\n");
        }
        form.extend(format!("--{BOUNDARY}--\r\n").bytes());
        let path = format!("{}/api/runs?board={board}", self.address);
        let answer = self
            .agent
            .post(path)
            .content_type(format!("multipart/form-data; boundary={BOUNDARY}"))
            .send(&form[..]);
        let (status, body) = body(answer.unwrap_or_else(|e| panic!("upload: {e}")));
        (status, serde_json::from_slice(&body).unwrap_or(Value::Null))
    }

    /// Lines of a run's events up to its end.
    ///
    /// # Panics
    /// If the stream cannot be had.
    #[must_use]
    pub fn events(&self, id: &str) -> Vec<String> {
        let path = format!("{}/api/runs/{id}/events", self.address);
        let answer = self.agent.get(path).call().unwrap_or_else(|e| panic!("events: {e}"));
        let reader = BufReader::new(answer.into_body().into_reader());
        reader.lines().map_while(Result::ok).collect()
    }

    /// The run's status once it is over.
    ///
    /// # Panics
    /// If it is not over within `limit`.
    #[must_use]
    pub fn wait(&self, id: &str, limit: Duration) -> Value {
        let until = Instant::now() + limit;
        loop {
            let status = self.json(&format!("/api/runs/{id}"));
            let state = status["state"].as_str().unwrap_or_default();
            if !matches!(state, "queued" | "running") {
                return status;
            }
            assert!(Instant::now() < until, "run {id} is still {state}");
            thread::sleep(Duration::from_millis(50));
        }
    }
}

fn children(process: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    tasks
        .filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok())
        .flat_map(|children| {
            let ids = children.split_whitespace().filter_map(|id| id.parse().ok());
            ids.collect::<Vec<u32>>()
        })
        .collect()
}

fn body(answer: ureq::http::Response<ureq::Body>) -> (u16, Vec<u8>) {
    let status = answer.status().as_u16();
    let bytes = answer.into_body().read_to_vec();
    (status, bytes.unwrap_or_default())
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
