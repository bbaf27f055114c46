//! Products of one pixel with two output channels at a time: eighteen instructions make sixteen
//! products. Weights as in [`super::four`], filters padded with zeros to a multiple of eight.

use super::four::{PairWeights, Word};

#[cfg(not(armv7e_m))]
use super::{even_bytes, odd_bytes, products};

/// Activations of eight values: (x₀, x₂), (x₁, x₃), (x₄, x₆), (x₅, x₇).
pub type Eight = [Word; 4];

/// Weights of two channels for eight values.
pub type EightWeights = [PairWeights; 2];

/// Adds the products of `activations` with the weights of as many pairs of channels as there are
/// sums. Each pair's weights begin `stride` entries behind the last pair's. Gives whether there were
/// enough weights, at an address of words where there are such; computes nothing if not.
#[inline]
#[must_use]
pub fn add_products_of_one(
    weights: &[EightWeights],
    stride: usize,
    activations: &[Eight],
    sums: &mut [[i32; 2]],
) -> bool {
    let Some(last) = sums.len().checked_sub(1) else { return true };
    let needed = last.checked_mul(stride).and_then(|skip| skip.checked_add(activations.len()));
    if needed.is_none_or(|needed| needed > weights.len())
        || activations.is_empty()
        || stride < activations.len()
        || !weights.as_ptr().addr().is_multiple_of(4) && cfg!(armv7e_m)
    {
        return false;
    }
    #[cfg(armv7e_m)]
    {
        let skip = (stride - activations.len()) * size_of::<EightWeights>();
        let (sums, activations) = (sums.as_mut_ptr_range(), activations.as_ptr_range());
        // SAFETY: for each pair `activations.len()` entries of weights are read, `stride` apart:
        // checked above, as is that they are whole words. The activations and sums are slices; the activations may be words that
        // were never written, of which the instructions read whatever memory holds.
        #[expect(unsafe_code, reason = "a loop whose registers are chosen by hand")]
        unsafe {
            arm::add_products(
                weights.as_ptr(),
                activations.start,
                sums.start,
                sums.end,
                activations.end,
                skip,
            );
        }
    }
    #[cfg(not(armv7e_m))]
    for (weights, [first, second]) in weights.chunks(stride).zip(sums) {
        for (weights, activations) in weights.iter().zip(activations) {
            let (words, _) = weights.as_flattened().as_chunks();
            for (word, x) in words.iter().zip(activations) {
                let word = u32::from_le_bytes(*word);
                *first = products(even_bytes(word), *x, *first);
                *second = products(odd_bytes(word), *x, *second);
            }
        }
    }
    true
}

#[cfg(armv7e_m)]
#[expect(unsafe_code, reason = "all registers are needed")]
mod arm {
    use super::{Eight, EightWeights};
    use core::arch::naked_asm;

    /// See [`super::add_products_of_one`]; `skip`: bytes from a pair's last weights to the next
    /// pair's first. There is at least one pair of channels and one entry of activations.
    #[unsafe(naked)]
    pub unsafe extern "C" fn add_products(
        weights: *const EightWeights,
        activations: *const Eight,
        sums: *mut [i32; 2],
        sums_end: *mut [i32; 2],
        activations_end: *const Eight,
        skip: usize,
    ) {
        // The unrolled loop is entered so that it ends with the last activations: eight parts of 72
        // bytes each. On the stack: activations, sums, their end, where to enter; then what was
        // pushed (9 words) and the arguments: the activations' end at 52, `skip` at 56.
        naked_asm!(
            "push {{r4-r11, lr}}
            ldr r12, [sp, #36]
            sub r12, r12, r1
            lsr r12, r12, #4
            rsb r12, r12, #0
            and r12, r12, #7
            mov lr, #72
            mul r12, r12, lr
            adr.w lr, 2f
            add r12, r12, lr
            orr r12, r12, #1
            push {{r1, r2, r3, r12}}
            1:
            ldr r2, [sp, #4]
            ldrd r12, lr, [r2]
            ldr r1, [sp, #0]
            ldr r2, [sp, #12]
            bx r2
            .balign 4
            2:
            .rept 8
            ldm.w r0!, {{r2, r3, r4, r5}}
            ldm.w r1!, {{r6, r7, r8, r9}}
            sxtb16 r10, r2
            sxtb16 r11, r2, ror #8
            smlad r12, r10, r6, r12
            smlad lr, r11, r6, lr
            sxtb16 r10, r3
            sxtb16 r11, r3, ror #8
            smlad r12, r10, r7, r12
            smlad lr, r11, r7, lr
            sxtb16 r10, r4
            sxtb16 r11, r4, ror #8
            smlad r12, r10, r8, r12
            smlad lr, r11, r8, lr
            sxtb16 r10, r5
            sxtb16 r11, r5, ror #8
            smlad r12, r10, r9, r12
            smlad lr, r11, r9, lr
            .endr
            ldr r2, [sp, #52]
            cmp r1, r2
            bne.w 2b
            ldr r2, [sp, #4]
            strd r12, lr, [r2], #8
            str r2, [sp, #4]
            ldr r3, [sp, #56]
            add r0, r3
            ldr r3, [sp, #8]
            cmp r2, r3
            bne.w 1b
            add sp, #16
            pop {{r4-r11, pc}}",
        )
    }
}
