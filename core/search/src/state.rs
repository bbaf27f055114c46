//! What was learnt, as bytes.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::samples::Samples;
use crate::search::{Learning, Search, SearchError};
use crate::settings::Settings;

/// The bytes begin so. The digit counts the forms that there were.
const MAGIC: [u8; 8] = *b"TWSEARC1";

/// Why bytes are not the state that is wanted.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StateError {
    /// They are something else, or a part.
    #[error("the file holds no whole state of this experiment")]
    Unreadable,
    /// It goes on with other images.
    #[error("the state belongs to other images")]
    OtherSamples,
    /// It goes on otherwise.
    #[error("the state belongs to other settings")]
    OtherSettings,
}

#[derive(Serialize)]
struct Written<'s, B, L> {
    magic: [u8; 8],
    begun: &'s B,
    samples: u64,
    learnt: &'s L,
}

#[derive(Deserialize)]
struct Read<B, L> {
    magic: [u8; 8],
    begun: B,
    samples: u64,
    learnt: L,
}

/// How something was begun, and what it has learnt from samples, as bytes.
pub(crate) fn kept(
    begun: &impl Serialize,
    samples: &Samples,
    learnt: &impl Serialize,
) -> Result<Vec<u8>, StateError> {
    let written = Written { magic: MAGIC, begun, samples: samples.fingerprint(), learnt };
    postcard::to_allocvec(&written).map_err(|_| StateError::Unreadable)
}

/// What [`kept`] kept, if it was begun so and had these samples.
pub(crate) fn read<B: DeserializeOwned + PartialEq, L: DeserializeOwned>(
    bytes: &[u8],
    begun: &B,
    samples: &Samples,
) -> Result<L, StateError> {
    let read: Read<B, L> = postcard::from_bytes(bytes).map_err(|_| StateError::Unreadable)?;
    if read.magic != MAGIC {
        return Err(StateError::Unreadable);
    }
    if read.begun != *begun {
        return Err(StateError::OtherSettings);
    }
    match read.samples == samples.fingerprint() {
        true => Ok(read.learnt),
        false => Err(StateError::OtherSamples),
    }
}

impl Search {
    /// All that is needed to go on, but the samples.
    ///
    /// # Errors
    /// [`StateError::Unreadable`], if there is no memory for it.
    pub fn state(&self) -> Result<Vec<u8>, SearchError> {
        Ok(kept(&self.settings, self.samples(), &self.learnt)?)
    }

    /// The search that these bytes are of, with the samples that it had.
    ///
    /// # Errors
    /// [`StateError`]; or what is impossible of the settings in it.
    pub fn resume(
        settings: &Settings,
        samples: Arc<Samples>,
        bytes: &[u8],
    ) -> Result<Self, SearchError> {
        let learnt: Learning = read(bytes, settings, &samples)?;
        let mut search = Self::new(settings.clone(), samples)?;
        let new = &search.learnt;
        let is_whole = learnt.weights.len() == new.weights.len()
            && learnt.descent.speed.len() == new.descent.speed.len()
            && learnt.adam.mean.len() == new.adam.mean.len()
            && learnt.adam.square.len() == new.adam.square.len()
            && learnt.architecture.is_whole(settings.cell_steps)
            && learnt.log.len() <= settings.steps;
        if !is_whole {
            return Err(StateError::Unreadable.into());
        }
        search.learnt = learnt;
        Ok(search)
    }
}
