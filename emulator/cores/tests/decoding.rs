//! Instructions that the assembler made, one of each kind: class and length.

use tilewright_cores::{Class, Decoder, Instruction, decode};

/// Text, halfwords, class.
const INSTRUCTIONS: &[(&str, &[u16], Class)] = &[
    ("smlad r0, r1, r2, r3", &[0xfb21, 0x3002], Class::Multiply),
    ("smlald r0, r1, r2, r3", &[0xfbc2, 0x01c3], Class::Multiply),
    ("sxtb16 r0, r1", &[0xfa2f, 0xf081], Class::Dsp),
    ("sxtb16 r0, r1, ror #8", &[0xfa2f, 0xf091], Class::Dsp),
    ("sxtab16 r0, r2, r1", &[0xfa22, 0xf081], Class::Dsp),
    ("pkhbt r0, r1, r2, lsl #16", &[0xeac1, 0x4002], Class::Alu),
    ("pkhtb r0, r1, r2, asr #16", &[0xeac1, 0x4022], Class::Alu),
    ("sel r0, r1, r2", &[0xfaa1, 0xf082], Class::Dsp),
    ("smmlar r0, r1, r2, r3", &[0xfb51, 0x3012], Class::Multiply),
    ("smmulr r0, r1, r2", &[0xfb51, 0xf012], Class::Multiply),
    ("ssat r0, #8, r1", &[0xf301, 0x0007], Class::Dsp),
    ("ssat r0, #8, r1, lsl #3", &[0xf301, 0x00c7], Class::Dsp),
    ("usat r0, #8, r1", &[0xf381, 0x0008], Class::Dsp),
    ("ssat16 r0, #8, r1", &[0xf321, 0x0007], Class::Dsp),
    ("qadd r0, r1, r2", &[0xfa82, 0xf081], Class::Dsp),
    ("qadd8 r0, r1, r2", &[0xfa81, 0xf012], Class::Dsp),
    ("ssub8 r0, r1, r2", &[0xfac1, 0xf002], Class::Dsp),
    ("uadd8 r0, r1, r2", &[0xfa81, 0xf042], Class::Dsp),
    ("smulbb r0, r1, r2", &[0xfb11, 0xf002], Class::Multiply),
    ("smlabt r0, r1, r2, r3", &[0xfb11, 0x3012], Class::Multiply),
    ("smull r0, r1, r2, r3", &[0xfb82, 0x0103], Class::Multiply),
    ("smlal r0, r1, r2, r3", &[0xfbc2, 0x0103], Class::Multiply),
    ("umaal r0, r1, r2, r3", &[0xfbe2, 0x0163], Class::Multiply),
    ("smulwb r0, r1, r2", &[0xfb31, 0xf002], Class::Multiply),
    ("smusd r0, r1, r2", &[0xfb41, 0xf002], Class::Multiply),
    ("usad8 r0, r1, r2", &[0xfb71, 0xf002], Class::Multiply),
    ("usada8 r0, r1, r2, r3", &[0xfb71, 0x3002], Class::Multiply),
    ("rev r0, r1", &[0xba08], Class::Alu),
    ("rbit r0, r1", &[0xfa91, 0xf0a1], Class::Alu),
    ("clz r0, r1", &[0xfab1, 0xf081], Class::Alu),
    ("bfi r0, r1, #3, #4", &[0xf361, 0x00c6], Class::Alu),
    ("ubfx r0, r1, #3, #4", &[0xf3c1, 0x00c3], Class::Alu),
    ("sdiv r0, r1, r2", &[0xfb91, 0xf0f2], Class::Divide),
    ("mla r0, r1, r2, r3", &[0xfb01, 0x3002], Class::Multiply),
    ("mls r0, r1, r2, r3", &[0xfb01, 0x3012], Class::Multiply),
    ("tbb [pc, r0]", &[0xe8df, 0xf000], Class::BranchTable),
    ("tbh [pc, r0, lsl #1]", &[0xe8df, 0xf010], Class::BranchTable),
    ("ldrex r0, [r1]", &[0xe851, 0x0f00], Class::Load),
    ("strex r0, r1, [r2]", &[0xe842, 0x1000], Class::Store),
    ("ldrd r0, r1, [r2, #8]", &[0xe9d2, 0x0102], Class::LoadMany(2)),
    ("ldmia r0!, {r1, r2, r3, r4}", &[0xc81e], Class::LoadMany(4)),
    ("ldmia.w r0!, {r1, r2, r3, r4, r5, r6, r7, r8}", &[0xe8b0, 0x01fe], Class::LoadMany(8)),
    ("stmdb sp!, {r4, r5, r6, r7, r8, r9, sl, fp, lr}", &[0xe92d, 0x4ff0], Class::StoreMany(9)),
    ("ldmia.w sp!, {r4, r5, r6, r7, r8, r9, sl, fp, pc}", &[0xe8bd, 0x8ff0], Class::LoadMany(9)),
    ("vldr s0, [r0]", &[0xed90, 0x0a00], Class::FloatLoad(1)),
    ("vldr d0, [r0]", &[0xed90, 0x0b00], Class::FloatLoad(2)),
    ("vadd.f32 s0, s1, s2", &[0xee30, 0x0a81], Class::FloatAdd),
    ("vfma.f32 s0, s1, s2", &[0xeea0, 0x0a81], Class::FloatAccumulate),
    ("vdiv.f32 s0, s1, s2", &[0xee80, 0x0a81], Class::FloatDivide(false)),
    ("vmul.f64 d0, d1, d2", &[0xee21, 0x0b02], Class::FloatMultiply),
    ("vcvt.s32.f32 s0, s0", &[0xeebd, 0x0ac0], Class::FloatAdd),
    ("vmov r0, s0", &[0xee10, 0x0a10], Class::FloatMove),
    ("vmov s0, r0", &[0xee00, 0x0a10], Class::FloatMove),
    ("vmov.f32 s0, #112", &[0xeeb7, 0x0a00], Class::FloatMove),
    ("vpush {s16-s31}", &[0xed2d, 0x8a10], Class::StoreMany(16)),
    ("vpop {d8-d15}", &[0xecbd, 0x8b10], Class::LoadMany(16)),
    ("vldmia r0!, {s0-s7}", &[0xecb0, 0x0a08], Class::LoadMany(8)),
    ("vcmp.f32 s0, s1", &[0xeeb4, 0x0a60], Class::FloatAdd),
    ("vmrs APSR_nzcv, fpscr", &[0xeef1, 0xfa10], Class::FloatMove),
    ("vsqrt.f32 s0, s1", &[0xeeb1, 0x0ae0], Class::FloatDivide(false)),
    ("vrinta.f32 s0, s1", &[0xfeb8, 0x0a60], Class::FloatAdd),
    ("vmaxnm.f32 s0, s1, s2", &[0xfe80, 0x0a81], Class::FloatAdd),
    ("vseleq.f32 s0, s1, s2", &[0xfe00, 0x0a81], Class::FloatMove),
    ("vcvta.s32.f32 s0, s1", &[0xfebc, 0x0ae0], Class::FloatAdd),
    ("mrs r0, PRIMASK", &[0xf3ef, 0x8010], Class::System),
    ("msr BASEPRI, r0", &[0xf380, 0x8811], Class::System),
    ("mrs r0, MSP", &[0xf3ef, 0x8008], Class::System),
    ("cpsid i", &[0xb672], Class::System),
    ("cpsie f", &[0xb661], Class::System),
    ("dsb sy", &[0xf3bf, 0x8f4f], Class::Barrier),
    ("isb sy", &[0xf3bf, 0x8f6f], Class::Barrier),
    ("dmb sy", &[0xf3bf, 0x8f5f], Class::Barrier),
    ("wfi", &[0xbf30], Class::WaitForInterrupt),
    ("wfe", &[0xbf20], Class::WaitForEvent),
    ("sev", &[0xbf40], Class::SendEvent),
    ("nop", &[0xbf00], Class::Nop),
    ("nop.w", &[0xf3af, 0x8000], Class::Nop),
    ("yield.w", &[0xf3af, 0x8001], Class::Nop),
    ("bkpt 0x0000", &[0xbe00], Class::Breakpoint),
    ("svc 3", &[0xdf03], Class::SupervisorCall),
    ("udf #1", &[0xde01], Class::Undefined),
    ("it eq", &[0xbf08], Class::IfThen),
    ("moveq r0, r1", &[0x4608], Class::Alu),
    ("itte ne", &[0xbf1a], Class::IfThen),
    ("movne r0, r1", &[0x4608], Class::Alu),
    ("addne r0, r0, r1", &[0x1840], Class::Alu),
    ("moveq r0, r2", &[0x4610], Class::Alu),
    ("cbz r0, 140", &[0xb108], Class::Branch),
    ("cbnz r0, 144", &[0xb910], Class::Branch),
    ("b.w 13e", &[0xf7ff, 0xbffe], Class::Branch),
    ("bl 142", &[0xf7ff, 0xfffe], Class::Branch),
    ("blx r0", &[0x4780], Class::BranchIndirect),
    ("bx lr", &[0x4770], Class::BranchIndirect),
    ("movw r0, #1234", &[0xf240, 0x40d2], Class::Alu),
    ("movt r0, #1234", &[0xf2c0, 0x40d2], Class::Alu),
    ("pld [r0]", &[0xf890, 0xf000], Class::Nop),
    ("add.w r0, r1, r2, lsl #3", &[0xeb01, 0x00c2], Class::Alu),
    ("ldr.w r0, [r1, r2, lsl #2]", &[0xf851, 0x0022], Class::Load),
    ("ldrsb.w r0, [r1], #1", &[0xf911, 0x0b01], Class::Load),
    ("ldrsb.w r0, [r1, #3]!", &[0xf911, 0x0f03], Class::Load),
    ("strd r0, r1, [r2], #8", &[0xe8e2, 0x0102], Class::StoreMany(2)),
    ("addw r0, r1, #123", &[0xf201, 0x007b], Class::Alu),
    ("subw r0, pc, #2", &[0xf2af, 0x0002], Class::Alu),
    ("teq r0, r1", &[0xea90, 0x0f01], Class::Alu),
    ("mov.w r0, r1, rrx", &[0xea4f, 0x0031], Class::Alu),
    ("lsl.w r0, r1, r2", &[0xfa01, 0xf002], Class::Alu),
    ("uxtb.w r0, r1, ror #8", &[0xfa5f, 0xf091], Class::Alu),
    ("sxtah r0, r1, r2", &[0xfa01, 0xf082], Class::Alu),
    ("clrex", &[0xf3bf, 0x8f2f], Class::System),
    ("strb r0, [r1, #3]", &[0x70c8], Class::Store),
    ("ldrh r0, [r1, r2]", &[0x5a88], Class::Load),
    ("str.w r0, [r1, #-4]!", &[0xf841, 0x0d04], Class::Store),
    ("ldr.w pc, [r0]", &[0xf8d0, 0xf000], Class::BranchIndirect),
    ("pop {r4, pc}", &[0xbd10], Class::LoadMany(2)),
    ("stmdb r0!, {r1, r2, r3, r4}", &[0xe920, 0x001e], Class::StoreMany(4)),
    ("ldrexb r0, [r1]", &[0xe8d1, 0x0f4f], Class::Load),
    ("strexh r0, r1, [r2]", &[0xe8c2, 0x1f50], Class::Store),
    ("orn r0, r1, r2", &[0xea61, 0x0002], Class::Alu),
    ("mvn.w r0, r1", &[0xea6f, 0x0001], Class::Alu),
    ("cmp.w r0, #1000", &[0xf5b0, 0x7f7a], Class::Alu),
    ("tst.w r0, r1", &[0xea10, 0x0f01], Class::Alu),
    ("movs r0, #1", &[0x2001], Class::Alu),
    ("muls r0, r1", &[0x4348], Class::Multiply),
    ("lsls r0, r1", &[0x4088], Class::Alu),
    ("cmp r0, r8", &[0x4540], Class::Alu),
    ("add r0, sp, #16", &[0xa804], Class::Alu),
    ("sub sp, #16", &[0xb084], Class::Alu),
    ("rev16 r0, r1", &[0xba48], Class::Alu),
    ("msr CONTROL, r0", &[0xf380, 0x8814], Class::System),
    ("bgt.w 1c2", &[0xf73f, 0xaffc], Class::Branch),
    ("vldr s31, [pc, #8]", &[0xeddf, 0xfa02], Class::FloatLoad(1)),
    ("vstr d15, [r0]", &[0xed80, 0xfb00], Class::FloatStore(2)),
    ("vstmia r0!, {s0-s3}", &[0xeca0, 0x0a04], Class::StoreMany(4)),
    ("vmov r0, r1, d0", &[0xec51, 0x0b10], Class::FloatMove),
    ("vmov s0, s1, r2, r3", &[0xec43, 0x2a10], Class::FloatMove),
    ("vneg.f32 s0, s1", &[0xeeb1, 0x0a60], Class::FloatAdd),
    ("vcvt.f64.f32 d0, s1", &[0xeeb7, 0x0ae0], Class::FloatAdd),
    ("vcvt.f32.u32 s0, s1", &[0xeeb8, 0x0a60], Class::FloatAdd),
    ("vmla.f32 s0, s1, s2", &[0xee00, 0x0a81], Class::FloatAccumulate),
    ("vnmul.f32 s0, s1, s2", &[0xee20, 0x0ac1], Class::FloatMultiply),
    ("vsub.f64 d0, d1, d2", &[0xee31, 0x0b42], Class::FloatAdd),
    ("vdiv.f64 d0, d1, d2", &[0xee81, 0x0b02], Class::FloatDivide(true)),
    ("vsqrt.f64 d0, d1", &[0xeeb1, 0x0bc1], Class::FloatDivide(true)),
    ("vmsr fpscr, r0", &[0xeee1, 0x0a10], Class::FloatMove),
    ("vminnm.f32 s0, s1, s2", &[0xfe80, 0x0ac1], Class::FloatAdd),
    ("smuad r0, r1, r2", &[0xfb21, 0xf002], Class::Multiply),
    ("smlsd r0, r1, r2, r3", &[0xfb41, 0x3002], Class::Multiply),
    ("smmla r0, r1, r2, r3", &[0xfb51, 0x3002], Class::Multiply),
    ("uadd16 r0, r1, r2", &[0xfa91, 0xf042], Class::Dsp),
    ("shadd8 r0, r1, r2", &[0xfa81, 0xf022], Class::Dsp),
    ("qsub r0, r1, r2", &[0xfa82, 0xf0a1], Class::Dsp),
    ("uqsub8 r0, r1, r2", &[0xfac1, 0xf052], Class::Dsp),
    ("usat16 r0, #8, r1", &[0xf3a1, 0x0008], Class::Dsp),
    ("bfc r0, #3, #4", &[0xf36f, 0x00c6], Class::Alu),
    ("sbfx r0, r1, #3, #4", &[0xf341, 0x00c3], Class::Alu),
    ("udiv r0, r1, r2", &[0xfbb1, 0xf0f2], Class::Divide),
    ("umlal r0, r1, r2, r3", &[0xfbe2, 0x0103], Class::Multiply),
    ("sxtab r0, r1, r2", &[0xfa41, 0xf082], Class::Alu),
    ("uxtb16 r0, r1", &[0xfa3f, 0xf081], Class::Dsp),
    ("dbg #1", &[0xf3af, 0x80f1], Class::Nop),
];

