//! What this board's file says, for the linker and the code.

#[path = "../board_file.rs"]
mod board_file;

fn main() {
    board_file::write("nrf52840-dk", "UART0");
}
