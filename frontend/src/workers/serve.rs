//! The loop of a worker: requests in, replies out.

use std::cell::RefCell;

use js_sys::{Array, Uint8Array};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent};

use crate::message::{Reply, Trouble};
use crate::wire;

/// A result with its buffers, or why there is none.
pub type Outcome<R> = Result<(R, Vec<Vec<u8>>), Trouble>;

/// Answers every request with `handle`, which may say in between what it does. Returns at once;
/// the worker goes on.
pub fn serve<Q, R>(mut handle: impl FnMut(Q, Vec<Vec<u8>>, &dyn Fn(&str)) -> Outcome<R> + 'static)
where
    Q: DeserializeOwned,
    R: Serialize + 'static,
{
    let Ok(scope) = js_sys::global().dyn_into::<DedicatedWorkerGlobalScope>() else { return };
    say_last_words::<R>(&scope);
    let to = scope.clone();
    let on_message = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
        let (request, body, buffers) = match wire::unpack::<Q>(event.data()) {
            Ok(message) => message,
            Err(error) => return post::<R>(&to, 0, &Reply::Crashed(error.0), &[]),
        };
        let buffers = buffers.iter().map(Uint8Array::to_vec).collect();
        let say = |text: &str| post::<R>(&to, request, &Reply::Progress(text.to_owned()), &[]);
        match handle(body, buffers, &say) {
            Ok((result, buffers)) => post(&to, request, &Reply::Done(result), &buffers),
            Err(trouble) => post::<R>(&to, request, &Reply::Failed(trouble), &[]),
        }
    });
    scope.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
    on_message.forget();
    post::<R>(&scope, 0, &Reply::Ready, &[]);
}

fn post<R: Serialize>(
    to: &DedicatedWorkerGlobalScope,
    request: u32,
    reply: &Reply<R>,
    buffers: &[Vec<u8>],
) {
    let buffers: Vec<_> = buffers.iter().map(|b| Uint8Array::from(b.as_slice())).collect();
    if let Ok((message, transfer)) = wire::pack(request, reply, &buffers) {
        // The page is the only one who could be told that it cannot be told anything.
        let _ = to.post_message_with_transfer(&message, &transfer.unchecked_into::<Array>());
    }
}

/// A panic stops a worker at once: its message is sent before.
fn say_last_words<R: Serialize + 'static>(scope: &DedicatedWorkerGlobalScope) {
    thread_local! {
        static SCOPE: RefCell<Option<DedicatedWorkerGlobalScope>> = const { RefCell::new(None) };
    }
    SCOPE.with(|cell| *cell.borrow_mut() = Some(scope.clone()));
    std::panic::set_hook(Box::new(|info| {
        SCOPE.with(|cell| {
            if let Ok(scope) = cell.try_borrow()
                && let Some(scope) = scope.as_ref()
            {
                post::<R>(scope, 0, &Reply::Crashed(info.to_string()), &[]);
            }
        });
    }));
}
