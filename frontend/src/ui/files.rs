//! Reading files that were dropped or chosen.

use js_sys::Uint8Array;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::FileList;
use yew::Callback;

use super::picture::as_png;
use super::sound::as_wav;
use crate::message::trouble;
use crate::session::link::text_of;
use crate::state::{FileKind, check_images, check_samples, sort_out};
use tilewright_report::Diagnostic;

/// What a file was given for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// What its ending says.
    Any,
    /// The model's input.
    Input,
    /// Samples to quantise on.
    Samples,
    /// Labelled images to search cells with.
    Images,
}

/// The purpose of files, and their names and bytes, or why they are not taken. Only samples and images come
/// several at once.
pub type Read = (Purpose, Result<Vec<(String, Uint8Array)>, Diagnostic>);

/// Reads files one after the other in the order in which they are taken, samples and images all together;
/// none, if they cannot be taken together or one is too large.
pub fn read_files(files: &FileList, purpose: Purpose, reader: &Callback<Read>) {
    let list: Vec<web_sys::File> = (0..files.length()).filter_map(|i| files.get(i)).collect();
    let known: Vec<(String, u64)> =
        list.iter().map(|file| (file.name(), file.size() as u64)).collect();
    let order = match purpose {
        Purpose::Samples => check_samples(&known).map(|()| (0..known.len()).collect()),
        Purpose::Images => check_images(&known).map(|()| (0..known.len()).collect()),
        Purpose::Any | Purpose::Input => sort_out(&known),
    };
    let order = match order {
        Ok(order) => order,
        Err(trouble) => return reader.emit((purpose, Err(trouble))),
    };
    let reader = reader.clone();
    spawn_local(async move {
        let mut together = Vec::new();
        for index in order {
            let Some(file) = list.get(index) else { continue };
            let name = file.name();
            let bytes = match read(file, &name).await {
                Ok(bytes) => bytes,
                Err(unread) => return reader.emit((purpose, Err(unread))),
            };
            match purpose {
                Purpose::Samples | Purpose::Images => together.push((name, bytes)),
                Purpose::Any | Purpose::Input => {
                    reader.emit((purpose, Ok(vec![(name, bytes)])));
                }
            }
        }
        if !together.is_empty() {
            reader.emit((purpose, Ok(together)));
        }
    });
}

/// Longest sound that the browser decodes: what is decoded is much longer.
const MOST_SOUND_BYTES: f64 = (32 << 20) as f64;

/// A file's bytes; those of a picture as a PNG file, those of a sound as a WAV file.
async fn read(file: &web_sys::File, name: &str) -> Result<Uint8Array, Diagnostic> {
    let is_foreign =
        FileKind::of(name) == FileKind::Picture && !name.to_lowercase().ends_with(".png");
    if is_foreign {
        let undecoded = |error| {
            trouble(
                format!("{name} is no picture that this browser can show"),
                text_of(&error),
                "Save it as PNG or JPEG and give it again.",
            )
        };
        return as_png(file).await.map_err(undecoded);
    }
    if FileKind::of(name) == FileKind::Sound && !name.to_lowercase().ends_with(".wav") {
        if file.size() > MOST_SOUND_BYTES {
            return Err(trouble(
                format!("{name} is too long to be decoded here"),
                "The page decodes sounds of at most 32 MiB.",
                "Cut out a minute, or save it as WAV: of that the first minute is read.",
            ));
        }
        let undecoded = |error| {
            trouble(
                format!("{name} is no sound that this browser can play"),
                text_of(&error),
                "Save it as WAV and give it again.",
            )
        };
        return as_wav(file).await.map_err(undecoded);
    }
    let buffer = JsFuture::from(file.array_buffer()).await.map_err(|error| {
        trouble(
            format!("{name} could not be read"),
            text_of(&error),
            "Drop a file, not a folder; or copy the file elsewhere and try again.",
        )
    })?;
    Ok(Uint8Array::new(&buffer))
}
