//! Plan images and firmware images.
//!
//! [`plan_image`] turns a plan and its model into the bytes that firmware reads in place.
//! [`FirmwareImage`] joins them with the firmware of a board: the very bytes that the emulator
//! runs and that are downloaded. [`StoreImage`] is what lies in external flash or on a card beside
//! it.

#![warn(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_possible_wrap)]

mod copy_checksums;
mod firmware;
mod placing;
mod plan;
mod read;
mod sealed;
mod store;
mod uf2;
mod weighted;

pub use copy_checksums::Checks;
pub use firmware::{FirmwareError, FirmwareImage};
pub use placing::{INPUT, ImageFile, how_to_place, image_files, sample_input};
pub use plan::{ImageBuildError, plan_image};
pub use read::{ImageForm, ReadImage, ReadImageError};
pub use store::{
    Images, StoreImage, checked_images, checked_plan_image, images, sealed_images,
    sealed_plan_image, store_bytes, stores,
};

/// So many bytes, as memory counts them; what no memory holds becomes the largest number.
fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
