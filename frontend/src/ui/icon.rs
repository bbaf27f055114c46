//! Icons: 16×16, one stroke, in the colour of the text.

use yew::prelude::*;

/// Which icon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Glyph {
    /// Back.
    Undo,
    /// Forward.
    Redo,
    /// A link.
    Share,
    /// Half a disc: light and dark.
    Theme,
    /// Larger.
    Maximise,
    /// Smaller.
    Restore,
    /// Start.
    Play,
    /// Stop for a while.
    Pause,
    /// One back.
    Back,
    /// One on.
    On,
    Stop,
    /// A file goes up.
    Open,
    /// A file comes down.
    Save,
    /// A plus: larger on the screen.
    Larger,
    /// A minus: smaller on the screen.
    Smaller,
    /// Four corners: all of it.
    Fit,
    /// A cross.
    Close,
}

/// An icon; the control around it names it.
pub fn icon(glyph: Glyph) -> Html {
    let path = match glyph {
        Glyph::Undo => "M6 3 3 6l3 3M3 6h6a4 4 0 0 1 0 8H7",
        Glyph::Redo => "m10 3 3 3-3 3m3-3H7a4 4 0 0 0 0 8h2",
        Glyph::Share => {
            "M6.5 9.5a3 3 0 0 0 4.2 0l2.2-2.2a3 3 0 0 0-4.2-4.2L7.9 3.9m1.6 2.6a3 3 0 \
                         0 0-4.2 0L3.1 8.7a3 3 0 0 0 4.2 4.2l.8-.8"
        }
        Glyph::Theme => "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2Zm0 0v12m0-12a6 6 0 0 1 0 12",
        Glyph::Maximise => "M9.5 2.5h4v4m0-4-4.5 4.5m-2.5 6.5h-4v-4m0 4L7 9",
        Glyph::Restore => "M13 3 9 7m0 0h3.5M9 7V3.5M3 13l4-4m0 0H3.5M7 9v3.5",
        Glyph::Play => "M4.5 3v10l8-5Z",
        Glyph::Pause => "M4 3h3v10H4ZM9 3h3v10H9Z",
        Glyph::Back => "M5 3v10M12 3 7 8l5 5",
        Glyph::On => "M11 3v10M4 3l5 5-5 5",
        Glyph::Stop => "M4 4h8v8H4Z",
        Glyph::Open => "M8 10.5V3M5 5.5 8 2.5l3 3M3 10v3h10v-3",
        Glyph::Larger => "M8 3v10M3 8h10",
        Glyph::Smaller => "M3 8h10",
        Glyph::Fit => "M2.5 6v-3.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10",
        Glyph::Close => "M3.5 3.5l9 9M12.5 3.5l-9 9",
        Glyph::Save => "M8 2.5V10M5 7.5l3 3 3-3M3 10v3h10v-3",
    };
    let class = match glyph {
        Glyph::Play | Glyph::Pause | Glyph::Stop => "icon icon-filled",
        _ => "icon",
    };
    html! {
        <svg {class} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
            <path d={path} />
        </svg>
    }
}
