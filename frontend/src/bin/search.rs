//! The worker that searches cells. Few ask for it, so that it is fetched only then.

use tilewright_frontend::message::SearchRequest;
use tilewright_frontend::workers::{search::Searcher, serve};

fn main() {
    let mut searcher = Searcher::default();
    serve(move |request: SearchRequest, buffers, _| searcher.answer(request, &buffers));
}
