//! `tilewright board list`.

use std::path::Path;

use serde::Serialize;
use tilewright_app::Diagnostic;

use crate::Said;
use crate::commands::json;
use crate::desk::drives::{Drive, drives};
use crate::desk::ports::{likely, ports};
use crate::desk::tools::{self, TOOLS};
use crate::desk::usb::{UsbView, probes};
use crate::text::{DIM, Side, Table};

/// A serial port.
#[derive(Debug, Serialize)]
struct PortView {
    path: String,
    usb: Option<UsbView>,
    /// Boards that it may lead to.
    boards: Vec<String>,
    /// Whether it leads to that board, as its drive says.
    is_sure: bool,
}

/// A probe, or a board that waits for an image.
#[derive(Debug, Serialize)]
struct ProbeView {
    #[serde(flatten)]
    usb: UsbView,
    boards: Vec<String>,
    is_sure: bool,
}

/// A drive of a board.
#[derive(Debug, Serialize)]
struct DriveView {
    path: String,
    board: Option<String>,
}

/// A program that writes images.
#[derive(Debug, Serialize)]
struct ToolView {
    name: &'static str,
    path: Option<String>,
}

/// What is on the desk.
#[derive(Debug, Serialize)]
struct Desk {
    ports: Vec<PortView>,
    probes: Vec<ProbeView>,
    drives: Vec<DriveView>,
    tools: Vec<ToolView>,
}

fn look() -> Desk {
    let (boards, drives) = (tilewright_board::all(), drives());
    let port = |port: crate::desk::ports::SerialPort| {
        let likely = port.usb.as_ref().map(|usb| likely(usb, &drives, &boards));
        PortView {
            path: port.path.display().to_string(),
            usb: port.usb.as_ref().map(UsbView::of),
            is_sure: likely.as_ref().is_some_and(|likely| likely.is_sure),
            boards: likely.map_or(Vec::new(), |likely| likely.boards),
        }
    };
    let probe = |usb: crate::desk::usb::Usb| {
        let likely = likely(&usb, &drives, &boards);
        ProbeView { usb: UsbView::of(&usb), boards: likely.boards, is_sure: likely.is_sure }
    };
    let drive = |Drive { folder, board, .. }: &Drive| DriveView {
        path: folder.display().to_string(),
        board: board.clone(),
    };
    let tool = |name| {
        let path = tools::find(name).map(|path| path.display().to_string());
        ToolView { name, path }
    };
    Desk {
        ports: ports().into_iter().map(port).collect(),
        probes: probes(Path::new("/sys")).into_iter().map(probe).collect(),
        drives: drives.iter().map(drive).collect(),
        tools: TOOLS.map(tool).into(),
    }
}

/// Lists what is on the desk.
pub fn list(as_json: bool) -> Result<Said, Diagnostic> {
    let desk = look();
    if as_json {
        return Ok(Said::well(json(&desk)?));
    }
    Ok(Said::well(text(&desk)))
}

fn boards(boards: &[String], is_sure: bool) -> String {
    crate::desk::ports::Likely { boards: boards.to_vec(), is_sure }.words()
}

fn text(desk: &Desk) -> String {
    let mut text = String::new();
    let nothing = |what: &str| format!("  {DIM}{what}{DIM:#}\n");
    let usb_words = |usb: &UsbView| {
        let name = usb.what.or(usb.name.as_deref()).unwrap_or_default();
        format!("{name} {}:{}", usb.vendor_id, usb.product_id).trim().to_owned()
    };
    if desk.ports.is_empty() {
        text += &nothing("no serial port: plug the board in at its ST-LINK's socket");
    } else {
        let mut table =
            Table::new(&[("port", Side::Left), ("of", Side::Left), ("board", Side::Left)]);
        for port in &desk.ports {
            let usb = port.usb.as_ref().map(usb_words).unwrap_or_default();
            table.row([port.path.clone(), usb, boards(&port.boards, port.is_sure)]);
        }
        text += &table.print();
    }
    text.push('\n');
    if desk.probes.is_empty() {
        text += &nothing("no probe on USB (looked for on Linux alone)");
    } else {
        let mut table =
            Table::new(&[("probe", Side::Left), ("serial", Side::Left), ("board", Side::Left)]);
        for probe in &desk.probes {
            let serial = probe.usb.serial.clone().unwrap_or_default();
            table.row([usb_words(&probe.usb), serial, boards(&probe.boards, probe.is_sure)]);
        }
        text += &table.print();
    }
    text.push('\n');
    if desk.drives.is_empty() {
        text += &nothing("no board's drive is mounted");
    } else {
        let mut table = Table::new(&[("drive", Side::Left), ("board", Side::Left)]);
        for drive in &desk.drives {
            let board = drive.board.clone().unwrap_or_else(|| "another board".to_owned());
            table.row([drive.path.clone(), board]);
        }
        text += &table.print();
    }
    text.push('\n');
    let mut table = Table::new(&[("tool", Side::Left), ("where", Side::Left)]);
    for tool in &desk.tools {
        let path = tool.path.clone().unwrap_or_else(|| "not in PATH".to_owned());
        table.row([tool.name.to_owned(), path]);
    }
    text + &table.print()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_desk_says_what_to_do() {
        let tools = vec![ToolView { name: "probe-rs", path: None }];
        let desk = Desk { ports: vec![], probes: vec![], drives: vec![], tools };
        let text = text(&desk);
        for said in ["plug the board in", "no probe", "no board's drive", "not in PATH"] {
            assert!(text.contains(said), "{said}: {text}");
        }
    }

    #[test]
    fn a_board_is_told_as_sure_only_if_its_drive_says_so() {
        let port = |is_sure| PortView {
            path: "/dev/ttyACM0".into(),
            usb: None,
            boards: vec!["nucleo-f767zi".into()],
            is_sure,
        };
        let drives = vec![DriveView { path: "/media/X".into(), board: None }];
        let desk =
            Desk { ports: vec![port(true), port(false)], probes: vec![], drives, tools: vec![] };
        let text = text(&desk);
        assert!(
            text.contains("  nucleo-f767zi\n") && text.contains("perhaps nucleo-f767zi"),
            "{text}"
        );
        assert!(text.contains("another board"), "{text}");
    }
}
