//! What shows only when code runs.

use crate::{Architecture, Code, Core, Entry, Host, Leaves, Memory, R, Reach, run};

const CODE: u32 = 0x0800_0000;
const RAM: u32 = 0x2000_0000;

/// A core, its code and some memory.
#[derive(Default)]
struct Bare {
    core: Core,
    memory: Memory,
    blocks: u32,
}

impl Host for Bare {
    fn core(&mut self) -> &mut Core {
        &mut self.core
    }

    fn parts(&mut self) -> (&mut Core, &mut Memory) {
        (&mut self.core, &mut self.memory)
    }

    fn enters(&mut self, _: &mut u32, _: u32, _: u32) -> Entry {
        self.blocks += 1;
        if self.blocks > 16 { Entry::Ends } else { Entry::Runs }
    }

    fn store(&mut self, address: u32, bytes: u32, value: u32) -> Option<()> {
        let value = value.to_le_bytes();
        (address >= RAM && self.memory.write(address, &value[..bytes as usize])).then_some(())
    }
}

/// Runs halfwords from a state of the core, behind which lies a breakpoint.
fn runs(architecture: Architecture, core: Core, halves: &[u16]) -> (Leaves, Core) {
    let mut host = Bare { core, ..Bare::default() };
    host.memory.add(CODE, 64, Reach::ReadOnly);
    host.memory.add(RAM, 64, Reach::Plain);
    let code = halves.iter().chain(&[0xbe00]).flat_map(|half| half.to_le_bytes());
    assert!(host.memory.write(CODE, &code.collect::<alloc::vec::Vec<_>>()));
    host.core.set_register(R::Pc, CODE);
    let leaves = run(&mut Code::new(architecture), &mut host);
    (leaves, host.core)
}

#[test]
fn what_stays_at_an_instruction_keeps_its_it_state() {
    let it = |core: &Core| core.it;
    // itte ne; movs r0, #1; udf; nop.
    let halves = [0xbf1a, 0x2001, 0xde00, 0xbf00];
    let (leaves, core) = runs(Architecture::Armv7, Core::default(), &halves);
    assert_eq!((leaves, core.register(R::Pc), it(&core)), (Leaves::Breakpoint, CODE + 8, 0));
    let mut unequal = Core::default();
    unequal.set_xpsr(0);
    let (leaves, core) = runs(Architecture::Armv7, unequal.clone(), &halves);
    assert_eq!((leaves, core.register(R::Pc)), (Leaves::Undefined, CODE + 4));
    assert_eq!(it(&core), 0x14);
    // ite eq; bkpt: it knows no condition.
    let (leaves, core) = runs(Architecture::Armv7, unequal, &[0xbf0c, 0xbe00, 0xbf00]);
    assert_eq!((leaves, core.register(R::Pc)), (Leaves::Breakpoint, CODE + 2));
    assert_eq!(it(&core), 0x0c);
}

#[test]
fn an_access_that_fails_in_an_it_block_keeps_its_state() {
    // itet eq; movs r1, #1; movs r1, #2; ldr r1, [r0]: nothing lies at 0.
    let mut equal = Core::default();
    equal.set_xpsr(1 << 30);
    let halves = [0xbf0a, 0x2101, 0x2102, 0x6801];
    let (leaves, core) = runs(Architecture::Armv7, equal, &halves);
    assert_eq!((leaves, core.register(R::Pc), core.it), (Leaves::Access, CODE + 6, 0x08));
}

#[test]
fn code_that_changes_is_decoded_anew() {
    // strh r1, [r0]; movs r2, #1; b back: the move becomes a breakpoint behind its first turn.
    let mut host = Bare::default();
    host.memory.add(RAM, 64, Reach::Plain);
    let code = [0x2201u16, 0x8001, 0xe7fc].iter().flat_map(|half| half.to_le_bytes());
    assert!(host.memory.write(RAM, &code.collect::<alloc::vec::Vec<_>>()));
    host.core.set_register(R::R0, RAM);
    host.core.set_register(R::R1, 0xbe00);
    host.core.set_register(R::Pc, RAM);
    // A store to code is not plain.
    assert_eq!(run(&mut Code::default(), &mut host), Leaves::Breakpoint);
    assert_eq!((host.core.register(R::Pc), host.core.register(R::R2)), (RAM, 1));
}

#[test]
fn some_instructions_are_of_armv8_alone() {
    // lda r1, [r0]; msr psplim, r0.
    for halves in [[0xe8d0, 0x1faf], [0xf380, 0x880b]] {
        let mut core = Core::default();
        core.set_register(R::R0, RAM);
        assert_eq!(runs(Architecture::Armv7, core.clone(), &halves).0, Leaves::Undefined);
        assert_eq!(runs(Architecture::Armv8, core, &halves).0, Leaves::Breakpoint);
    }
}

#[test]
fn floats_are_stored_and_loaded_by_words() {
    let mut core = Core::default();
    core.set_register(R::R0, RAM + 16);
    (0..4).for_each(|n| core.set_single(n, n.into()));
    // vstmdb r0!, {s1-s3}; vldr d4, [r0, #4].
    let halves = [0xed60, 0x0a03, 0xed90, 0x4b01];
    let (leaves, after) = runs(Architecture::Armv7, core.clone(), &halves);
    assert_eq!((leaves, after.register(R::R0)), (Leaves::Breakpoint, RAM + 4));
    assert_eq!((after.single(8), after.single(9)), (2, 3));
    core.set_register(R::R0, RAM + 18);
    let (leaves, after) = runs(Architecture::Armv7, core, &halves);
    assert_eq!((leaves, after.register(R::R0)), (Leaves::Access, RAM + 18));
}
