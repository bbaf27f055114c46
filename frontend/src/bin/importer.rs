//! The importer worker.

use tilewright_frontend::message::ImportRequest;
use tilewright_frontend::workers::{import::Importer, serve};

fn main() {
    let mut importer = Importer::default();
    serve(move |request: ImportRequest, buffers, say| importer.answer(request, buffers, say));
}
