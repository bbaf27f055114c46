//! No access, at any time, makes the devices fail; what they say of time holds.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use proptest::prelude::*;
use tilewright_devices::{Bus, Masks, Size, Time};

#[derive(Clone, Debug)]
enum Action {
    Read(u32, Size),
    Write(u32, Size, u32),
    Pass(u64),
    Feed(Vec<u8>),
    Handle,
}

/// Mostly registers that exist, with every clock that gates them switched on now and then.
fn address() -> impl Strategy<Value = u32> {
    prop_oneof![
        8 => (0u32..0x8000).prop_map(|offset| 0x4000_0000 + offset),
        8 => (0u32..0x7000).prop_map(|offset| 0x4001_0000 + offset),
        8 => (0u32..0x7000).prop_map(|offset| 0x4002_0000 + offset),
        8 => (0u32..0x1000).prop_map(|offset| 0xe000_e000 + offset),
        4 => (0u32..0x4000).prop_map(|offset| 0xe000_0000 + offset),
        4 => (0u32..0x98).prop_map(|offset| 0x4002_3800 + offset),
        4 => (0u32..0x2c).prop_map(|offset| 0x4001_1000 + offset),
        4 => (0u32..0x2c).prop_map(|offset| 0x4000_4800 + offset),
        4 => (0u32..0x44).prop_map(|offset| 0x4000_0000 + offset),
        4 => (0u32..0x2000).prop_map(|offset| 0xa000_0000 + offset),
        1 => any::<u32>(),
    ]
}

fn action() -> impl Strategy<Value = Action> {
    let size = prop_oneof![Just(Size::Byte), Just(Size::Half), Just(Size::Word)];
    prop_oneof![
        4 => (address(), size.clone()).prop_map(|(address, size)| Action::Read(address, size)),
        8 => (address(), size, prop_oneof![any::<u32>(), 0u32..256])
            .prop_map(|(address, size, value)| Action::Write(address, size, value)),
        4 => prop_oneof![0u64..100_000, any::<u64>()].prop_map(Action::Pass),
        1 => proptest::collection::vec(any::<u8>(), 0..8).prop_map(Action::Feed),
        1 => Just(Action::Handle),
    ]
}

fn bus(board: &str) -> Bus {
    let mut bus = Bus::new(&tilewright_board::find(board).unwrap()).unwrap();
    for register in [0x30, 0x34, 0x38, 0x40, 0x44] {
        bus.write(0x4002_3800 + register, Size::Word, u32::MAX, Time(0)).unwrap();
        bus.settle();
    }
    bus
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]
    #[test]
    fn no_access_fails(
        board in prop_oneof![Just("stm32f746g-disco"), Just("stm32f469i-disco")],
        actions in proptest::collection::vec(action(), 1..60),
    ) {
        let mut bus = bus(board);
        let mut now = Time(0);
        for action in actions {
            match action {
                Action::Read(address, size) => {
                    let _ = bus.polls_until(address);
                    if let Ok(value) = bus.read(address, size, now, 0) {
                        prop_assert!(value & !size.mask() == 0);
                    }
                }
                Action::Write(address, size, value) => {
                    let _ = bus.write(address, size, value, now);
                }
                Action::Pass(cycles) => {
                    // To the next event, as the emulator does, or on and on.
                    now = match bus.next_event() {
                        Some(event) if cycles < 50_000 => event.max(now),
                        _ => now.after(cycles),
                    };
                    bus.advance(now);
                }
                Action::Feed(bytes) => bus.feed_console(&bytes, now),
                Action::Handle => {
                    if let Some(exception) = bus.nvic().next(Masks::default()) {
                        bus.nvic_mut().enter(exception);
                        bus.nvic_mut().leave(exception);
                    }
                }
            }
            bus.take_console();
        }
        let _ = bus.unknown();
    }

    #[test]
    fn an_event_that_has_come_does_not_come_again(
        writes in proptest::collection::vec((address(), any::<u32>()), 1..40),
    ) {
        let mut bus = bus("stm32f746g-disco");
        let mut now = Time(0);
        for (address, value) in writes {
            let _ = bus.write(address, Size::Word, value, now);
        }
        for _ in 0..20 {
            let Some(event) = bus.next_event() else { break };
            prop_assert!(event > now || now == Time(0), "{event:?} at {now:?}");
            now = event.max(now);
            bus.advance(now);
        }
    }
}
