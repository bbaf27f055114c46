//! The card that a run has in its slot, and what goes wrong with it on request.

use std::fmt;
use std::mem::offset_of;
use std::str::FromStr;
use std::sync::Arc;

use tilewright_board::Board;
use tilewright_plan::image::{CRC, StoreHeader};
use tilewright_protocol::{CardFault, CardJob, CardProblem};

use crate::plan_file::PlanFile;
use crate::run::RunOptions;
use tilewright_report::{Blame, Diagnostic};

/// Bytes of the smallest card of high capacity: sizes count in 1024 sectors (SD Physical Layer
/// Simplified Specification 6.00, 5.3.3).
const SMALLEST: u64 = 1024 * 512;
/// A busy time that is slow, and none that the firmware gives up: it waits for half a second.
const SLOW_NS: u64 = 300_000_000;
/// Where the store image's header holds its own CRC-32.
const HEADER_CRC: usize = offset_of!(StoreHeader, header_crc);

/// What can go wrong with a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CardTrouble {
    /// There is none.
    Empty,
    /// It is the smallest that there is, and smaller than what the plan uses.
    TooSmall,
    /// It holds another plan's image.
    OtherImage,
    /// Something goes wrong with a transfer.
    Transfer(CardProblem),
}

/// All kinds with their names and what they are.
const KINDS: [(&str, CardTrouble, &str); 14] = [
    ("removed", of(CardProblem::Removed), "gone from that transfer on"),
    ("read-error", of(CardProblem::Silent), "no data, or none taken"),
    ("crc-error", of(CardProblem::Checksum), "data with a wrong checksum on the wires"),
    ("garbled", of(CardProblem::Garbled { bit: 3 }), "one bit wrong, once, and nobody notices"),
    ("flipped-bit", of(CardProblem::Turned { bit: 3 }), "one bit wrong on the card from then on"),
    ("lost-write", of(CardProblem::Lost), "a write that leaves what was there, and nobody notices"),
    (
        "astray",
        of(CardProblem::Astray { sectors: 1 }),
        "the sectors one further, and nobody notices",
    ),
    ("stuck-busy", of(CardProblem::Busy { ns: u64::MAX }), "a write that never ends"),
    ("slow-write", of(CardProblem::Busy { ns: SLOW_NS }), "a write that takes 300 ms more"),
    ("unheard", of(CardProblem::Unheard), "no answer to command N, which the card does not hear"),
    ("bad-answer", of(CardProblem::Answer), "the answer to command N with a wrong checksum"),
    ("too-small", CardTrouble::TooSmall, "fewer sectors than the plan uses"),
    ("other-image", CardTrouble::OtherImage, "the image of another plan"),
    ("empty", CardTrouble::Empty, "no card in the slot"),
];

const fn of(problem: CardProblem) -> CardTrouble {
    CardTrouble::Transfer(problem)
}

/// What goes wrong with the card of a run, and when: `KIND`, `KIND@N` or `KIND@N/M`, at transfer N
/// since reset and each M transfers after it; of what goes wrong with commands, N and M count these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CardWish {
    /// What.
    pub trouble: CardTrouble,
    /// Number of the transfer: 0 is the firmware's look at the store's header, 1 the program's first.
    pub transfer: u64,
    /// How many transfers later it goes wrong again; 0: never.
    pub every: u64,
}

/// Text that says nothing that can go wrong with a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownTrouble(String);

impl fmt::Display for UnknownTrouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is no KIND, KIND@N or KIND@N/M; kinds are", self.0)?;
        for (number, (name, _, what)) in KINDS.iter().enumerate() {
            write!(f, "{} {name} ({what})", if number == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownTrouble {}

impl FromStr for CardWish {
    type Err = UnknownTrouble;

    fn from_str(text: &str) -> Result<Self, UnknownTrouble> {
        let unknown = || UnknownTrouble(text.to_owned());
        let (name, when) = text.split_once('@').map_or((text, None), |(n, when)| (n, Some(when)));
        let kind = KINDS.iter().find(|(known, ..)| *known == name);
        let (_, trouble, _) = *kind.ok_or_else(unknown)?;
        let number = |digits: &str| digits.parse().map_err(|_| unknown());
        let (transfer, every) = match (when, trouble) {
            (None, _) => (1, 0),
            (Some(when), CardTrouble::Transfer(_)) => match when.split_once('/') {
                Some((first, every)) => (number(first)?, number(every)?),
                None => (number(when)?, 0),
            },
            (Some(_), _) => return Err(unknown()),
        };
        Ok(Self { trouble, transfer, every })
    }
}

/// The card that an image runs with; nothing if it uses none.
///
/// # Errors
/// If something is to go wrong with a card that the image does not use, or cannot.
pub fn card(
    options: &RunOptions<'_>,
    board: &Board,
    file: &PlanFile,
    used: u64,
) -> Result<Option<CardJob>, Diagnostic> {
    let refused = |error: &str, what_to_do: &str| {
        Err(Diagnostic::new(Blame::BadInput, error, "--card-fault", what_to_do))
    };
    let slot = board.slot.as_ref().filter(|_| !file.card().is_empty());
    let class = slot.and_then(|slot| {
        options.card.cloned().or_else(|| tilewright_board::find_card(&slot.card).ok())
    });
    let Some(class) = class else {
        if options.card_faults.is_empty() {
            return Ok(None);
        }
        return refused("The plan uses no card.", "Give `--strategy swap`.");
    };
    let mut job = CardJob {
        class: class.id,
        image: Arc::clone(file.card_image()),
        bytes: class.bytes.0,
        faults: Vec::new(),
    };
    for CardWish { trouble, transfer, every } in options.card_faults {
        match trouble {
            CardTrouble::Empty => return Ok(None),
            CardTrouble::TooSmall if used <= SMALLEST => {
                return refused(
                    "The plan uses no more than the smallest card has: 512 KiB.",
                    "Give a larger model.",
                );
            }
            CardTrouble::TooSmall => job.bytes = SMALLEST,
            CardTrouble::OtherImage => {
                if let Some(header) =
                    Arc::make_mut(&mut job.image).first_chunk_mut::<{ size_of::<StoreHeader>() }>()
                {
                    header[offset_of!(StoreHeader, plan_id)] ^= 0xff;
                    header[HEADER_CRC..HEADER_CRC + 4].fill(0);
                    let crc = CRC.checksum(header);
                    header[HEADER_CRC..HEADER_CRC + 4].copy_from_slice(&crc.to_le_bytes());
                }
            }
            CardTrouble::Transfer(problem) => {
                job.faults.push(CardFault { transfer: *transfer, every: *every, problem: *problem })
            }
        }
    }
    Ok(Some(job))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_have_a_kind_and_a_time() {
        let wish = |text: &str| text.parse::<CardWish>();
        let removed = CardTrouble::Transfer(CardProblem::Removed);
        assert_eq!(wish("removed"), Ok(CardWish { trouble: removed, transfer: 1, every: 0 }));
        assert_eq!(wish("removed@7"), Ok(CardWish { trouble: removed, transfer: 7, every: 0 }));
        let often = wish("read-error@0/1000").map(|wish| (wish.transfer, wish.every));
        assert_eq!(often, Ok((0, 1000)));
        assert_eq!(wish("empty").map(|wish| wish.trouble), Ok(CardTrouble::Empty));
        for wrong in ["", "lost", "removed@", "removed@x", "removed@1/", "empty@3"] {
            let told = wish(wrong).expect_err(wrong).to_string();
            assert!(told.contains("flipped-bit") && told.contains("too-small"), "{told}");
        }
    }
}
