//! Runs block after block.

use crate::blocks::{Code, UNKNOWN};
use crate::execute::operations;
use crate::host::{Entry, Host};
use crate::operation::{Ask, End, R};
use crate::translate::{HOT, WARM};

/// Why the core leaves its code. PC is where it goes on, if nothing else is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaves {
    /// The host ended it at the border of a block.
    Ended,
    /// WFI.
    WaitsForInterrupt,
    /// WFE.
    WaitsForEvent,
    /// SVC.
    Calls,
    /// BKPT; PC is at it.
    Breakpoint,
    /// An undefined instruction; PC is at it.
    Undefined,
    /// A load or store failed, or is not at the border of its words; PC is at it.
    Access,
    /// The core went to an address without its lowest bit, which asks for a state that it has not.
    State,
    /// Nothing can be fetched from where PC is.
    Nowhere,
}

/// Runs from PC until something ends it.
pub fn run<H: Host>(code: &mut Code, host: &mut H) -> Leaves {
    'find: loop {
        let (core, memory) = host.parts();
        let (pc, it) = (core.r[R::Pc], core.it);
        if memory.is_code_changed() || code.is_full() {
            memory.forget_code();
            code.forget();
        }
        let Some(mut number) = code.find(host, pc, it) else { return Leaves::Nowhere };
        loop {
            let block = &mut code.blocks[number as usize];
            host.core().r[R::Pc] = block.address;
            match host.enters(&mut block.tag, block.address, block.bytes) {
                Entry::Runs => {}
                Entry::Elsewhere => continue 'find,
                Entry::Ends => return Leaves::Ended,
            }
            block.heat = block.heat.saturating_add(1);
            if matches!(block.heat, WARM | HOT) {
                code.heats(host, number);
            }
            let left = match code.blocks[number as usize].function {
                None => operations(host, code.prepared(&code.blocks[number as usize])).err(),
                Some(translated) => {
                    let (last, left) = code.run_translated(host, number, translated);
                    number = last;
                    (left > 0).then_some(left)
                }
            };
            let block = &code.blocks[number as usize];
            if let Some(left) = left {
                let place = code.place(block, left);
                let (core, memory) = host.parts();
                core.it = code.it_at(memory, block.address, core.it, place);
                core.r[R::Pc] = place;
                return Leaves::Access;
            }
            let behind = block.address.wrapping_add(block.bytes);
            let core = host.core();
            let (way, target) = match block.end {
                End::Jump(target) => (0, target),
                End::If(condition, target) if core.holds(condition) => (1, target),
                End::Zero { register, not, target } if (core.r[register] == 0) != not => {
                    (1, target)
                }
                End::If(..) | End::Zero { .. } => (0, behind),
                End::Indirect => {
                    let target = core.r[R::Pc];
                    if target & 1 == 0 {
                        return Leaves::State;
                    }
                    core.r[R::Pc] = target & !1;
                    continue 'find;
                }
                End::Asks(condition, ask) => {
                    let asks = core.holds(condition);
                    let is_at = matches!(ask, Ask::Breakpoint | Ask::Undefined);
                    let stays = asks && is_at;
                    core.r[R::Pc] =
                        if stays { block.address.wrapping_add(block.last) } else { behind };
                    if asks {
                        return asked(ask);
                    }
                    continue 'find;
                }
            };
            let is_over = host.parts().1.is_code_changed() || code.is_full();
            number = match block.next[way] {
                _ if is_over => {
                    host.core().r[R::Pc] = target;
                    continue 'find;
                }
                UNKNOWN => {
                    host.core().r[R::Pc] = target;
                    let it = host.core().it;
                    let Some(next) = code.find(host, target, it) else { return Leaves::Nowhere };
                    // Links lead to blocks outside of an IT block.
                    if it == 0 {
                        code.blocks[number as usize].next[way] = next;
                    }
                    next
                }
                next => next,
            };
        }
    }
}

const fn asked(ask: Ask) -> Leaves {
    match ask {
        Ask::WaitForInterrupt => Leaves::WaitsForInterrupt,
        Ask::WaitForEvent => Leaves::WaitsForEvent,
        Ask::SupervisorCall => Leaves::Calls,
        Ask::Breakpoint => Leaves::Breakpoint,
        Ask::Undefined => Leaves::Undefined,
    }
}
