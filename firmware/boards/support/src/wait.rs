//! Waits for the one future that this firmware runs.

use core::future::Future;
use core::pin::pin;
use core::task::{Context, Poll, Waker};

use cortex_m::asm;

/// Polls after each interrupt until the future is ready, and sleeps in between. Taking an
/// exception sets the core's event register (Armv7-M ARM, B1.5.18), so that one that comes
/// between poll and sleep is not missed, and wakers have nothing to do.
pub fn for_ready<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return value,
            Poll::Pending => asm::wfe(),
        }
    }
}
