//! Room that the boards' firmware leaves of its flash and of its statics, before the linker has none.

use object::{Object, ObjectSection, SectionKind};
use tilewright_image::FirmwareImage;
use tilewright_tests::emulated;

/// Bytes of flash that a change may take before the border between firmware and plan must move.
const SPARE_FLASH: u64 = 1024;
/// Bytes of statics that stay free.
const SPARE_STATICS: u64 = 64;
/// What `firmware/boards/board_file.rs` keeps for statics.
const STATICS: u64 = 3808;
/// Bytes that stay free between code that is coupled to the core and the statics behind it.
const SPARE_COUPLED: u64 = 64;

#[test]
fn the_firmware_fits_with_room_to_spare() {
    for board in emulated::with_small(emulated::boards()) {
        let elf = emulated::firmware(&board).unwrap();
        let image = FirmwareImage::new(&elf, &[], &board).unwrap();
        let kept = board.firmware.as_ref().unwrap().flash_bytes.0;
        let left = kept - u64::from(image.firmware_bytes);
        assert!(
            left >= SPARE_FLASH,
            "{}: {left} of {kept} bytes of flash left for firmware; raise `flash_bytes` or `small_flash_bytes` in its \
             file in boards/",
            board.id
        );
        let file = object::File::parse(elf.as_slice()).unwrap();
        let is_static = |kind| matches!(kind, SectionKind::Data | SectionKind::UninitializedData);
        let statics: u64 =
            file.sections().filter(|s| is_static(s.kind())).map(|section| section.size()).sum();
        assert!(statics > 0, "{}: no statics found", board.id);
        assert!(
            statics + SPARE_STATICS <= STATICS,
            "{}: {statics} of {STATICS} bytes of statics; raise STATICS_BYTES in \
             firmware/boards/board_file.rs, which shortens the stack or coupled code",
            board.id
        );
        let coupled = file.section_by_name(".coupled").map(|code| code.address() + code.size());
        let behind = file.section_by_name(".data").map_or(0, |data| data.address());
        assert!(
            coupled.is_none_or(|end| end + SPARE_COUPLED <= behind),
            "{}: coupled code ends at {coupled:x?}, statics begin at {behind:#x}; shorten COUPLED in \
             firmware/boards/board_file.rs",
            board.id
        );
    }
}
