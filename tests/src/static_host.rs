//! A static host that serves a folder under a sub-path, and knows nothing else.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Serves `folder` below `/<below>/` on a free port, until the process ends; gives the address.
///
/// # Panics
/// If no port can be had.
#[must_use]
pub fn serve(folder: PathBuf, below: &str) -> String {
    serve_while(folder, below, Arc::new(AtomicBool::new(true)))
}

/// The same, and pages of other hosts may read the files.
///
/// # Panics
/// If no port can be had.
#[must_use]
pub fn serve_to_others(folder: PathBuf, below: &str) -> String {
    host(folder, below, Arc::new(AtomicBool::new(true)), "Access-Control-Allow-Origin: *\r\n")
}

/// The same as long as `is_up` says so; afterwards every connection ends without an answer.
///
/// # Panics
/// If no port can be had.
#[must_use]
pub fn serve_while(folder: PathBuf, below: &str, is_up: Arc<AtomicBool>) -> String {
    host(folder, below, is_up, "")
}

/// `header` is sent with each answer.
fn host(folder: PathBuf, below: &str, is_up: Arc<AtomicBool>, header: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap_or_else(|e| panic!("no port: {e}"));
    let address = listener.local_addr().unwrap_or_else(|e| panic!("no address: {e}"));
    let prefix = format!("/{below}/");
    let site = format!("http://{address}{prefix}");
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (folder, prefix, is_up) = (folder.clone(), prefix.clone(), Arc::clone(&is_up));
            thread::spawn(move || answer(stream, &folder, &prefix, &is_up, header));
        }
    });
    site
}

fn answer(
    stream: TcpStream,
    folder: &Path,
    prefix: &str,
    is_up: &AtomicBool,
    header: &str,
) -> Option<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let mut request = String::new();
        if reader.read_line(&mut request).ok()? == 0 {
            return None;
        }
        let mut line = String::new();
        while reader.read_line(&mut line).ok()? > 2 {
            line.clear();
        }
        if !is_up.load(Ordering::Relaxed) {
            return None;
        }
        let path = request.split(' ').nth(1)?.split(['?', '#']).next()?;
        let file = path
            .strip_prefix(prefix)
            .map(|name| folder.join(if name.is_empty() { "index.html" } else { name }));
        let file = file.filter(|_| !path.contains(".."));
        let content = file.as_ref().and_then(|file| fs::read(file).ok());
        let (status, bytes) = match content {
            Some(bytes) => ("200 OK", bytes),
            None => ("404 Not Found", Vec::new()),
        };
        let kind = match file.as_deref().and_then(Path::extension).and_then(|e| e.to_str()) {
            Some("html") => "text/html",
            Some("js") => "text/javascript",
            Some("css") => "text/css",
            Some("wasm") => "application/wasm",
            Some("svg") => "image/svg+xml",
            Some("png") => "image/png",
            _ => "application/octet-stream",
        };
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{header}Content-Length: {}\r\n\r\n",
            bytes.len()
        );
        let stream = reader.get_mut();
        stream.write_all(head.as_bytes()).ok()?;
        stream.write_all(&bytes).ok()?;
    }
}
