//! Images that someone changed: checksums are put right again, so that the reader looks further
//! than them, and what it lets through is run.

use tilewright_plan::image::{AlignedBytes, CRC, Expected, Header, SectionRecord};
use tilewright_plan::{Instruction, PlanImage, Step};
use tilewright_planner::costs;
use tilewright_runtime::{Memory, run_program};
use zerocopy::{FromBytes, IntoBytes};

/// Arena of the machine that hostile images run on.
pub const ARENA_BYTES: usize = 64 << 10;
/// Programs with more multiply-accumulates are read but not run.
const MAX_MACS: u64 = 20_000_000;

/// Puts all checksums of an image right, as far as it has a header and a section table.
pub fn put_checksums_right(image: &mut [u8]) {
    let Ok((header, _)) = Header::read_from_prefix(image) else { return };
    let table_start = size_of::<Header>();
    let table_end = table_start + usize::from(header.sections) * size_of::<SectionRecord>();
    let Some(table) = image.get(table_start..table_end) else { return };
    let mut records: Vec<SectionRecord> = table
        .chunks_exact(size_of::<SectionRecord>())
        .filter_map(|bytes| SectionRecord::read_from_bytes(bytes).ok())
        .collect();
    for record in &mut records {
        let start = record.offset as usize;
        let end = start.saturating_add(record.bytes as usize);
        if let Some(bytes) = image.get(start..end) {
            record.crc = CRC.checksum(bytes);
        }
    }
    let mut plain = header;
    plain.header_crc = 0;
    let mut digest = CRC.digest();
    digest.update(plain.as_bytes());
    digest.update(records.as_bytes());
    plain.header_crc = digest.finalize();
    image[..table_start].copy_from_slice(plain.as_bytes());
    image[table_start..table_end].copy_from_slice(records.as_bytes());
}

/// Reads an image for `board` and, if the reader lets it through, runs its programs. Whether it
/// was let through.
pub fn read_and_run(image: &[u8], board: &str) -> bool {
    let aligned = AlignedBytes::copy_of(image);
    let mut arena = vec![0u8; ARENA_BYTES];
    let mut ram = vec![0u8; 1 << 16];
    let flash = vec![0u8; 4096];
    let mut memory = Memory::new(&mut arena).with_external(&mut ram, &flash);
    let mut space_bytes = memory.space_bytes();
    space_bytes[tilewright_plan::Space::Card as usize] = 1 << 20;
    let Ok(image) = PlanImage::read(aligned.bytes(), &Expected { board, space_bytes }) else {
        return false;
    };
    for (index, entry) in image.entries().iter().enumerate() {
        let records = image.entry_lanes(entry).iter().flat_map(|lane| image.lane_steps(lane));
        let macs: u64 = records.map(|record| macs(&image, Step::from_record(&record))).sum();
        if macs <= MAX_MACS {
            // An error is an answer; a panic is not.
            let _ = run_program(&image, index, &mut memory, &mut ());
        }
    }
    true
}

fn macs(image: &PlanImage<'_>, step: Option<Step>) -> u64 {
    let Some(Instruction::Compute { op, tile, first_view, .. }) = step.map(|step| step.instruction)
    else {
        return 0;
    };
    let mut reader = image.reader();
    let Some(step) = reader.compute(op, tile, first_view) else { return 0 };
    let features = costs::features(step.op, step.tile, step.operands);
    features.into_iter().map(|(_, value)| value).max().unwrap_or(0)
}
