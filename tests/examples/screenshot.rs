//! Takes the README's picture of the page, `docs/page.png`, anew: `cargo run --release -p tilewright-tests --example
//! screenshot`, after `cargo xtask build`.

use tilewright_tests::browser::Browser;
use tilewright_tests::emulated::project;
use tilewright_tests::server::Server;

#[tokio::main]
async fn main() {
    let server = Server::start(&[]);
    let browser = Browser::start(1440, 900, false).await;
    let link = "#model=zoo:mobilenet-v2-w0.35-r96&board=stm32f746g-disco&strategy=auto&sram=65536";
    browser.open(&format!("{}{link}", server.address)).await;
    browser.text_when("layers", |text| text.contains("block1")).await;
    browser.find("memory-chart").await;
    browser.picture(&project().join("docs/page.png")).await;
    browser.end().await;
}
