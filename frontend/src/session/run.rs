//! Runs: in the emulator of this page, or on the server.

use js_sys::Uint8Array;
use yew::Callback;

use super::fetched::{Asked, Fetched};
use super::server::{Said, Watched};
use super::{Message, Session, offline};
use crate::message::{RunEvent, RunRequest};
use crate::state::{Event, RunsOn, State};

/// A run, from what is put aside for it to what it left.
#[derive(Default)]
pub struct Running {
    /// Plan image and input.
    pub image: Option<Uint8Array>,
    pub input: Option<Uint8Array>,
    /// Store images.
    pub stores: Vec<Uint8Array>,
    /// Its status and the outputs of its layers once it has ended.
    result: Vec<Uint8Array>,
    /// What listens to the server.
    watched: Option<Watched>,
    /// Whether the emulator holds store images, which may be large.
    is_large: bool,
    /// Whether the emulator was started before somebody ran something. One that cannot start is not
    /// tried again and again.
    is_warmed: bool,
}

impl Running {
    /// What is needed to judge it.
    pub fn judged(&mut self) -> Vec<Uint8Array> {
        let mut buffers = std::mem::take(&mut self.result);
        buffers.extend(self.input.take());
        buffers
    }
}

impl Session {
    /// Puts the plan image and the input aside for the run that begins.
    pub(super) fn hold_run(&mut self) {
        let copy = |bytes: &Uint8Array| bytes.slice(0, bytes.length());
        self.run.image = self.image.as_ref().map(copy);
        self.run.input = self.input.as_ref().map(copy);
    }

    /// Starts a run of what was put aside.
    pub(super) fn start_run(
        &mut self,
        request: u32,
        place: RunsOn,
        body: RunRequest,
        link: &Callback<Fetched>,
    ) {
        let (Some(image), Some(input)) = (self.run.image.take(), &self.run.input) else { return };
        let stores = std::mem::take(&mut self.run.stores);
        self.run.result = Vec::new();
        match place {
            RunsOn::Page => {
                self.run.is_large = !stores.is_empty();
                let firmware = format!("firmware/{}.elf", body.board);
                // The input is needed once more, to judge the run.
                let mut buffers = vec![image, input.slice(0, input.length())];
                buffers.extend(stores);
                self.fetch_for(request, vec![firmware], buffers, Asked::Emulator(body), link);
            }
            RunsOn::Server => {
                let send = self.send.clone();
                let said = Callback::from(move |(event, buffers): Said| {
                    send.emit(Message { event: Event::Board(request, event), buffers });
                });
                self.run.watched = Some(Watched::start(&body, &image, input, &stores, said));
            }
        }
    }

    /// Ends the run, wherever it is.
    pub(super) fn stop_run(&mut self) {
        match self.run.watched.take() {
            Some(watched) => watched.stop(),
            None => self.end_emulator(),
        }
    }

    /// Keeps what came with the end of a run.
    pub fn keep_result(&mut self, event: &Event, buffers: &[Uint8Array]) {
        if let Event::Board(_, RunEvent::Ended(_) | RunEvent::Failed(_)) = event {
            self.run.watched = None;
            self.run.result = buffers.to_vec();
            // Memory that a worker took it gives back only at its end.
            if std::mem::take(&mut self.run.is_large) {
                self.end_emulator();
            }
        }
    }

    /// Ends the emulator; the next run finds another.
    fn end_emulator(&mut self) {
        self.emulator.end();
        self.run.is_warmed = false;
    }

    /// Starts the emulator once there is something that it can run, so that Run finds it compiled.
    pub(super) fn warm_emulator(&mut self, state: &State) {
        if !self.run.is_warmed
            && state.tasks.is_empty()
            && state.has_program()
            && state.runs_on() == RunsOn::Page
            && !offline::spares_data()
        {
            self.run.is_warmed = true;
            self.emulator.warm();
        }
    }
}
