//! What an instruction of a kernel is there for.

use tilewright_cores::{Class, Issued, Registers};
use tilewright_report::Cause;

/// The causes of a block's instructions; `bytes` are the block's.
pub fn causes(issued: &[Issued], bytes: &[u8]) -> Vec<Cause> {
    let mut place = 0;
    let mut causes = Vec::with_capacity(issued.len());
    for Issued { instruction, .. } in issued {
        let first = bytes.get(place..place + 2).and_then(|half| half.first_chunk());
        let first = first.map_or(0, |half| u16::from_le_bytes(*half));
        place += usize::from(instruction.bytes);
        causes.push(match instruction.class {
            Class::Multiply if is_wide_product(first) => Cause::Requantise,
            Class::Multiply => Cause::Multiply,
            Class::Dsp if is_saturation(first) => Cause::Requantise,
            Class::Dsp => Cause::Arrange,
            Class::Load | Class::LoadMany(_) | Class::FloatLoad(_) => Cause::Load,
            Class::Store | Class::StoreMany(_) | Class::FloatStore(_) => Cause::Store,
            Class::Branch | Class::BranchIndirect | Class::BranchTable | Class::IfThen => {
                Cause::Loop
            }
            // Compares and tests.
            Class::Alu if instruction.writes == Registers::FLAGS => Cause::Loop,
            _ => Cause::Other,
        });
    }
    requantise(issued, &mut causes);
    decide(issued, &mut causes);
    causes
}

/// What prepares the operands of a product that requantises, and what is done with it until it
/// saturates, belongs to requantising too: shifts, roundings, offsets.
fn requantise(issued: &[Issued], causes: &mut [Cause]) {
    let flags = Registers::FLAGS;
    let is_product = |at: usize, causes: &[Cause]| {
        causes[at] == Cause::Requantise && issued[at].instruction.class == Class::Multiply
    };
    // Which registers hold what follows from such a product.
    let mut follows = Registers::NONE;
    for at in 0..issued.len() {
        let instruction = &issued[at].instruction;
        let writes = instruction.writes.without(flags);
        let is_later = causes[at] == Cause::Other && instruction.reads.meets(follows);
        if is_later {
            causes[at] = Cause::Requantise;
        }
        follows = if is_later || is_product(at, causes) {
            follows.with(writes)
        } else {
            follows.without(writes)
        };
    }
    // Which registers are read by such a product before they are written again.
    let mut wanted = Registers::NONE;
    for at in (0..issued.len()).rev() {
        let instruction = &issued[at].instruction;
        let is_before = causes[at] == Cause::Other && instruction.writes.meets(wanted);
        if is_before {
            causes[at] = Cause::Requantise;
        }
        wanted = wanted.without(instruction.writes);
        if is_before || is_product(at, causes) {
            wanted = wanted.with(instruction.reads.without(flags));
        }
    }
}

/// What a last branch is decided by belongs to the loop too: SUBS with a counter.
fn decide(issued: &[Issued], causes: &mut [Cause]) {
    let Some((last, before)) = issued.split_last() else { return };
    let reads_flags = last.instruction.reads.meets(Registers::FLAGS);
    if last.instruction.class != Class::Branch || !reads_flags {
        return;
    }
    let sets_flags = |issued: &Issued| issued.instruction.writes.meets(Registers::FLAGS);
    if let Some(index) = before.iter().rposition(sets_flags)
        && before[index].instruction.class == Class::Alu
    {
        causes[index] = Cause::Loop;
    }
}

/// SMMUL, SMMLA, SMMLS, and products of 64 bits (DDI 0403E, A5.3.16 and A5.3.17).
const fn is_wide_product(first: u16) -> bool {
    matches!(first & 0xfff0, 0xfb50 | 0xfb60 | 0xfb80..=0xfbf0)
}

/// SSAT, USAT (A5.3.3).
const fn is_saturation(first: u16) -> bool {
    first & 0xff50 == 0xf300
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_board::CoreKind;

    #[test]
    fn instructions_of_a_kernel_have_their_causes() {
        let halfwords: [u16; 15] = [
            0x6808, // ldr r0,[r1]
            0xfa2f, 0xf081, // sxtb16 r0,r1
            0xfb21, 0x3002, // smlad r0,r1,r2,r3
            0xfb51, 0x3012, // smmlar r0,r1,r2,r3
            0x1080, // asrs r0,r0,#2
            0xf300, 0x0007, // ssat r0,#8,r0
            0xf801, 0x0b01, // strb r0,[r1],#1
            0x3f01, // subs r7,#1
            0x4288, // cmp r0,r1
            0xd1f0, // bne
        ];
        let bytes: Vec<u8> = halfwords.iter().flat_map(|half| half.to_le_bytes()).collect();
        let issued = tilewright_cores::issues(CoreKind::CortexM4, &bytes);
        let expected = [
            Cause::Load,
            Cause::Arrange,
            Cause::Multiply,
            Cause::Requantise,
            Cause::Requantise,
            Cause::Requantise,
            Cause::Store,
            Cause::Other,
            Cause::Loop,
            Cause::Loop,
        ];
        assert_eq!(causes(&issued, &bytes), expected);
        // What goes into the product, and what comes out of it until it saturates; an address does not.
        let halfwords: [u16; 13] = [
            0x0064, // lsls r4,r4,#1
            0x3110, // adds r1,#16
            0xeb0c, 0x7ee4, // add.w lr,r12,r4,asr #31
            0xfb54, 0xe412, // smmlar r4,r4,r2,lr
            0x411c, // asrs r4,r3
            0xf304, 0x0507, // ssat r5,#8,r4
            0x3501, // adds r5,#1
            0x3401, // adds r4,#1
            0x2400, // movs r4,#0
            0x3401, // adds r4,#1
        ];
        let bytes: Vec<u8> = halfwords.iter().flat_map(|half| half.to_le_bytes()).collect();
        let issued = tilewright_cores::issues(CoreKind::CortexM4, &bytes);
        let [part, other] = [Cause::Requantise, Cause::Other];
        let expected = [part, other, part, part, part, part, other, part, other, other];
        assert_eq!(causes(&issued, &bytes), expected);
        // Without the compare, the counter decides.
        let bytes: Vec<u8> = [0x3f01u16, 0xd1fd].iter().flat_map(|h| h.to_le_bytes()).collect();
        let issued = tilewright_cores::issues(CoreKind::CortexM4, &bytes);
        assert_eq!(causes(&issued, &bytes), [Cause::Loop; 2]);
    }
}
