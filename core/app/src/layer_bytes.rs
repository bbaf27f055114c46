//! The outputs of a run's layers, and their file.

use tilewright_plan::Space;

/// The output of a layer, byte for byte as the board computed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerBytes {
    /// Position in the plan's order; those of later frames behind all of the first.
    pub layer: u32,
    /// Memory that held the bytes.
    pub space: Space,
    /// Offset of the first byte in it.
    pub start: u32,
    /// The bytes; nothing if the run ended before.
    pub bytes: Option<Vec<u8>>,
}

/// All outputs in one file: for each the layer, the number of its memory, the offset there, the length (32 bits each,
/// little-endian) and the bytes. Layers that the run did not come to are left out.
#[must_use]
pub fn encoded_layers(layers: &[LayerBytes]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for layer in layers {
        let Some(output) = &layer.bytes else { continue };
        // Watches are bounded far below 4 GiB.
        for word in [layer.layer, layer.space as u32, layer.start, output.len() as u32] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        bytes.extend_from_slice(output);
    }
    bytes
}

/// Reads [that file](encoded_layers). What is cut off, or lies in a memory that there is not, ends the list.
#[must_use]
pub fn decoded_layers(bytes: &[u8]) -> Vec<LayerBytes> {
    let mut layers = Vec::new();
    let mut rest = bytes;
    while let Some((head, behind)) = rest.split_first_chunk::<16>() {
        let mut words = head.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
        let [layer, space, start, length] = [(); 4].map(|()| words.next().unwrap_or_default());
        let space = Space::ALL.into_iter().find(|known| *known as u32 == space);
        let part = space.zip(behind.split_at_checked(length as usize));
        let Some((space, (bytes, others))) = part else { break };
        layers.push(LayerBytes { layer, space, start, bytes: Some(bytes.to_vec()) });
        rest = others;
    }
    layers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_layers_leave_no_trace() {
        let layer = |layer, space, start, bytes| LayerBytes { layer, space, start, bytes };
        let layers = [
            layer(0, Space::Card, 7, Some(vec![1, 2])),
            layer(1, Space::Arena, 0, None),
            layer(2, Space::Arena, 0, Some(vec![])),
        ];
        let words = |words: [u32; 4]| words.map(u32::to_le_bytes).concat();
        let first = words([0, Space::Card as u32, 7, 2]);
        let last = words([2, Space::Arena as u32, 0, 0]);
        let file = encoded_layers(&layers);
        assert_eq!(file, [first, vec![1, 2], last].concat());
        let [there, _, empty] = layers;
        assert_eq!(decoded_layers(&file), [there.clone(), empty]);
        assert_eq!(decoded_layers(&file[..file.len() - 1]), [there], "the last is cut off");
        assert_eq!(decoded_layers(&words([0, 99, 0, 0])), [], "there is no such memory");
    }
}
