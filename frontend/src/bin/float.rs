//! The worker that compares with the float model. It links tract, and so is fetched only when
//! somebody asks for it.

use tilewright_frontend::message::FloatRequest;
use tilewright_frontend::workers::{float, serve};

fn main() {
    serve(|request: FloatRequest, buffers, say| float::answer(&request, buffers, say));
}
