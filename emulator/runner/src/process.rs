//! A process that is spoken with in frames over its standard streams, killed and reaped when it goes
//! out of scope.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tilewright_protocol::{FrameError, read_frame, write_frame};

/// Bytes of standard error that are kept.
const LAST_WORDS: usize = 2048;
/// Messages that wait for the runner before the worker must wait.
const QUEUE: usize = 64;
/// How long a worker that closed its output may take to end by itself.
const GRACE: Duration = Duration::from_secs(2);

/// A process that answers in messages `A`.
pub struct Process<A> {
    child: Child,
    answers: Receiver<Result<A, FrameError>>,
    stderr: Option<JoinHandle<String>>,
}

impl<A: DeserializeOwned + Send + 'static> Process<A> {
    /// Starts a process and sends it all requests, as they come; its input is open until there are no
    /// more.
    pub fn start<Q: Serialize>(
        mut command: Command,
        requests: impl IntoIterator<Item = Q> + Send + 'static,
    ) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C in a terminal is for the runner, which then ends its workers.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        let (mut input, output) = (child.stdin.take(), child.stdout.take());
        let stderr = child.stderr.take().map(|stream| thread::spawn(|| last_words(stream)));

        // Both streams have a thread, so that a worker that neither reads nor writes cannot
        // block the runner; they end with the process.
        thread::spawn(move || {
            // The stream stays open as long as the runner does: its end tells a worker to end.
            for request in requests {
                let sent = input.as_mut().map(|stream| write_frame(stream, &request));
                if !matches!(sent, Some(Ok(()))) {
                    return;
                }
            }
        });
        let (heard, answers) = sync_channel(QUEUE);
        thread::spawn(move || {
            let Some(mut output) = output else { return };
            loop {
                let answer = read_frame(&mut output);
                let last = answer.is_err();
                if heard.send(answer).is_err() || last {
                    return;
                }
            }
        });
        Ok(Self { child, answers, stderr })
    }

    /// The next message, if one comes soon.
    pub fn receive(&self, within: Duration) -> Option<Result<A, FrameError>> {
        use std::sync::mpsc::RecvTimeoutError;
        match self.answers.recv_timeout(within) {
            Ok(answer) => Some(answer),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Err(FrameError::Closed)),
        }
    }
}

impl<A> Process<A> {
    /// The status of a worker that closed its output, and the end of what it said. It is killed
    /// if it does not end soon.
    pub fn end(&mut self) -> (Option<ExitStatus>, String) {
        let until = Instant::now() + GRACE;
        let mut status = self.child.try_wait().ok().flatten();
        while status.is_none() && Instant::now() < until {
            thread::sleep(Duration::from_millis(5));
            status = self.child.try_wait().ok().flatten();
        }
        (status, self.last_words())
    }

    /// Kills the worker, and gives the end of what it said.
    pub fn last_words(&mut self) -> String {
        self.kill();
        let words = self.stderr.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        if words.is_empty() { "it said nothing".to_owned() } else { words }
    }

    fn kill(&mut self) {
        // Both fail only for a process that has ended and is reaped.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl<A> Drop for Process<A> {
    fn drop(&mut self) {
        self.kill();
    }
}

fn last_words(mut stream: ChildStderr) -> String {
    let mut last = VecDeque::with_capacity(LAST_WORDS);
    let mut buffer = [0; 1024];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        for byte in buffer.iter().take(count) {
            if last.len() == LAST_WORDS {
                last.pop_front();
            }
            last.push_back(*byte);
        }
    }
    let bytes: Vec<u8> = last.into();
    String::from_utf8_lossy(&bytes).trim().to_owned()
}
