//! Both engines do a job side by side, and are compared: before each block the core's registers, flags, instructions
//! and cycles; now and then all memories; every message and the result.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use tilewright_machine::{End, JobError, Seen, Sink, finish, open, prepare, reset};
use tilewright_machine::{Engine as _, Own};
use tilewright_protocol::{Finish, Job, Response};
use tilewright_report::{Fault, FaultKind};

use crate::engine::{self, Core};

/// Blocks that the one engine may be ahead of the other.
const AHEAD: usize = 64;
/// Blocks that are sent at once.
const TOGETHER: usize = 1 << 10;

/// What the own core says of its run.
enum Said {
    Blocks(Vec<Seen>),
    Message(Box<Response>),
    Finished(Box<Finish>),
}

/// Does a job on both; messages are those of Unicorn. The first difference is a fault of the result.
///
/// # Errors
/// [`JobError`] if it cannot be started.
pub fn run(job: &Job, mut sink: Sink) -> Result<Finish, JobError> {
    let (sender, said) = sync_channel(AHEAD);
    let other = job.clone();
    let own = thread::spawn(move || run_own(&other, &sender));
    let expected = Rc::new(RefCell::new(Expected::new(said)));
    let (board, firmware) = open(job)?;
    let messages = Rc::clone(&expected);
    let hears = Box::new(move |response: Response| {
        messages.borrow_mut().hears(&response);
        sink(response);
    });
    let mut machine = prepare(board, firmware, job, crate::clock(), hears)?;
    let blocks = Rc::clone(&expected);
    machine.observe(Box::new(move |seen| blocks.borrow_mut().sees(seen)));
    let mut uc = engine::set_up(machine).map_err(engine::failed)?;
    let mut core = Core(&mut uc);
    let start = reset(&mut core)?;
    let end = core.execute(start);
    let mut result = finish(&mut core, end);
    let difference = expected.borrow_mut().ends(&result);
    drop((uc, expected));
    let _ = own.join();
    if let Some(message) = difference {
        let fault = result.fault.get_or_insert_with(|| Fault {
            kind: FaultKind::Worker,
            message: String::new(),
            step: None,
            layer: None,
            layer_name: None,
            copy: None,
            registers: Vec::new(),
            last_blocks: Vec::new(),
        });
        (fault.kind, fault.message) = (FaultKind::Worker, message);
    }
    Ok(result)
}

/// Runs the job on the own core, and says all that is to be compared until nobody listens.
fn run_own(job: &Job, sender: &SyncSender<Said>) -> Result<(), JobError> {
    let unsent = Rc::new(RefCell::new(Vec::with_capacity(TOGETHER)));
    let (board, firmware) = open(job)?;
    let (blocks, messages) = (Rc::clone(&unsent), sender.clone());
    let says = Box::new(move |response: Response| {
        if goes_by_clock(&response) {
            return;
        }
        let before = std::mem::take(&mut *blocks.borrow_mut());
        let _ = messages.send(Said::Blocks(before));
        let _ = messages.send(Said::Message(Box::new(response)));
    });
    let mut machine = prepare(board, firmware, job, crate::clock(), says)?;
    let (blocks, seen_by) = (Rc::clone(&unsent), sender.clone());
    machine.observe(Box::new(move |seen| {
        let mut blocks = blocks.borrow_mut();
        blocks.push(seen);
        blocks.len() < TOGETHER || seen_by.send(Said::Blocks(std::mem::take(&mut *blocks))).is_ok()
    }));
    let mut own = Own::new(machine);
    let start = reset(&mut own)?;
    let end: End = own.execute(start);
    let result = finish(&mut own, end);
    let _ = sender.send(Said::Blocks(std::mem::take(&mut *unsent.borrow_mut())));
    let _ = sender.send(Said::Finished(Box::new(result)));
    Ok(())
}

/// What the own core has said, to be found on Unicorn too.
struct Expected {
    said: Receiver<Said>,
    blocks: std::vec::IntoIter<Seen>,
    number: u64,
    difference: Option<String>,
}

impl Expected {
    fn new(said: Receiver<Said>) -> Self {
        Self { said, blocks: Vec::new().into_iter(), number: 0, difference: None }
    }

