//! The emulator: runs plans on the emulated board. It is fetched once there is a plan to run.

use tilewright_frontend::message::RunRequest;
use tilewright_frontend::workers::modules::{self, Beside};
use tilewright_frontend::workers::{clock, emulator, serve_news};

fn main() {
    let clock = clock();
    serve_news(move |request: RunRequest, buffers, tell| {
        let around = emulator::Surroundings {
            clock: clock.clone(),
            tell,
            modules: || Some(Box::new(Beside::new()?) as _),
            translated: modules::known,
        };
        emulator::run(&request, buffers, &around)
    });
}
