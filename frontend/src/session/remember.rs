//! The fragment of the address, and the few words that the browser keeps over a reload.

use wasm_bindgen::JsValue;

use crate::state::Theme;

/// Where the theme is remembered.
const THEME_KEY: &str = "tilewright.theme";
/// Where it is remembered whether own models may be kept.
const KEEP_KEY: &str = "tilewright.keep-models";
/// The word for that.
const KEEPS: &str = "yes";

/// Writes the fragment of the address, if it is another one; `is_step`: so that Back leads to the one before.
pub fn write_fragment(text: &str, is_step: bool) {
    let Some(window) = web_sys::window() else { return };
    if read_fragment().trim_start_matches('#') == text {
        return;
    }
    let address = if text.is_empty() { " ".to_owned() } else { format!("#{text}") };
    let address = Some(address.trim());
    if let Ok(history) = window.history() {
        let _ = match is_step {
            true => history.push_state_with_url(&JsValue::NULL, "", address),
            false => history.replace_state_with_url(&JsValue::NULL, "", address),
        };
    }
}

/// The fragment of the address.
pub fn read_fragment() -> String {
    web_sys::window().and_then(|window| window.location().hash().ok()).unwrap_or_default()
}

fn remembered(key: &str) -> String {
    let storage = web_sys::window().and_then(|window| window.local_storage().ok().flatten());
    storage.and_then(|storage| storage.get_item(key).ok().flatten()).unwrap_or_default()
}

/// A browser that stores nothing forgets it with the page.
fn remember(key: &str, word: &str) {
    let storage = web_sys::window().and_then(|window| window.local_storage().ok().flatten());
    if let Some(storage) = storage {
        let _ = storage.set_item(key, word);
    }
}

/// The theme that was chosen last.
pub fn read_theme() -> Theme {
    Theme::from_word(&remembered(THEME_KEY))
}

/// Remembers whether own models may be kept.
pub fn remember_keeping(keeps: bool) {
    remember(KEEP_KEY, if keeps { KEEPS } else { "" });
}

/// Whether own models may be kept in the browser's storage.
pub fn read_keeping() -> bool {
    remembered(KEEP_KEY) == KEEPS
}

/// Uses and remembers a theme.
pub fn use_theme(theme: Theme) {
    let Some(window) = web_sys::window() else { return };
    if let Some(root) = window.document().and_then(|document| document.document_element()) {
        let _ = root.set_attribute("data-theme", theme.word());
    }
    remember(THEME_KEY, theme.word());
}
