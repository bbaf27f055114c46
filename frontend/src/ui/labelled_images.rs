//! The choice of labelled images: those that come with the page, or a person's own.

use tilewright_report::Diagnostic;
use web_sys::FileList;
use yew::prelude::*;

use super::icon::{Glyph, icon};
use super::parts::trouble_box;
use super::run::file_event;
use crate::state::{Event, LabelledFiles, Place};

#[derive(PartialEq, Properties)]
pub struct Props {
    pub images: LabelledFiles,
    pub trouble: Option<Diagnostic>,
    pub on: Callback<Event>,
    /// A file dialog gave these.
    pub on_files: Callback<FileList>,
}

#[component]
pub fn LabelledImages(props: &Props) -> Html {
    let back = props.on.reform(|_: MouseEvent| Event::Images(Vec::new()));
    html! {
        <div class="labelled-images">
            <p data-testid="images">{ "Images: " }{ props.images.name() }</p>
            <label class="button">
                { icon(Glyph::Open) }{ "Own images and labels" }
                <input type="file" class="visually-hidden" multiple={true} data-testid="images-files"
                    onchange={file_event(&props.on_files)} />
            </label>
            if !props.images.is_given() {
                <button type="button" class="quiet" onclick={back}>{ "Images of the page" }</button>
            }
            <p class="muted detail">
                { "Two files together as MNIST and Fashion-MNIST have them (images-idx3 and labels-idx1, plain or .gz), \
                   or one .npy array of bytes whose images are of ten classes in turn." }
            </p>
            if let Some(trouble) = &props.trouble {
                { trouble_box(trouble, Place::Images, "", &props.on) }
            }
        </div>
    }
}
