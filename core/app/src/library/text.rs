//! Files of the library that are text for people and for CMake.

use std::fmt::Write;

use sha2::{Digest, Sha256};
use tilewright_board::{Board, CoreKind};
use tilewright_plan::{Space, grouped};

use super::model::plain;
use crate::package::PackagedFile;
use crate::plan_file::PlanFile;

/// `CMakeLists.txt`. The plan image is compiled with the options of who links it.
pub const CMAKE: &str = r#"# The target tilewright::model: made by `tilewright image --library`.
#
#     add_subdirectory(model)                                   # this folder
#     target_link_libraries(firmware PRIVATE tilewright::model)
cmake_minimum_required(VERSION 3.13)

get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
if(NOT "C" IN_LIST languages)
  message(FATAL_ERROR "tilewright::model has a C source: say project(... LANGUAGES C CXX)")
endif()

add_library(tilewright_model INTERFACE)
target_sources(tilewright_model INTERFACE "${CMAKE_CURRENT_LIST_DIR}/model.c")
target_include_directories(tilewright_model INTERFACE "${CMAKE_CURRENT_LIST_DIR}")
target_link_libraries(tilewright_model INTERFACE "${CMAKE_CURRENT_LIST_DIR}/libtilewright.a")
add_library(tilewright::model ALIAS tilewright_model)
"#;

/// What a compiler is told for a core: the library keeps floats in registers when it is called.
const fn options(core: CoreKind) -> &'static str {
    match core {
        CoreKind::CortexM4 => "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16",
        CoreKind::CortexM7 => "-mcpu=cortex-m7 -mthumb -mfloat-abi=hard -mfpu=fpv5-sp-d16",
        CoreKind::CortexM33 => "-mcpu=cortex-m33 -mthumb -mfloat-abi=hard -mfpu=fpv5-sp-d16",
    }
}

/// `README.txt`.
pub fn readme(stem: &str, board: &Board, plan: &PlanFile, files: &[PackagedFile]) -> String {
    let (name, image) = (plain(stem), plan.image());
    let mut text = format!(
        "{name} on {}, for firmware of your own\n\n\
         With CMake\n  add_subdirectory(FOLDER)\n  target_link_libraries(firmware PRIVATE tilewright::model)\n\n\
         Without it, compile model.c with your firmware and link libtilewright.a behind it. Compile all with\n  {}\n\
         and link with --gc-sections, which leaves out what you do not call. A double-precision FPU is fine too.\n\n\
         tilewright.h is the manual of the functions; it begins with an example.\n\nMemory\n",
        board.name,
        options(board.core.kind),
    );
    let rows = [
        ("flash for the plan image", plan.bytes().len() as u64),
        ("SRAM for the arena", image.space_bytes(Space::Arena)),
        ("external RAM", image.space_bytes(Space::ExternalRam)),
        ("external flash", plan.external_flash().len() as u64),
        ("card", image.space_bytes(Space::Card)),
    ];
    for (what, bytes) in rows.into_iter().filter(|(_, bytes)| *bytes > 0) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {what}: {} bytes", grouped(bytes));
    }
    text.push_str(
        "  Calls of the library take up to 12 KiB of stack. What a plan copies by DMA on the board's own firmware, the\n  \
         core copies here, so that such plans take longer than the page and `tilewright run` say.\n",
    );
    if image.space_bytes(Space::ExternalRam) > 0 {
        text.push_str(
            "\nExternal RAM must be Normal memory: give SDRAM of an STM32 a region of the MPU, or kernels fault at\n\
             unaligned words.\n",
        );
    }
    if !plan.external_flash().is_empty() {
        text.push_str(
            "\nWrite model.flash to external flash, map that to memory, and give its address to tilewright_open.\n",
        );
    }
    if !plan.card().is_empty() {
        text.push_str(
            "\nWrite model.card raw to the card, from its first block on; what else is there is lost. Your firmware\n\
             reads and writes sectors in two functions, tilewright_card.\n",
        );
    }
    text.push_str("\nFiles, with their SHA-256\n");
    for PackagedFile { name, what, bytes } in files {
        for byte in Sha256::digest(bytes) {
            let _ = write!(text, "{byte:02x}");
        }
        let _ = write!(text, "  {name}\n    {what}, {} bytes\n", grouped(bytes.len() as u64));
    }
    text
}
