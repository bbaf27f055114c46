//! The emulator: runs plans on the emulated board. It is fetched once there is a plan to run.

use js_sys::Uint8Array;
use tilewright_frontend::message::RunRequest;
use tilewright_frontend::workers::modules::{self, Beside};
use tilewright_frontend::workers::{clock, emulator, serve_news};
use tilewright_machine::CardImage;

/// Bytes of the page, which stay with it.
struct OfPage(Uint8Array);

impl CardImage for OfPage {
    fn count(&self) -> usize {
        self.0.length() as usize
    }

    fn read(&self, offset: usize, to: &mut [u8]) {
        let end = (offset + to.len()) as u32;
        self.0.subarray(offset as u32, end).copy_to(to);
    }
}

fn main() {
    let clock = clock();
    serve_news(move |request: RunRequest, buffers, tell| {
        let around = emulator::Surroundings {
            clock: clock.clone(),
            tell,
            modules: || Some(Box::new(Beside::new()?) as _),
            translated: modules::known,
        };
        let buffers = buffers.into_iter().map(|bytes| Box::new(OfPage(bytes)) as _).collect();
        emulator::run(&request, buffers, &around)
    });
}
