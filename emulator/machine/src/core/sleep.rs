//! WFI and WFE: time jumps to the next event.

use tilewright_devices::{Masks, Time};
use tilewright_report::FaultKind;

use crate::board::dma;
use crate::board::host::Waited;
use crate::core::registers;
use crate::engine::Engine;
use crate::machine::Machine;

/// Sleeps as WFI does. The engine is behind the instruction.
pub fn for_interrupt(engine: &mut impl Engine) {
    let masks = registers::masks(engine);
    sleep(engine.machine_mut(), |machine| machine.bus.wakes(masks));
}

/// Sleeps as WFE does. The engine is behind the instruction.
pub fn for_event(engine: &mut impl Engine) {
    let masks: Masks = registers::masks(engine);
    let machine = engine.machine_mut();
    if std::mem::take(&mut machine.event) {
        return;
    }
    sleep(machine, |machine| {
        machine.event
            || machine.bus.nvic().next(masks).is_some()
            || machine.bus.send_event_on_pend() && machine.bus.nvic().any_pending()
    });
    machine.event = false;
}

fn sleep(machine: &mut Machine, wakes: impl Fn(&Machine) -> bool) {
    machine.deadline = 0;
    loop {
        machine.catch_up();
        if machine.end.is_some() || wakes(machine) {
            return;
        }
        dma::check_asleep(machine);
        if machine.host.is_some() {
            with_host(machine);
            continue;
        }
        match machine.bus.next_event().filter(|_| !machine.is_silent()) {
            Some(event) => until(machine, event),
            None => {
                let message = machine.deadlock_message();
                machine.fault(FaultKind::Deadlock, message);
                return;
            }
        }
    }
}

/// Sleeps until something is due or the host sends something.
fn with_host(machine: &mut Machine) {
    let (now, due) = (machine.now(), machine.bus.next_event());
    match machine.host.as_mut().map(|host| host.wait(now, due)) {
        Some(Waited::Arrived { bytes, at }) => {
            until(machine, at);
            machine.bus.feed_console(&bytes, at);
        }
        Some(Waited::Due(time)) => until(machine, time),
        Some(Waited::Gone) | None => {
            machine.fault(FaultKind::Deadlock, "the core sleeps, and the host is gone");
        }
    }
}

/// Lets time pass that the core is asleep.
fn until(machine: &mut Machine, time: Time) {
    let from = machine.now();
    machine.sleep_until(time);
    machine.bus.slept(machine.now().since(from));
}
