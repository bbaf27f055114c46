//! Reading files that were dropped or chosen.

use js_sys::Uint8Array;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::FileList;
use yew::Callback;

use crate::message::trouble;
use crate::session::link::text_of;
use crate::state::{check_images, check_samples, sort_out};
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
            let bytes = JsFuture::from(file.array_buffer()).await;
            let bytes = match bytes {
                Ok(buffer) => Uint8Array::new(&buffer),
                Err(error) => {
                    let unread = trouble(
                        format!("{name} could not be read"),
                        text_of(&error),
                        "Drop a file, not a folder; or copy the file elsewhere and try again.",
                    );
                    return reader.emit((purpose, Err(unread)));
                }
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
