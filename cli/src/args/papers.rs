//! Options of `papers`.

use clap::Args;

use super::Out;

#[derive(Debug, Args)]
pub struct Papers {
    /// The paper: order, ping-pong, tinyops, swapnn or sparse-tiled; else all of them are listed
    pub paper: Option<String>,
    #[command(flatten)]
    pub out: Out,
}
