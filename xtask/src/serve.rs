//! Runs the server until it ends or the user presses Ctrl-C. Page and server are built first; the emulator
//! is built behind them, and both find it when it is there.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::behind::Behind;
use crate::build::{self, Part, Selection};
use crate::lock::Lock;
use crate::project::Project;
use crate::terminal;

/// How long a server may take to answer its first request.
const START_LIMIT: Duration = Duration::from_secs(30);
/// How long it may take to end by itself after Ctrl-C, and again after it was asked to.
const END_LIMIT: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(50);

/// Builds page and server, starts the server, waits until it answers, opens a browser if there is a
/// display, builds the rest. Whether the server ended as it should.
///
/// # Errors
/// When the build fails, the address is none, or the server does not come up.
pub fn serve(project: &Project, addr: &str, open: bool) -> Result<bool> {
    let address = addr
        .to_socket_addrs()
        .with_context(|| format!("{addr} is no address: give one such as 127.0.0.1:8080"))?
        .next()
        .with_context(|| format!("{addr} has no address"))?;
    // Tried before the long build; and another server there would answer in ours' place.
    drop(TcpListener::bind(address).with_context(|| {
        format!("cannot listen on {address}; choose another address with --addr")
    })?);
    build::build(project, &[Part::Page, Part::Server], Selection::Start)?;
    // Watched for before the server starts, so that no Ctrl-C leaves it running.
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))
            .context("cannot watch for Ctrl-C")?;
    }
    // Said before the server looks for the emulator.
    let building = Lock::building(&project.dist())?;
    let program = project.server();
    let mut command = project.command(&program);
    command.args(["--addr", &address.to_string()]).stdin(Stdio::null());
    let mut server =
        command.spawn().with_context(|| format!("cannot start {}", program.display()))?;
    let rest = ["worker", "firmware", "page"].map(|part| {
        let mut command = project.command(&project.own_program);
        command.args(["build", "--quick", "--only", part]);
        (part, command)
    });
    let mut behind = Behind::new(rest, Some(building));
    let result = supervise(&mut server, &mut behind, reachable(address), open, &stop);
    behind.end();
    // Whatever went wrong, nothing is left running.
    if result.is_err() {
        let _ = end(&mut server);
    }
    result
}

fn supervise(
    server: &mut Child,
    behind: &mut Behind,
    at: SocketAddr,
    open: bool,
    stop: &AtomicBool,
) -> Result<bool> {
    let start = Instant::now();
    while !answers(at) {
        if stop.load(Ordering::Relaxed) {
            return end(server).map(|_| true);
        }
        if let Some(status) = server.try_wait().context("lost the server")? {
            bail!("the server ended before it answered ({status}); its own message is above");
        }
        if start.elapsed() > START_LIMIT {
            bail!("the server does not answer at {at} after {}", terminal::elapsed(START_LIMIT));
        }
        std::thread::sleep(PAUSE);
    }
    let url = format!("http://{at}");
    terminal::line(&format!("Tilewright is at {url} (Ctrl-C ends it)"));
    if open {
        open_browser(&url);
    }
    loop {
        if stop.load(Ordering::Relaxed) {
            behind.end();
            let status = end(server)?;
            terminal::note("the server has ended");
            // Ended by our signal, or by itself on Ctrl-C: both are as wanted.
            return Ok(status.success() || status.code().is_none());
        }
        if let Some(status) = server.try_wait().context("lost the server")? {
            bail!("the server has ended ({status})");
        }
        behind.look();
        std::thread::sleep(PAUSE);
    }
}

/// Where a server that listens on `address` is reached from here.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        address.set_ip(Ipv4Addr::LOCALHOST.into());
    }
    address
}

/// Whether an HTTP server answers there, whatever it answers.
fn answers(at: SocketAddr) -> bool {
    let ask = || -> std::io::Result<bool> {
        let mut stream = TcpStream::connect_timeout(&at, Duration::from_secs(1))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        let request = format!("GET / HTTP/1.1\r\nHost: {at}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes())?;
        let mut start = [0; 5];
        stream.read_exact(&mut start)?;
        Ok(&start == b"HTTP/")
    };
    ask().unwrap_or(false)
}

/// Waits for the server to end, since Ctrl-C in a terminal reaches it as well; then asks; then
/// kills.
fn end(server: &mut Child) -> Result<ExitStatus> {
    let asked_by_us = Duration::from_millis(500);
    for (limit, signal) in [(asked_by_us, Some("-TERM")), (END_LIMIT, None)] {
        let start = Instant::now();
        while start.elapsed() < limit {
            if let Some(status) = server.try_wait().context("lost the server")? {
                return Ok(status);
            }
            std::thread::sleep(PAUSE);
        }
        if let Some(signal) = signal {
            let _ = Command::new("kill").args([signal, &server.id().to_string()]).status();
        }
    }
    server.kill().context("cannot end the server")?;
    server.wait().context("lost the server")
}

/// Opens the page for the user, if there is a display; silence otherwise.
fn open_browser(url: &str) {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if is_set("DISPLAY") || is_set("WAYLAND_DISPLAY") {
        let mut command = Command::new("xdg-open");
        command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let _ = command.spawn();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replying(reply: &'static [u8]) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            // All of it is read: closing with unread bytes would reset the connection.
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                request.push(byte[0]);
            }
            stream.write_all(reply).unwrap();
        });
        at
    }

    #[test]
    fn every_interface_is_reached_as_this_computer() {
        let at = |text: &str| reachable(text.parse().unwrap()).to_string();
        assert_eq!(at("0.0.0.0:80"), "127.0.0.1:80");
        assert_eq!(at("[::]:80"), "127.0.0.1:80");
        assert_eq!(at("10.0.0.1:80"), "10.0.0.1:80");
    }

    #[test]
    fn readiness_is_an_http_answer() {
        assert!(answers(replying(b"HTTP/1.1 404 Not Found\r\n\r\n")));
        assert!(!answers(replying(b"SSH-2.0-x\r\n")));
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        assert!(!answers(free));
    }

    #[test]
    fn a_server_that_ends_early_is_an_error() {
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut child = Command::new("false").spawn().unwrap();
        let mut behind = Behind::new([], None);
        let error =
            supervise(&mut child, &mut behind, free, false, &AtomicBool::new(false)).unwrap_err();
        assert!(error.to_string().contains("before it answered"), "{error}");
    }

    #[test]
    fn a_stopped_server_is_gone() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let status = end(&mut child).unwrap();
        assert!(!status.success());
        assert!(child.try_wait().unwrap().is_some());
    }
}
