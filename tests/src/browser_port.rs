//! A stand-in for the browser's serial port (Web Serial), wired to a pseudo-terminal.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::desk::Wire;

/// Takes the place of `navigator.serial`. It behaves as the browser's: a port with a locked stream is not closed, and a
/// port that goes away takes its streams along.
const STAND_IN: &str = "
    const written = [];
    let control = null;
    const port = {
        readable: null, writable: null, closed: 0,
        getInfo: () => ({ usbVendorId: 0x0483, usbProductId: 0x374b }),
        async open({ baudRate }) {
            if (port.readable) throw new DOMException('The port is already open.', 'InvalidStateError');
            if (window.standIn.isTaken) throw new DOMException('Failed to open serial port.', 'NetworkError');
            port.baud = baudRate;
            port.readable = new ReadableStream({ start(given) { control = given; }, cancel() { control = null; } });
            port.writable = new WritableStream({ write(chunk) { written.push(...chunk); } });
        },
        async close() {
            if (port.readable?.locked || port.writable?.locked) throw new TypeError('Cannot close: locked');
            port.readable = port.writable = null;
            port.closed += 1;
        },
    };
    window.standIn = {
        isRefused: false, isTaken: false,
        state: () => ({ baud: port.readable ? port.baud : null, closed: port.closed }),
        exchange(bytes) {
            if (bytes.length && control) control.enqueue(new Uint8Array(bytes));
            return written.splice(0);
        },
        pull() {
            control.error(new DOMException('The device has been lost.', 'NetworkError'));
            port.readable = null;
        },
    };
    const serial = {
        async requestPort() {
            if (window.standIn.isRefused) throw new DOMException('No port selected by the user.', 'NotFoundError');
            return port;
        },
    };
    Object.defineProperty(navigator, 'serial', { value: serial, configurable: true });";

/// How long the board is listened to between two looks at the browser.
const LOOK: Duration = Duration::from_millis(10);
/// How long the page may take to open or close it.
const PATIENCE: Duration = Duration::from_secs(30);

/// The stand-in in a browser's page.
pub struct BrowserPort<'b> {
    browser: &'b Browser,
}

impl<'b> BrowserPort<'b> {
    /// Puts it into the page that is open.
    pub async fn plugged_into(browser: &'b Browser) -> Self {
        browser.script(STAND_IN, Vec::new()).await;
        Self { browser }
    }

    /// The baud rate at which the page has it open; nothing if it has not.
    pub async fn baud(&self) -> Option<u64> {
        self.state().await["baud"].as_u64()
    }

    /// Waits until the page has it open, or closed.
    ///
    /// # Panics
    /// If that takes long.
    pub async fn is_open(&self, open: bool) {
        let until = Instant::now() + PATIENCE;
        while self.baud().await.is_some() != open {
            assert!(Instant::now() < until, "open: {}\n{}", !open, self.browser.text().await);
            tokio::time::sleep(LOOK).await;
        }
    }

    /// How often the page has closed it.
    pub async fn closed(&self) -> u64 {
        self.state().await["closed"].as_u64().unwrap_or_default()
    }

    async fn state(&self) -> Value {
        self.browser.script("return window.standIn.state()", Vec::new()).await
    }

    /// The person chooses no port from now on, or another program has it.
    pub async fn is(&self, what: &str, holds: bool) {
        let script = "window.standIn[arguments[0]] = arguments[1]";
        self.browser.script(script, vec![json!(what), json!(holds)]).await;
    }

    /// The cable is pulled.
    pub async fn pull(&self) {
        self.browser.script("window.standIn.pull()", Vec::new()).await;
    }

    /// Brings bytes to the page; gives those that it wrote meanwhile.
    pub async fn exchange(&self, bytes: &[u8]) -> Vec<u8> {
        let script = "return window.standIn.exchange(arguments[0])";
        let written = self.browser.script(script, vec![json!(bytes)]).await;
        let bytes = written.as_array().into_iter().flatten();
        bytes.filter_map(|byte| u8::try_from(byte.as_u64()?).ok()).collect()
    }

    /// Wires it to a board's port, until the page closes it or `ends` of all bytes that the page wrote; `from_board`
    /// makes of the board's bytes what the page hears.
    ///
    /// # Panics
    /// If the board's port cannot be opened.
    pub async fn wired_to(&self, board: &Path, mut from_board: Wire, ends: impl Fn(&[u8]) -> bool) {
        self.is_open(true).await;
        let port = serial2::SerialPort::open(board, 115_200);
        let mut port = port.unwrap_or_else(|e| panic!("{}: {e}", board.display()));
        let _ = port.set_read_timeout(LOOK);
        let (mut all, mut buffer, mut count) = (Vec::new(), [0; 4096], 0);
        while self.baud().await.is_some() && !ends(&all) {
            let heard = port.read(&mut buffer).unwrap_or(0);
            let bytes = buffer[..heard].iter().zip(count..);
            let bytes: Vec<u8> = bytes.filter_map(|(byte, at)| from_board(at, *byte)).collect();
            count += heard as u64;
            let written = self.exchange(&bytes).await;
            let _ = port.write_all(&written);
            all.extend(written);
        }
    }
}
