//! Models, samples and images that go to workers with what is asked of them.

use js_sys::Uint8Array;
use yew::Callback;

use super::fetched::{Asked, Fetched};
use super::{IMAGES, Session};
use crate::message::{Calibrating, ImportRequest, ModelSource};
use crate::state::{LabelledFiles, Origin, OwnFile, Quantising, Samples};

impl Session {
    /// Asks for what needs a model with its samples.
    pub(super) fn send_model(
        &mut self,
        request: u32,
        origin: Origin,
        quantising: &Quantising,
        ask: impl FnOnce(ModelSource, Calibrating) -> Asked,
        link: &Callback<Fetched>,
    ) {
        let is_given = quantising.samples == Samples::Given;
        let chosen: Vec<u32> = quantising.tokens().collect();
        let (source, mut tokens) = match origin {
            Origin::Example(example) => {
                let name = example.file.rsplit('/').next().unwrap_or(example.file).to_owned();
                let source = ModelSource::File { name, data: Vec::new(), dims: Vec::new() };
                let mut paths = vec![example.file.to_owned()];
                paths.extend(example.calibration.filter(|_| is_given).map(str::to_owned));
                let body = ask(source, quantising.calibrating());
                return self.fetch_for(request, paths, self.copies(&chosen), body, link);
            }
            Origin::Zoo(name) => (ModelSource::Zoo(name), Vec::new()),
            Origin::File(mut file) => {
                file.calibration = file.calibration.filter(|_| is_given);
                let own = file.tokens().collect();
                let OwnFile { name, data, dims, .. } = file;
                let data = data.into_iter().map(|(name, _)| name).collect();
                (ModelSource::File { name, data, dims }, own)
            }
        };
        tokens.extend(chosen);
        let buffers = self.copies(&tokens);
        self.ask_with_model(request, &ask(source, quantising.calibrating()), &buffers);
    }

    /// Asks for what needs labelled images.
    pub(super) fn send_images(
        &mut self,
        request: u32,
        images: &LabelledFiles,
        asked: Asked,
        link: &Callback<Fetched>,
    ) {
        let paths = if images.is_given() { vec![IMAGES.to_owned()] } else { Vec::new() };
        let tokens: Vec<u32> = images.files.iter().map(|(token, _)| *token).collect();
        self.fetch_for(request, paths, self.copies(&tokens), asked, link);
    }

    /// Asks for what brings all that it needs.
    pub(super) fn ask_with_model(&mut self, request: u32, asked: &Asked, buffers: &[Uint8Array]) {
        match asked {
            Asked::Importer(body) => {
                if let ImportRequest::Open(..) = body {
                    (self.importer_has_model, self.importer_was_given_back) = (false, false);
                }
                self.importer.ask(request, body, buffers);
            }
            Asked::Float(body) => {
                let Some(int8) = &self.model else { return };
                let int8 = int8.slice(0, int8.length());
                self.float.ask(request, body, &[buffers, &[int8]].concat());
            }
            Asked::Search(body) => self.search.ask(request, body, buffers),
            Asked::Emulator(body) => self.emulator.ask(request, body, buffers),
        }
    }

    /// Copies of files, which are kept so that they can be opened again in another way.
    pub(super) fn copies(&self, tokens: &[u32]) -> Vec<Uint8Array> {
        let bytes = tokens.iter().filter_map(|token| self.files.get(token));
        bytes.map(|bytes| bytes.slice(0, bytes.length())).collect()
    }

    /// The bytes of a file, of those that it keeps weights in, and its samples.
    pub(super) fn files_of(&self, file: &OwnFile) -> impl Iterator<Item = &Uint8Array> {
        let tokens = file.tokens();
        tokens.filter_map(|token| self.files.get(&token))
    }
}