    /// The next block of the own core; what it says instead if there is none.
    fn next(&mut self) -> Result<Seen, Option<Said>> {
        loop {
            if let Some(seen) = self.blocks.next() {
                return Ok(seen);
            }
            match self.said.recv() {
                Ok(Said::Blocks(blocks)) => self.blocks = blocks.into_iter(),
                Ok(other) => return Err(Some(other)),
                Err(_) => return Err(None),
            }
        }
    }

    fn sees(&mut self, unicorn: Seen) -> bool {
        if self.difference.is_some() {
            return false;
        }
        self.number += 1;
        let number = self.number;
        self.difference = match self.next() {
            Ok(own) if own == unicorn => None,
            Ok(own) => Some(format!(
                "the engines differ before block {number}: own {own:x?}, unicorn {unicorn:x?}"
            )),
            Err(said) => Some(format!(
                "the engines differ at block {number}: unicorn goes on at 0x{:08x}, the own core {}",
                unicorn.address,
                words(said.as_ref())
            )),
        };
        self.difference.is_none()
    }

    fn hears(&mut self, unicorn: &Response) {
        if self.difference.is_some() || goes_by_clock(unicorn) {
            return;
        }
        let number = self.number;
        self.difference = match self.next() {
            Err(Some(Said::Message(own))) if *own == *unicorn => None,
            Err(said) => Some(format!(
                "the engines differ behind block {number}: unicorn says {unicorn:?}, the own core {}",
                words(said.as_ref())
            )),
            Ok(seen) => Some(format!(
                "the engines differ behind block {number}: unicorn says {unicorn:?}, the own core goes on at 0x{:08x}",
                seen.address
            )),
        };
    }

    /// Compares the results; the first difference of all.
    fn ends(&mut self, unicorn: &Finish) -> Option<String> {
        if self.difference.is_some() {
            return self.difference.take();
        }
        match self.next() {
            Err(Some(Said::Finished(own))) => {
                let own = Finish { wall_ns: unicorn.wall_ns, ..*own };
                (own != *unicorn).then(|| {
                    format!("the engines' results differ: own {own:?}, unicorn {unicorn:?}")
                })
            }
            Err(said) => Some(format!("unicorn has ended, the own core {}", words(said.as_ref()))),
            Ok(seen) => {
                Some(format!("unicorn has ended, the own core goes on at 0x{:08x}", seen.address))
            }
        }
    }
}

/// Whether the host's clock says when a message comes.
const fn goes_by_clock(message: &Response) -> bool {
    matches!(message, Response::Progress { .. })
}

fn words(said: Option<&Said>) -> String {
    match said {
        Some(Said::Message(message)) => format!("says {message:?}"),
        Some(Said::Finished(finish)) => format!("has ended: {:?}", finish.fault),
        Some(Said::Blocks(_)) => "goes on".to_owned(),
        None => "is gone".to_owned(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    fn seen(address: u32) -> Seen {
        let registers = [address; 15];
        Seen { address, registers, xpsr: 0, instructions: 1, cycles: 2, memories: 0 }
    }

    fn expected(said: impl IntoIterator<Item = Said>) -> Expected {
        let (sender, receiver) = sync_channel(8);
        for said in said {
            sender.send(said).unwrap();
        }
        Expected::new(receiver)
    }

    #[test]
    fn blocks_that_differ_are_told_and_end_the_run() {
        let mut expected = expected([Said::Blocks(vec![seen(2), seen(4)])]);
        assert!(expected.sees(seen(2)));
        assert!(!expected.sees(Seen { cycles: 3, ..seen(4) }));
        let difference = expected.difference.unwrap();
        assert!(difference.contains("before block 2"), "{difference}");
    }

    #[test]
    fn messages_are_compared_where_they_come() {
        let console = |text: &str| Response::Console(text.into());
        let all = [Said::Blocks(vec![seen(2)]), Said::Message(Box::new(console("a")))];
        let mut at_its_place = expected(all);
        assert!(at_its_place.sees(seen(2)));
        at_its_place.hears(&Response::Progress { instructions: 1, step: None });
        at_its_place.hears(&console("a"));
        assert_eq!(at_its_place.difference, None);
        let mut early = expected([Said::Blocks(vec![seen(2)])]);
        early.hears(&console("a"));
        assert!(early.difference.unwrap().contains("goes on at 0x00000002"));
        let mut other = expected([Said::Message(Box::new(console("b")))]);
        other.hears(&console("a"));
        assert!(other.difference.is_some());
        let mut gone = expected([]);
        assert!(!gone.sees(seen(2)));
    }
}
