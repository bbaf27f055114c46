//! The emulated board at its pseudo-terminal, and lines to it on which things go wrong.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::Value;

use crate::program::{program, run};
pub use crate::pseudo::{Heard, Pseudo};

/// How often a line looks whether it is wanted still.
const LOOK: Duration = Duration::from_millis(5);

/// Makes an image of a model in a folder; gives its ELF file.
///
/// # Panics
/// If there is none.
#[must_use]
pub fn image(model: &str, board: &str, folder: &Path) -> PathBuf {
    let out = folder.to_str().unwrap_or_else(|| panic!("a folder without a name"));
    let output = run(&["image", model, "--board", board, "-o", out]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let stem = Path::new(model).file_stem().unwrap_or_default();
    folder.join(stem).with_extension("elf")
}

/// `tilewright board emulate`: ends with this value.
pub struct Stand {
    child: Child,
    stdin: Option<ChildStdin>,
    pub port: PathBuf,
}

impl Stand {
    /// Starts it and waits for its port.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn start(image: &Path) -> Self {
        let mut child = program()
            .args(["board", "emulate"])
            .arg(image)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|e| panic!("the program does not start: {e}; run `cargo xtask build`"));
        let stdout = child.stdout.take().unwrap_or_else(|| panic!("no output"));
        let mut lines = BufReader::new(stdout).lines().map_while(Result::ok);
        let port = lines
            .find_map(|line| Some(PathBuf::from(line.split(" stands at ").nth(1)?)))
            .unwrap_or_else(|| panic!("the board has no port"));
        thread::spawn(move || lines.for_each(drop));
        let stdin = child.stdin.take();
        Self { child, stdin, port }
    }

    /// Presses the reset button.
    ///
    /// # Panics
    /// If the board is gone.
    pub fn reset(&mut self) {
        let pressed = self.stdin.as_mut().map(|stdin| stdin.write_all(b"\n"));
        assert!(matches!(pressed, Some(Ok(()))), "the board is gone");
    }
}

impl Drop for Stand {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a line makes of a byte: nothing if it loses it. The number counts bytes since the line began.
pub type Wire = Box<dyn FnMut(u64, u8) -> Option<u8> + Send>;

/// A wire on which nothing goes wrong.
#[must_use]
pub fn good() -> Wire {
    Box::new(|_, byte| Some(byte))
}

/// A wire that loses the lines with which the emulated board says what it is (and those of errors).
#[must_use]
pub fn silent_about_itself() -> Wire {
    let (mut begins, mut is_lost) = (true, false);
    Box::new(move |_, byte| {
        is_lost = if begins { byte == b'e' } else { is_lost };
        begins = byte == b'\n';
        (!is_lost).then_some(byte)
    })
}

/// A line between a port that programs open and a board's.
pub struct Line {
    /// The port that programs open.
    pub port: PathBuf,
    off: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Line {
    /// Begins once a program opens the port, so that the board starts no sooner.
    ///
    /// # Panics
    /// If the system has no pseudo-terminal, or the board's port cannot be opened.
    #[must_use]
    pub fn to(board: &Path, mut to_board: Wire, mut from_board: Wire) -> Self {
        let pseudo = Arc::new(Pseudo::open().unwrap_or_else(|e| panic!("no pseudo-terminal: {e}")));
        let (port, off) = (pseudo.path().to_owned(), Arc::new(AtomicBool::new(false)));
        let (board, ours) = (board.to_owned(), Arc::clone(&off));
        let line = thread::spawn(move || {
            while !pseudo.is_open() {
                if ours.load(Ordering::Relaxed) {
                    return;
                }
                thread::sleep(LOOK);
            }
            let _ = pseudo.make_raw();
            let serial = serial2::SerialPort::open(&board, 115_200);
            let mut serial = serial.unwrap_or_else(|e| panic!("{}: {e}", board.display()));
            let _ = serial.set_read_timeout(LOOK);
            let serial = Arc::new(serial);
            let (back, there) = (Arc::clone(&pseudo), Arc::clone(&serial));
            let still = Arc::clone(&ours);
            let answers = thread::spawn(move || {
                let (mut count, mut buffer) = (0, [0; 256]);
                while !still.load(Ordering::Relaxed) {
                    let heard = there.read(&mut buffer).unwrap_or(0);
                    let bytes: Vec<u8> =
                        changed(&buffer[..heard], &mut count, &mut from_board).collect();
                    back.write(&bytes, &still);
                }
            });
            let mut count = 0;
            while !ours.load(Ordering::Relaxed) {
                match pseudo.read(LOOK) {
                    // One by one: a wire may take its time.
                    Heard::Bytes(bytes) => {
                        for byte in changed(&bytes, &mut count, &mut to_board) {
                            let _ = serial.write_all(&[byte]);
                        }
                    }
                    Heard::Nothing | Heard::Left => {}
                }
            }
            let _ = answers.join();
        });
        Self { port, off, threads: vec![line] }
    }
}

fn changed<'b>(
    bytes: &'b [u8],
    count: &'b mut u64,
    wire: &'b mut Wire,
) -> impl Iterator<Item = u8> + 'b {
    bytes.iter().filter_map(|byte| {
        *count += 1;
        wire(*count - 1, *byte)
    })
}

impl Drop for Line {
    fn drop(&mut self) {
        self.off.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// A port at which nobody of ours stands: `behave` has the other end until it returns, which closes the port.
///
/// # Panics
/// If the system has no pseudo-terminal.
pub fn stranger(behave: impl FnOnce(&Pseudo) + Send + 'static) -> (PathBuf, JoinHandle<()>) {
    let pseudo = Pseudo::open().unwrap_or_else(|e| panic!("no pseudo-terminal: {e}"));
    let port = pseudo.path().to_owned();
    let stranger = thread::spawn(move || {
        while !pseudo.is_open() {
            thread::sleep(LOOK);
        }
        let _ = pseudo.make_raw();
        behave(&pseudo);
    });
    (port, stranger)
}

/// `tilewright board run`, with these words behind image and port.
#[must_use]
pub fn board_run(image: &Path, port: &Path, more: &[&str]) -> Output {
    program()
        .args(["board", "run"])
        .arg(image)
        .arg("--port")
        .arg(port)
        .args(more)
        .output()
        .unwrap_or_else(|e| panic!("the program does not start: {e}; run `cargo xtask build`"))
}

/// The JSON report of a run that succeeds, and what was said meanwhile.
///
/// # Panics
/// If it does not succeed.
#[must_use]
pub fn report(output: &Output) -> (Value, String) {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    let report = serde_json::from_slice(&output.stdout);
    (report.unwrap_or_else(|e| panic!("{e}: {said}")), said)
}

/// The complaint of a run that fails for what it was given.
///
/// # Panics
/// If it ends otherwise.
#[must_use]
pub fn complaint(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    said
}

/// First 16 digits of the plan id of an image, by the plan beside it.
///
/// # Panics
/// If there is none.
#[must_use]
pub fn plan_id(image: &Path) -> String {
    use tilewright_plan::image::Header;
    use zerocopy::FromBytes;
    let bytes = fs::read(image.with_extension("plan")).unwrap_or_else(|e| panic!("no plan: {e}"));
    let (header, _) = Header::read_from_prefix(&bytes).unwrap_or_else(|_| panic!("no plan"));
    header.plan_id[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}
