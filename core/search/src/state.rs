//! A search as bytes.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::samples::Samples;
use crate::search::{Learning, Search, SearchError};
use crate::settings::Settings;

/// The bytes begin so. The digit counts the forms that there were.
const MAGIC: [u8; 8] = *b"TWSEARC1";

/// Why bytes are not the state of a search.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StateError {
    /// They are something else, or a part.
    #[error("the state is no whole state of a search")]
    Unreadable,
    /// It goes on with other images.
    #[error("the state belongs to a search with other images")]
    OtherSamples,
    /// It goes on otherwise.
    #[error("the state belongs to a search with other settings")]
    OtherSettings,
}

#[derive(Serialize)]
struct Written<'s> {
    magic: [u8; 8],
    settings: &'s Settings,
    samples: u64,
    learnt: &'s Learning,
}

#[derive(Deserialize)]
struct Read {
    magic: [u8; 8],
    settings: Settings,
    samples: u64,
    learnt: Learning,
}

impl Search {
    /// All that is needed to go on, but the samples.
    ///
    /// # Errors
    /// [`StateError::Unreadable`], if there is no memory for it.
    pub fn state(&self) -> Result<Vec<u8>, SearchError> {
        let written = Written {
            magic: MAGIC,
            settings: &self.settings,
            samples: self.samples().fingerprint(),
            learnt: &self.learnt,
        };
        postcard::to_allocvec(&written).map_err(|_| StateError::Unreadable.into())
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
        let read: Read = postcard::from_bytes(bytes).map_err(|_| StateError::Unreadable)?;
        if read.magic != MAGIC {
            return Err(StateError::Unreadable.into());
        }
        if read.settings != *settings {
            return Err(StateError::OtherSettings.into());
        }
        if read.samples != samples.fingerprint() {
            return Err(StateError::OtherSamples.into());
        }
        let mut search = Self::new(read.settings, samples)?;
        let (new, learnt) = (&search.learnt, read.learnt);
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