fn bytes(halfwords: &[u16]) -> Vec<u8> {
    halfwords.iter().flat_map(|halfword| halfword.to_le_bytes()).collect()
}

#[test]
fn every_kind_of_instruction_is_told_apart() {
    for (text, halfwords, class) in INSTRUCTIONS {
        let Instruction { class: found, bytes: length, .. } = decode(&bytes(halfwords)).unwrap();
        assert_eq!((found, usize::from(length)), (*class, halfwords.len() * 2), "{text}");
    }
}

#[test]
fn all_of_them_in_a_row_are_counted() {
    let all: Vec<u8> = INSTRUCTIONS.iter().flat_map(|(_, halfwords, _)| bytes(halfwords)).collect();
    assert_eq!(Decoder::new(&all).count(), INSTRUCTIONS.len());
}

#[test]
fn nothing_makes_the_decoder_fail() {
    // Every first halfword with a spread of second ones.
    for first in 0..=u16::MAX {
        for step in 0..64u16 {
            let second = step.wrapping_mul(0x9e37) ^ first.rotate_left(u32::from(step % 16));
            let instruction = decode(&bytes(&[first, second])).unwrap();
            assert_eq!(instruction.bytes == 4, first >> 11 >= 0b11101);
        }
    }
    assert!(decode(&[0x70]).is_none());
    assert!(decode(&[0x00, 0xf0, 0x00]).is_none());
}
