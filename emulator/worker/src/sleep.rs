//! WFI and WFE: time jumps to the next event.

use tilewright_cores::Flags;
use tilewright_devices::{Masks, Time};
use tilewright_report::FaultKind;

use crate::dma;
use crate::host;
use crate::machine::Machine;
use crate::registers::{self, Engine};

/// Sleeps as WFI does.
pub fn for_interrupt(uc: &mut Engine<'_>) {
    let masks = registers::masks(uc);
    sleep(uc.get_data_mut(), |machine| machine.bus.wakes(masks));
}

/// Sleeps as WFE does.
fn for_event(uc: &mut Engine<'_>) {
    let masks: Masks = registers::masks(uc);
    let machine = uc.get_data_mut();
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
            host::sleep(machine);
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

/// Lets time pass that the core is asleep.
pub fn until(machine: &mut Machine, time: Time) {
    let from = machine.now();
    machine.sleep_until(time);
    machine.bus.slept(machine.now().since(from));
}

/// Unicorn takes an instruction for invalid. It does so for WFE, which is fine; true if it was
/// that. PC is behind WFE then, and on any other invalid instruction.
pub fn invalid_instruction(uc: &mut Engine<'_>) -> bool {
    let (flags, end) = uc.get_data().last;
    if !flags.any(Flags::ENDS_IN_WFE) || crate::block::pc(uc) != end {
        return false;
    }
    for_event(uc);
    true
}

/// Unicorn returned without an error: true if that was WFI, and the core has slept.
pub fn stopped(uc: &mut Engine<'_>) -> bool {
    let (flags, end) = uc.get_data().last;
    if !flags.any(Flags::ENDS_IN_WFI) || crate::block::pc(uc) != end {
        return false;
    }
    for_interrupt(uc);
    true
}
