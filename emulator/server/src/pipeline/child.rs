//! The process that a server starts for a run: one request over standard input and output.

use std::io::{self, Read};
use std::path::PathBuf;
use std::thread;

use serde::{Deserialize, Serialize};
use tilewright_app::{Cancel, Diagnostic, Progress};
use tilewright_protocol::{bytes, read_frame, write_frame};
use tilewright_runner::{Dist, Workers};

use super::Left;
use super::same_process::Stages;
use crate::config::Config;
use crate::upload::Upload;

/// What a server sends.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Request {
    /// First message.
    Pipeline {
        /// Limits.
        config: Config,
        /// Folder of built things.
        dist: PathBuf,
        /// Board id.
        board: String,
        /// The upload, with the lengths of its parts.
        upload: Upload<usize>,
    },
    /// Bytes of the parts, one behind the other; none if they cannot be read.
    Piece(#[serde(with = "bytes")] Vec<u8>),
}

/// What the process says.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Response {
    /// News.
    Progress(Progress),
    /// Last message.
    Left(Box<Left>),
    /// Last message.
    Failed(Diagnostic),
}

/// Walks for a server that asks over standard input, within so many bytes of address space. The end
/// of its input ends the process.
///
/// # Errors
/// If the limit cannot be had, or the server does not keep to the protocol.
pub fn run_for_server(memory_bytes: u64) -> Result<(), Diagnostic> {
    let ours = |error: String| Diagnostic::ours(error, "server");
    limit(memory_bytes).map_err(|error| ours(format!("Memory cannot be limited: {error}.")))?;
    let (mut input, mut output) = (io::stdin(), io::stdout());
    let said = match answer(&mut input, &mut output) {
        Ok(left) => Response::Left(Box::new(left)),
        Err(problem) => Response::Failed(problem),
    };
    write_frame(&mut output, &said).map_err(|error| ours(format!("{error}.")))
}

fn answer(input: &mut io::Stdin, output: &mut io::Stdout) -> Result<Left, Diagnostic> {
    let broken = |error: &dyn std::fmt::Display| Diagnostic::ours(format!("{error}."), "server");
    let Request::Pipeline { config, dist, board, upload } =
        read_frame(input).map_err(|error| broken(&error))?
    else {
        return Err(broken(&"The first message is not the one that is due"));
    };
    let upload = upload.map(|length| {
        let mut part = Vec::with_capacity(length);
        while part.len() < length {
            match read_frame(input).map_err(|error| broken(&error))? {
                Request::Piece(piece) if !piece.is_empty() => part.extend(piece),
                _ => return Err(broken(&"The upload cannot be read any more")),
            }
        }
        Ok(part)
    })?;
    thread::spawn(|| {
        // Whoever started this process closes its input to end it; dying is enough, and the
        // emulator's worker ends by the same rule.
        let mut rest = [0; 64];
        while matches!(io::stdin().read(&mut rest), Ok(1..)) {}
        std::process::exit(0);
    });
    let dist = Dist::at(dist);
    let workers = Workers::new(&dist).on(config.engine);
    let pipeline = Stages { config: &config, dist: &dist, executor: &workers };
    let mut progress = |news: Progress| {
        // A reader that is gone ends the process as well.
        if write_frame(output, &Response::Progress(news)).is_err() {
            std::process::exit(0);
        }
    };
    pipeline.run(&board, upload, &mut progress, &Cancel::default())
}

/// Limits the address space of this process, not that of those that it starts, who limit themselves.
#[cfg(unix)]
fn limit(bytes: u64) -> io::Result<()> {
    use rlimit::Resource;
    Resource::CORE.set(0, 0)?;
    let (_, hard) = Resource::AS.get()?;
    Resource::AS.set(bytes.min(hard), hard)
}

/// Elsewhere the server's time limit and what the importers check must do.
#[cfg(not(unix))]
fn limit(_: u64) -> io::Result<()> {
    Ok(())
}
