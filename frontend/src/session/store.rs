//! The browser's storage for the person's own model: one IndexedDB database with one object store,
//! which holds what is known of the model beside its bytes.

use js_sys::{Array, Promise, Uint8Array};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    DomException, IdbDatabase, IdbObjectStore, IdbRequest, IdbTransaction, IdbTransactionMode,
};

use super::link::text_of;
use crate::message::trouble;
use crate::state::Stored;
use crate::view_model::figures;
use tilewright_report::Diagnostic;

const DATABASE: &str = "tilewright";
const STORE: &str = "model";
const FACTS: &str = "facts";
const FILES: &str = "files";

/// Why the browser's storage does not do what it was asked.
enum Refusal {
    /// There is no room.
    Full,
    /// It is not to be had, for this reason.
    Denied(String),
}

impl From<JsValue> for Refusal {
    fn from(error: JsValue) -> Self {
        match error.dyn_ref::<DomException>() {
            Some(error) if error.name() == "QuotaExceededError" => Self::Full,
            Some(error) => Self::Denied(error.message()),
            None => Self::Denied(text_of(&error)),
        }
    }
}

/// What is there; nothing if nothing is, or another version of this page put it there.
///
/// # Errors
/// If the browser denies it.
pub async fn facts() -> Result<Option<Stored>, Diagnostic> {
    let value = read(FACTS).await.map_err(unreadable)?;
    let bytes: Option<Uint8Array> = value.dyn_into().ok();
    Ok(bytes.and_then(|bytes| postcard::from_bytes(&bytes.to_vec()).ok()))
}

/// The model's file and its samples, if there are.
///
/// # Errors
/// If they are gone, or the browser denies it.
pub async fn files() -> Result<(Uint8Array, Option<Uint8Array>), Diagnostic> {
    let value = read(FILES).await.map_err(unreadable)?;
    let parts: Array = value.dyn_into().unwrap_or_default();
    let mut parts = parts.iter().filter_map(|part| part.dyn_into::<Uint8Array>().ok());
    let gone = || unreadable(Refusal::Denied("Its bytes are gone.".to_owned()));
    let model = parts.next().ok_or_else(gone)?;
    Ok((model, parts.next()))
}

/// Replaces what is there, or leaves it as it is.
///
/// # Errors
/// If there is no room, or the browser denies it.
pub async fn put(
    stored: &Stored,
    model: Uint8Array,
    samples: Option<Uint8Array>,
) -> Result<(), Diagnostic> {
    let length = u64::from(model.length() + samples.as_ref().map_or(0, Uint8Array::length));
    let failed = |refusal| not_stored(refusal, &stored.name, length);
    let facts =
        postcard::to_stdvec(stored).map_err(|error| failed(Refusal::Denied(error.to_string())))?;
    let facts = Uint8Array::from(facts.as_slice());
    let files: Array = std::iter::once(model).chain(samples).collect();
    let write = async {
        let (transaction, store) = begin(IdbTransactionMode::Readwrite).await?;
        store.put_with_key(&facts, &FACTS.into())?;
        store.put_with_key(&files, &FILES.into())?;
        ended(&transaction).await
    };
    write.await.map_err(failed)
}

/// Empties it.
///
/// # Errors
/// If the browser denies it.
pub async fn forget() -> Result<(), Diagnostic> {
    let clear = async {
        let (transaction, store) = begin(IdbTransactionMode::Readwrite).await?;
        store.clear()?;
        ended(&transaction).await
    };
    clear.await.map_err(unreadable)
}

async fn read(key: &str) -> Result<JsValue, Refusal> {
    let (_, store) = begin(IdbTransactionMode::Readonly).await?;
    answer(&store.get(&key.into())?).await
}

async fn begin(mode: IdbTransactionMode) -> Result<(IdbTransaction, IdbObjectStore), Refusal> {
    let window = web_sys::window().ok_or_else(|| Refusal::Denied("no window".to_owned()))?;
    let none = || Refusal::Denied("This browser has no such storage.".to_owned());
    let request = window.indexed_db()?.ok_or_else(none)?.open_with_u32(DATABASE, 1)?;
    let opening = request.clone();
    let create = Closure::once(move || -> Result<(), JsValue> {
        let database: IdbDatabase = opening.result()?.dyn_into()?;
        database.create_object_store(STORE).map(drop)
    });
    request.set_onupgradeneeded(Some(create.as_ref().unchecked_ref()));
    let database: IdbDatabase = answer(&request).await?.dyn_into()?;
    let transaction = database.transaction_with_str_and_mode(STORE, mode)?;
    let store = transaction.object_store(STORE)?;
    // Closes once its transactions have ended.
    database.close();
    Ok((transaction, store))
}

async fn answer(request: &IdbRequest) -> Result<JsValue, Refusal> {
    let promise = Promise::new(&mut |succeed, fail| {
        request.set_onsuccess(Some(&succeed));
        request.set_onerror(Some(&fail));
    });
    match JsFuture::from(promise).await {
        Ok(_) => Ok(request.result()?),
        Err(_) => Err(refusal(request.error()?)),
    }
}

/// Waits until what was written lies in the storage: only then it is known whether there was room.
async fn ended(transaction: &IdbTransaction) -> Result<(), Refusal> {
    let promise = Promise::new(&mut |succeed, fail| {
        transaction.set_oncomplete(Some(&succeed));
        transaction.set_onabort(Some(&fail));
    });
    JsFuture::from(promise).await.map(drop).map_err(|_| refusal(transaction.error()))
}

fn refusal(error: Option<DomException>) -> Refusal {
    error.map_or_else(
        || Refusal::Denied("The browser does not say why.".to_owned()),
        |error| Refusal::from(JsValue::from(error)),
    )
}

fn unreadable(refusal: Refusal) -> Diagnostic {
    let detail = match refusal {
        Refusal::Full => "It is full.".to_owned(),
        Refusal::Denied(detail) => detail,
    };
    trouble(
        "The browser's storage cannot be used",
        detail,
        "Open the model's file instead. Private windows and blocked cookies keep pages from storing.",
    )
}

fn not_stored(refusal: Refusal, name: &str, bytes: u64) -> Diagnostic {
    let size = figures::binary(bytes);
    let detail = match refusal {
        Refusal::Full => format!("It has no room for {size}."),
        Refusal::Denied(detail) => {
            format!("{detail} Private windows and blocked cookies keep pages from storing.")
        }
    };
    trouble(
        format!("The browser does not store {name}"),
        detail,
        "The model stays open here; after a reload, open its file again.",
    )
}
