//! What requests wait for before they are asked: files beside the page, and the browser's storage.

use js_sys::Uint8Array;
use wasm_bindgen_futures::spawn_local;
use yew::Callback;

use super::{Session, fetch};
use crate::message::{FloatRequest, ImportRequest, RunRequest, SearchRequest};
use crate::state::{Event, OwnFile, Stored};
use tilewright_report::Diagnostic;

/// What the browser's storage gives: what is known of a model, its bytes, its samples.
type FromStore = (Stored, Uint8Array, Option<Uint8Array>);

/// What a worker is asked once its files are there.
pub enum Asked {
    Importer(ImportRequest),
    /// The float worker.
    Float(FloatRequest),
    /// The worker that searches cells.
    Search(SearchRequest),
    /// The emulator.
    Emulator(RunRequest),
}

/// Files that a request needs, or why they cannot be had.
pub enum Fetched {
    /// Files beside the page.
    Files {
        /// Number of the request.
        request: u32,
        /// What is asked once they are there.
        body: Asked,
        /// The files.
        buffers: Result<Vec<Uint8Array>, Diagnostic>,
    },
    /// What the browser's storage holds.
    Stored(u32, Result<FromStore, Diagnostic>),
    /// A model from an address.
    Model {
        /// Number of the request.
        request: u32,
        /// Its name and address; its bytes have no place yet.
        file: OwnFile,
        /// Its bytes.
        bytes: Result<Uint8Array, Diagnostic>,
    },
}

impl Fetched {
    /// Number of the request.
    #[must_use]
    pub const fn request(&self) -> u32 {
        match self {
            Self::Files { request, .. }
            | Self::Stored(request, _)
            | Self::Model { request, .. } => *request,
        }
    }
}

impl Session {
    pub(super) fn fetch_for(
        &mut self,
        request: u32,
        paths: Vec<String>,
        more: Vec<Uint8Array>,
        body: Asked,
        link: &Callback<Fetched>,
    ) {
        // Its code comes while the files do.
        match &body {
            Asked::Importer(_) => self.importer.warm(),
            Asked::Float(_) => self.float.warm(),
            Asked::Search(_) => self.search.warm(),
            Asked::Emulator(_) => self.emulator.warm(),
        }
        let files: Vec<_> = paths.into_iter().map(fetch::started).collect();
        let link = link.clone();
        spawn_local(async move {
            let mut buffers = Ok(Vec::new());
            for file in files {
                match (file.await, &mut buffers) {
                    (Ok(bytes), Ok(buffers)) => buffers.push(bytes),
                    (Err(trouble), Ok(_)) => buffers = Err(trouble),
                    (_, Err(_)) => {}
                }
            }
            let buffers = buffers.map(|fetched: Vec<_>| fetched.into_iter().chain(more).collect());
            link.emit(Fetched::Files { request, body, buffers });
        });
    }

    /// Goes on once files have been fetched. `is_awaited`: whether the request still is.
    /// What happens with that, if something does at once.
    pub fn fetched(&mut self, fetched: Fetched, is_awaited: bool) -> Option<Event> {
        if !is_awaited {
            return None;
        }
        let (request, body, buffers) = match fetched {
            Fetched::Files { request, body, buffers } => (request, body, buffers),
            Fetched::Stored(request, Ok(stored)) => return Some(self.take_stored(request, stored)),
            Fetched::Model { request, file, bytes: Ok(bytes) } => {
                let token = self.keep_file(bytes);
                return Some(Event::StoredRead(request, OwnFile { token, ..file }));
            }
            Fetched::Stored(request, Err(trouble))
            | Fetched::Model { request, bytes: Err(trouble), .. } => {
                return Some(Event::NotFetched(request, trouble));
            }
        };
        let files = match buffers {
            Ok(files) => files,
            Err(trouble) => return Some(Event::NotFetched(request, trouble)),
        };
        match &body {
            Asked::Float(_)
            | Asked::Search(_)
            | Asked::Emulator(_)
            | Asked::Importer(
                ImportRequest::Open(..) | ImportRequest::Examine(..) | ImportRequest::SaveTiled(..),
            ) => self.ask_with_model(request, &body, &files),
            Asked::Importer(
                body @ (ImportRequest::Package { .. } | ImportRequest::Library { .. }),
            ) => {
                let image = self.image.as_ref()?;
                let mut buffers = vec![image.slice(0, image.length())];
                buffers.extend(files);
                buffers.extend(self.input.as_ref().map(|input| input.slice(0, input.length())));
                self.ask_importer(request, body, &buffers);
            }
            Asked::Importer(body) => self.ask_importer(request, body, &files),
        }
        None
    }

    fn take_stored(&mut self, request: u32, (facts, model, samples): FromStore) -> Event {
        let file = OwnFile {
            token: self.keep_file(model),
            name: facts.name,
            calibration: samples.map(|samples| self.keep_file(samples)),
            dims: facts.dims,
            is_stored: true,
            ..OwnFile::default()
        };
        Event::StoredRead(request, file)
    }
}
