//! A plan image with its stores, validated for a board.

use std::sync::Arc;
use tilewright_report::sentence;

use self_cell::self_cell;
use tilewright_board::Board;
use tilewright_check::reference::inputs_of_frames;
use tilewright_model::{DType, Quantisation, Shape, Tensor};
use tilewright_plan::image::input_views;
use tilewright_plan::image::{
    AlignedBytes, Expected, IoRecord, STORE_ALIGNMENT, StoreError, StoreHeader,
};
use tilewright_plan::{PlanImage, Space, View};

use crate::files;
use crate::result::main_entry;
use crate::run::bytes_of;
use tilewright_report::{Blame, Diagnostic};

self_cell! {
    /// Bytes with what was read in them.
    struct Read {
        owner: AlignedBytes,

        #[covariant]
        dependent: PlanImage,
    }

    impl {Debug}
}

/// A plan image that has been validated for a board, once.
#[derive(Debug)]
pub struct PlanFile {
    read: Read,
    /// The store image of external flash; empty if there is none.
    external_flash: Vec<u8>,
    /// The store image of a card; empty if there is none.
    card: Arc<Vec<u8>>,
}

/// The first bytes of a store image, or all.
#[derive(Clone, Copy, Debug)]
pub struct StoreStart<'s> {
    /// The bytes: at least [`PlanFile::STORE_HEAD`], if there are so many.
    pub bytes: &'s [u8],
    /// Length of the whole.
    pub of: u64,
}

impl<'s> StoreStart<'s> {
    /// All of them.
    #[must_use]
    pub const fn whole(bytes: &'s [u8]) -> Self {
        Self { bytes, of: bytes.len() as u64 }
    }
}

impl PlanFile {
    /// Validates a copy of `bytes`; bytes behind the image are of no meaning.
    ///
    /// # Errors
    /// [`Blame::BadInput`] with what the image's reader says.
    pub fn read(bytes: &[u8], board: &Board) -> Result<Self, Diagnostic> {
        let expected = Expected { board: &board.id, space_bytes: board.space_bytes() };
        let read = Read::try_new(AlignedBytes::copy_of(bytes), |bytes| {
            PlanImage::read(bytes.bytes(), &expected)
        });
        let read = read.map_err(|error| {
            Diagnostic::new(
                Blame::BadInput,
                sentence(&error.to_string()),
                "plan image",
                "Plan the model again with this version of Tilewright, for this board.",
            )
        })?;
        Ok(Self { read, external_flash: Vec::new(), card: Arc::default() })
    }

    /// The same with its store images of external flash and of a card.
    #[must_use]
    pub fn with_stores(self, external_flash: Vec<u8>, card: Vec<u8>) -> Self {
        Self { external_flash, card: Arc::new(card), ..self }
    }

    /// The same with store images that somebody brings: each is held against the plan image, its
    /// checksums too.
    ///
    /// # Errors
    /// [`Blame::BadInput`] if one is missing, belongs to another plan image, is damaged, or if the
    /// plan image uses no such memory.
    pub fn with_brought_stores(
        self,
        external_flash: Option<Vec<u8>>,
        card: Option<Vec<u8>>,
    ) -> Result<Self, Diagnostic> {
        let (flash, sd) = (external_flash.as_deref(), card.as_deref());
        self.check_stores(flash.map(StoreStart::whole), sd.map(StoreStart::whole))?;
        Ok(self.with_stores(external_flash.unwrap_or_default(), card.unwrap_or_default()))
    }

    /// Bytes at the start of a store image that say what it is.
    pub const STORE_HEAD: usize = STORE_ALIGNMENT;

    /// Holds what is at hand of the store images that somebody brings against the plan image.
    ///
    /// # Errors
    /// [`Blame::BadInput`] if one is missing, cut short, belongs to another plan image, or if the plan
    /// image uses no such memory.
    pub fn check_stores(
        &self,
        external_flash: Option<StoreStart<'_>>,
        card: Option<StoreStart<'_>>,
    ) -> Result<(), Diagnostic> {
        let card = (Space::Card, "card", card);
        for (space, part, store) in [(Space::ExternalFlash, "external_flash", external_flash), card]
        {
            check_store(self.image(), space, part, store)?;
        }
        Ok(())
    }

    /// The store image of a card; empty if there is none.
    #[must_use]
    pub fn card(&self) -> &[u8] {
        &self.card
    }

    /// The same, to be shared.
    pub(super) const fn card_image(&self) -> &Arc<Vec<u8>> {
        &self.card
    }

