//! What is done about wrong bytes from a card.

use std::borrow::Cow;

use tilewright_plan::Plan;
use tilewright_plan::sums::Summed;

/// What is done about wrong bytes from a card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Integrity {
    /// The card's own correction is trusted.
    #[default]
    Trusted,
    /// What copies bring is compared with checksums: those of the store image in the plan image, those of
    /// what programs write in the arena.
    Checked,
}

impl Integrity {
    /// A plan as it runs then. Plans name no checksums of the store image, which are known with the image.
    pub fn in_run(self, plan: &Plan) -> Cow<'_, Plan> {
        match self {
            Self::Trusted => Cow::Borrowed(plan),
            Self::Checked => Cow::Owned(Summed::of(plan).plan),
        }
    }
}
