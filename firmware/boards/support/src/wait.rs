//! Waits for the one future that this firmware runs.

use core::future::Future;
use core::pin::pin;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll, Waker};

use crate::sleep;

/// Whether the future may go on.
static AWAKE: AtomicBool = AtomicBool::new(false);

/// Says from an interrupt that the future may go on.
pub fn wake() {
    AWAKE.store(true, Ordering::Release);
}

/// Polls until the future is ready, after each [`wake`], and sleeps in between. Taking an
/// exception sets the core's event register (Armv7-M ARM, B1.5.18), so that one that comes
/// between look and sleep is not missed, and wakers have nothing to do.
pub fn for_ready<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
        while !AWAKE.swap(false, Ordering::Acquire) {
            sleep::until_event();
        }
    }
}