    /// The store image of external flash; empty if there is none.
    #[must_use]
    pub fn external_flash(&self) -> &[u8] {
        &self.external_flash
    }

    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        let bytes = self.read.borrow_owner().bytes();
        &bytes[..bytes.len().min(self.image().image_bytes() as usize)]
    }

    /// The image, read in place.
    #[must_use]
    pub fn image(&self) -> &PlanImage<'_> {
        self.read.borrow_dependent()
    }

    /// An input file as the int8 bytes of all inputs of the program, one behind the other. For a
    /// program with one input the file may be a PNG picture or a .npy array as well. For one of several
    /// frames it may hold the inputs of all, or of one, from which [others](inputs_of_frames) are made.
    ///
    /// # Errors
    /// [`Blame::BadInput`] if the file is none of these or has another size than the inputs.
    pub fn payload(&self, name: &str, bytes: &[u8]) -> Result<Vec<u8>, Diagnostic> {
        let (image, frames) = (self.image(), self.frames());
        let all = inputs(image);
        let views = input_views(image);
        if frames > 1 && bytes.len() as u64 == elements(&views) {
            return Ok(bytes.to_vec());
        }
        let records = &all[..all.len() / usize::from(frames)];
        let tensors: Vec<Tensor> = records
            .iter()
            .zip(&views)
            .map(|(record, view)| Tensor {
                name: image.name(record.name).to_owned(),
                shape: Shape::new([1, view.h.into(), view.w.into(), view.c as usize]),
                dtype: DType::I8,
                quantisation: Some(Quantisation::per_tensor(
                    f32::from_bits(record.scale_bits),
                    record.zero.into(),
                )),
                source: None,
            })
            .collect();
        Ok(bytes_of(&inputs_of_frames(&files::inputs(name, bytes, &tensors, None)?, frames)))
    }

    /// The same of int8 bytes only: the inputs of all frames, or of one.
    ///
    /// # Errors
    /// [`Blame::BadInput`] if there are more or fewer.
    pub fn int8_payload(&self, name: &str, bytes: &[u8]) -> Result<Vec<u8>, Diagnostic> {
        let frames = self.frames();
        let views = input_views(self.image());
        if frames > 1 && bytes.len() as u64 == elements(&views) {
            return Ok(bytes.to_vec());
        }
        let of_one = views.iter().take(views.len() / usize::from(frames.max(1)));
        let lengths: Vec<usize> = of_one.map(|view| view.elements() as usize).collect();
        Ok(bytes_of(&inputs_of_frames(&files::int8_inputs(name, bytes, &lengths)?, frames)))
    }

    /// Frames of the program.
    #[must_use]
    pub fn frames(&self) -> u16 {
        main_entry(self.image()).map_or(1, |entry| entry.frames)
    }
}

fn elements(views: &[View]) -> u64 {
    views.iter().map(View::elements).sum()
}

/// The inputs of an image's program.
pub(super) fn inputs<'i>(image: &PlanImage<'i>) -> &'i [IoRecord] {
    main_entry(image).map_or(&[], |entry| image.entry_inputs(entry))
}

/// Whether a store image, a part of an upload, is what `image` needs for `space`; its checksums are
/// looked at if all of it is there.
fn check_store(
    image: &PlanImage<'_>,
    space: Space,
    part: &str,
    store: Option<StoreStart<'_>>,
) -> Result<(), Diagnostic> {
    let wrong = |error: &str, what: &str| Err(Diagnostic::new(Blame::BadInput, error, part, what));
    match (store, image.space_bytes(space) > 0) {
        (None, false) => Ok(()),
        (Some(_), false) => {
            let error = "The plan image uses no such memory, but a store image for it came.";
            wrong(error, "Leave the part out, or add it to its own plan image.")
        }
        (None, true) => {
            let error = "The plan image keeps weights in a store image, which did not come.";
            wrong(error, "Add it as a part: `tilewright image` writes it, as does the page.")
        }
        (Some(StoreStart { bytes, of: had }), true) => {
            let bad = |error| bad_store(part, error);
            let header = StoreHeader::read(bytes, image, space).map_err(bad)?;
            let ends = header.table.iter().map(|s| u64::from(s.offset) + u64::from(s.bytes));
            let needed = ends.max().unwrap_or(0);
            if had < needed {
                return Err(bad(StoreError::Truncated { needed, had }));
            }
            if had == bytes.len() as u64 { header.verify(bytes).map_err(bad) } else { Ok(()) }
        }
    }
}

fn bad_store(part: &str, error: StoreError) -> Diagnostic {
    let what_to_do = "Bring the store image that was made together with this plan image.";
    Diagnostic::new(Blame::BadInput, sentence(&error.to_string()), part, what_to_do)
}
