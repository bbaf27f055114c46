use super::*;

fn desk() -> Desk {
    tilewright_board::find("stm32f746g-disco").unwrap().desk.unwrap()
}

fn drive(folder: &str, board: Option<&str>) -> Drive {
    Drive { folder: folder.into(), board: board.map(str::to_owned), usb: None }
}

/// What is done with these things at hand.
fn chosen(
    form: ImageForm,
    with: Option<Writer>,
    probe: Option<&str>,
    found: &Found,
) -> Result<Vec<String>, String> {
    let path = match form {
        ImageForm::Elf => Path::new("out/a net.elf"),
        ImageForm::Bin => Path::new("out/net.bin"),
    };
    let on_drive = Some(Path::new("out/net.bin"));
    let file = Written { path, form, address: 0x0800_0000, on_drive };
    let wish = Flashing { with, probe: probe.map(str::to_owned) };
    choose(&file, &desk(), "stm32f746g-disco", &wish, found)
        .map(|way| match way {
            Way::Tool { write, reset } => vec![typed(&write), typed(&reset)],
            Way::Copy { file, drive } => vec![format!("{} to {}", file.display(), drive.display())],
        })
        .map_err(|problem| problem.what)
}

#[test]
fn the_first_tool_that_is_there_is_taken() {
    let all = Found { probe_rs: true, cube: true, drives: vec![], probes: vec![] };
    assert_eq!(
        chosen(ImageForm::Elf, None, None, &all).unwrap(),
        [
            "probe-rs download --chip STM32F746NGHx 'out/a net.elf'",
            "probe-rs reset --chip STM32F746NGHx"
        ]
    );
    let cube = Found { probe_rs: false, ..all };
    assert_eq!(
        chosen(ImageForm::Bin, None, Some("0670"), &cube).unwrap(),
        [
            "STM32_Programmer_CLI -c port=SWD sn=0670 -w out/net.bin 0x08000000 -v",
            "STM32_Programmer_CLI -c port=SWD sn=0670 -rst"
        ]
    );
    let drives = vec![drive("/media/DIS_F746NG", Some("stm32f746g-disco"))];
    let drives = Found { probe_rs: false, cube: false, drives, probes: vec![] };
    assert_eq!(
        chosen(ImageForm::Elf, None, None, &drives).unwrap(),
        ["out/net.bin to /media/DIS_F746NG"]
    );
    let none = Found { probe_rs: false, cube: false, drives: vec![], probes: vec![] };
    assert!(chosen(ImageForm::Elf, None, None, &none).unwrap_err().contains("neither"));
}

#[test]
fn a_tool_that_was_asked_for_must_be_there() {
    let drives = vec![drive("/media/DIS_F469NI", Some("stm32f469i-disco"))];
    let found = Found { probe_rs: false, cube: true, drives, probes: vec![] };
    let error = |with| chosen(ImageForm::Elf, Some(with), None, &found).unwrap_err();
    assert!(error(Writer::ProbeRs).contains("not in PATH"));
    assert!(error(Writer::Drive).contains("another board's"), "{}", error(Writer::Drive));
    assert!(chosen(ImageForm::Elf, Some(Writer::Cube), None, &found).is_ok());
    let probe = Found { probe_rs: true, ..found };
    let lines = chosen(ImageForm::Bin, Some(Writer::ProbeRs), Some("1366:0105:7"), &probe).unwrap();
    assert_eq!(
        lines[0],
        "probe-rs download --chip STM32F746NGHx --probe 1366:0105:7 --binary-format bin --base-address \
         0x08000000 out/net.bin"
    );
}

#[test]
fn a_probe_is_named_as_its_tool_wants() {
    assert_eq!(selector("0670", &[]), "0483:374b:0670");
    assert_eq!(selector("0483:374e:0670", &[]), "0483:374e:0670");
}

#[test]
fn two_drives_of_one_board_ask_for_a_name() {
    let drives = ["/a", "/b"].map(|folder| drive(folder, Some("stm32f746g-disco"))).to_vec();
    let found = Found { probe_rs: false, cube: false, drives, probes: vec![] };
    assert!(chosen(ImageForm::Elf, None, None, &found).unwrap_err().contains("Several"));
}

#[test]
fn a_copy_fails_if_the_drive_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("net.bin");
    fs::write(&file, "image").unwrap();
    let drive = folder.path().join("drive");
    fs::create_dir(&drive).unwrap();
    let cancel = Cancel::default();
    let (copy, said) = (drive.join("net.bin"), drive.join("FAIL.TXT"));
    let board = thread::spawn(move || {
        while !copy.is_file() {
            thread::sleep(Duration::from_millis(5));
        }
        fs::write(said, "The interface firmware FAILED to reset/halt the target MCU").unwrap();
    });
    let problem = copy_onto(&file, &drive, &cancel).unwrap_err();
    board.join().unwrap();
    assert!(problem.what.contains("FAILED to reset"), "{problem}");
}

#[test]
fn a_board_of_another_maker_is_written_by_its_drive_or_probe_rs() {
    let desk = tilewright_board::find("pico-2").unwrap().desk.unwrap();
    let path = Path::new("out/net.elf");
    let on_drive = Some(Path::new("out/net.uf2"));
    let file = Written { path, form: ImageForm::Elf, address: 0x1000_0000, on_drive };
    let with = |with, found: &Found| {
        let wish = Flashing { with, probe: None };
        choose(&file, &desk, "pico-2", &wish, found).map_err(|problem| problem.what)
    };
    let cube = Found { probe_rs: false, cube: true, drives: vec![], probes: vec![] };
    assert!(with(Some(Writer::Cube), &cube).unwrap_err().contains("an STM32 alone"));
    assert!(with(None, &cube).unwrap_err().contains("probe-rs is not in PATH"));
    let drives = vec![drive("/media/RP2350", Some("pico-2"))];
    let copy = Way::Copy { file: "out/net.uf2".into(), drive: "/media/RP2350".into() };
    assert_eq!(with(None, &Found { drives, ..cube }), Ok(copy));
}
