//! Devices on USB, and what is known of them.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

/// A device on USB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usb {
    pub vendor: u16,
    pub product: u16,
    /// Its own number.
    pub serial: Option<String>,
    /// What it calls itself.
    pub name: Option<String>,
    /// Where the system keeps it.
    folder: PathBuf,
}

/// The same for reports.
#[derive(Debug, Serialize)]
pub struct UsbView {
    pub vendor_id: String,
    pub product_id: String,
    pub serial: Option<String>,
    pub name: Option<String>,
    /// What it is, if that is known here.
    pub what: Option<&'static str>,
}

impl UsbView {
    /// Of a device.
    #[must_use]
    pub fn of(usb: &Usb) -> Self {
        Self {
            vendor_id: format!("{:04x}", usb.vendor),
            product_id: format!("{:04x}", usb.product),
            serial: usb.serial.clone(),
            name: usb.name.clone(),
            what: usb.what(),
        }
    }
}

const ST: u16 = 0x0483;
const SEGGER: u16 = 0x1366;
const RASPBERRY_PI: u16 = 0x2e8a;
const ARM: u16 = 0x0d28;

/// Products that are told apart (ST's UM2448 and st-link's list; Raspberry Pi's usb-pid repository).
const PRODUCTS: [(u16, u16, &str); 14] = [
    (ST, 0x3744, "ST-LINK/V1"),
    (ST, 0x3748, "ST-LINK/V2"),
    (ST, 0x374b, "ST-LINK/V2-1"),
    (ST, 0x3752, "ST-LINK/V2-1 without drive"),
    (ST, 0x374d, "ST-LINK/V3 that waits for its firmware"),
    (ST, 0x374e, "ST-LINK/V3"),
    (ST, 0x374f, "ST-LINK/V3"),
    (ST, 0x3753, "ST-LINK/V3 with two ports"),
    (ST, 0x3754, "ST-LINK/V3 without drive"),
    (ST, 0x3757, "ST-LINK/V3 of a board"),
    (RASPBERRY_PI, 0x000c, "Debug Probe (CMSIS-DAP)"),
    (RASPBERRY_PI, 0x0003, "RP2040 in BOOTSEL mode"),
    (RASPBERRY_PI, 0x000f, "RP2350 in BOOTSEL mode"),
    (ARM, 0x0204, "DAPLink (CMSIS-DAP)"),
];

impl Usb {
    /// What it is: a probe, or a board that waits for an image. Nothing for any other device.
    #[must_use]
    pub fn what(&self) -> Option<&'static str> {
        let is_this = |known: &&(u16, u16, &str)| (known.0, known.1) == (self.vendor, self.product);
        if let Some((.., what)) = PRODUCTS.iter().find(is_this) {
            return Some(what);
        }
        if self.vendor == SEGGER {
            return Some("J-Link");
        }
        let name = self.name.as_deref().unwrap_or_default();
        name.contains("CMSIS-DAP").then_some("CMSIS-DAP")
    }

    /// Whether it is an ST-LINK, which boards of this project have on them.
    #[must_use]
    pub fn is_st_link(&self) -> bool {
        self.vendor == ST && self.what().is_some()
    }

    /// Whether both are one device.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        self.folder == other.folder
    }

    /// The device whose part a folder of the system's tree of devices is.
    pub fn above(folder: &Path) -> Option<Self> {
        let real = folder.canonicalize().ok()?;
        real.ancestors().find_map(Self::in_folder)
    }

    /// The device that a folder describes.
    fn in_folder(folder: &Path) -> Option<Self> {
        let text = |name: &str| fs::read_to_string(folder.join(name)).ok();
        let number = |name: &str| u16::from_str_radix(text(name)?.trim(), 16).ok();
        let line = |name: &str| text(name).map(|text| text.trim().to_owned());
        Some(Self {
            vendor: number("idVendor")?,
            product: number("idProduct")?,
            serial: line("serial"),
            name: line("product"),
            folder: folder.to_owned(),
        })
    }
}

/// Probes, and boards that wait for an image, below `/sys`.
#[must_use]
pub fn probes(sys: &Path) -> Vec<Usb> {
    let devices = fs::read_dir(sys.join("bus/usb/devices")).into_iter().flatten().flatten();
    let mut probes: Vec<Usb> = devices
        .filter_map(|device| Usb::in_folder(&device.path().canonicalize().ok()?))
        .filter(|device| device.what().is_some())
        .collect();
    probes.sort_by(|one, other| one.folder.cmp(&other.folder));
    probes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(vendor: u16, product: u16, name: Option<&str>) -> Usb {
        let (serial, folder) = (None, PathBuf::new());
        Usb { vendor, product, serial, name: name.map(str::to_owned), folder }
    }

    #[test]
    fn probes_are_known_by_their_numbers() {
        let what = |vendor, product| device(vendor, product, None).what();
        assert_eq!(what(0x0483, 0x374b), Some("ST-LINK/V2-1"));
        assert_eq!(what(0x0483, 0x5740), None, "any STM32's own port");
        assert_eq!(what(0x1366, 0x0105), Some("J-Link"));
        assert_eq!(what(0x2e8a, 0x000c), Some("Debug Probe (CMSIS-DAP)"));
        assert_eq!(what(0x2e8a, 0x0003), Some("RP2040 in BOOTSEL mode"));
        let other = device(0x1234, 1, Some("Somebody's CMSIS-DAP v2"));
        assert_eq!((other.what(), other.is_st_link()), (Some("CMSIS-DAP"), false));
    }

    #[test]
    #[cfg(unix)]
    fn a_port_is_found_to_be_a_part_of_its_device() {
        let folder = tempfile::tempdir().unwrap();
        let sys = folder.path();
        let device = sys.join("devices/usb1/1-4");
        fs::create_dir_all(device.join("1-4:1.2/tty/ttyACM0")).unwrap();
        for (name, text) in [("idVendor", "0483\n"), ("idProduct", "374b\n"), ("serial", "0670\n")]
        {
            fs::write(device.join(name), text).unwrap();
        }
        fs::create_dir_all(sys.join("bus/usb/devices")).unwrap();
        std::os::unix::fs::symlink(&device, sys.join("bus/usb/devices/1-4")).unwrap();
        let usb = Usb::above(&device.join("1-4:1.2/tty/ttyACM0")).unwrap();
        assert_eq!(
            (usb.vendor, usb.product, usb.serial.as_deref()),
            (0x0483, 0x374b, Some("0670"))
        );
        let probes = probes(sys);
        assert!(probes.len() == 1 && probes[0].is(&usb));
        assert_eq!(Usb::above(sys), None);
    }
}
