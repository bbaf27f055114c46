//! What is done about wrong bytes from a card, and about those who read it.

use std::borrow::Cow;

use tilewright_plan::Plan;
use tilewright_plan::copy_checksums::ChecksummedPlan;

/// What is done about wrong bytes from a card, and about those who read it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Integrity {
    /// The card's own correction is trusted.
    #[default]
    Trusted,
    /// What copies bring is compared with checksums: those of the store image in the plan image, those of
    /// what programs write in the arena.
    Checked,
    /// What is swapped is encrypted, with tags where checksums would lie.
    Sealed,
}

impl Integrity {
    /// Whether the firmware keeps something of each sector that programs write.
    #[must_use]
    pub const fn keeps(self) -> bool {
        !matches!(self, Self::Trusted)
    }

    /// A plan as it runs then. Plans name no checksums of the store image, which are known with the image.
    pub fn in_run(self, plan: &Plan) -> Cow<'_, Plan> {
        if self.keeps() { Cow::Owned(ChecksummedPlan::of(plan).plan) } else { Cow::Borrowed(plan) }
    }
}
