//! UF2, which boards take by a drive that they show: blocks of 512 bytes, each with where its bytes go
//! (microsoft/uf2, README, overall composition).

/// Bytes of flash in a block.
const PAYLOAD: u32 = 256;
/// Bytes of a block that may be payload.
const ROOM: usize = 476;
/// The numbers that a block begins and ends with.
const START: [u32; 2] = [0x0a32_4655, 0x9e5d_5157];
const END: u32 = 0x0ab1_6f30;
/// The block names a family.
const HAS_FAMILY: u32 = 0x2000;
/// What erased flash reads as.
const ERASED: u8 = 0xff;

/// Flash contents from an address on, for a family of microcontrollers; nothing if they reach past 4 GiB.
pub fn of(bin: &[u8], address: u32, family: u32) -> Option<Vec<u8>> {
    let blocks = u32::try_from(bin.len()).ok()?.div_ceil(PAYLOAD);
    let payload = PAYLOAD as usize;
    let mut file = Vec::new();
    for (index, chunk) in (0..).zip(bin.chunks(payload)) {
        let target = address.checked_add(PAYLOAD.checked_mul(index)?)?;
        let head = [START[0], START[1], HAS_FAMILY, target, PAYLOAD, index, blocks, family];
        file.extend(head.iter().flat_map(|word| word.to_le_bytes()));
        file.extend_from_slice(chunk);
        file.extend(std::iter::repeat_n(ERASED, payload - chunk.len()));
        file.extend(std::iter::repeat_n(0, ROOM - payload));
        file.extend(END.to_le_bytes());
    }
    Some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_say_where_their_bytes_go() {
        let bin: Vec<u8> = (0..=255).cycle().take(300).collect();
        let file = of(&bin, 0x1000_0000, 0xe48b_ff59).expect("it is short");
        assert_eq!(of(&bin, 0xffff_ff80, 0xe48b_ff59), None);
        assert_eq!(file.len(), 2 * 512);
        let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().expect("four bytes"));
        let second: Vec<u32> = (512..544).step_by(4).map(word).collect();
        let wanted = [START[0], START[1], 0x2000, 0x1000_0100, 256, 1, 2, 0xe48b_ff59];
        assert_eq!(second, wanted);
        assert_eq!(file[512 + 32..512 + 32 + 44], bin[256..]);
        assert!(file[512 + 32 + 44..512 + 32 + 256].iter().all(|byte| *byte == ERASED));
        assert_eq!([word(508), word(1020)], [END, END]);
    }
}
