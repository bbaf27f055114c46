//! Reads an image in place. Everything is validated once; afterwards nothing can go wrong.

mod checksums;
mod names;

use core::ops::Deref;

use super::{
    ALIGNMENT, CRC, ComputeStep, Cursor, EntryRecord, FIRMWARE_ABI, Header, ImageError, IoRecord,
    LaneRecord, LayerRecord, MAGIC, Packed, Section, SectionRecord, StepReader, VERSION,
};
use crate::SectorChecksums;
use crate::domain;
use crate::gather::Gather;
use crate::kernel::Kernel;
use crate::op::Op;
use crate::rows::MOST_OPERANDS;
use crate::step::{Instruction, LaneKind, MAX_FRAMES, MAX_LANES, Step, StepRecord};
use crate::view::{Space, Span, Tile, View};
use crate::window::Window;
use names::Names;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// What the reader demands of an image.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'e> {
    /// Board id; an image for another board is refused.
    pub board: &'e str,
    /// Bytes that exist in each space; flash sections are bounded by the image itself.
    pub space_bytes: [u64; 6],
}

/// A validated plan image, read in place.
#[derive(Clone, Copy, Debug)]
pub struct PlanImage<'a> {
    header: &'a Header,
    entries: &'a [EntryRecord],
    lanes: &'a [LaneRecord],
    steps: Packed<'a, StepRecord>,
    ops: &'a [Op],
    tiles: Packed<'a, Tile>,
    views: Packed<'a, View>,
    spans: Packed<'a, Span>,
    io: &'a [IoRecord],
    layers: &'a [LayerRecord],
    constants: &'a [u8],
    weights: &'a [u8],
    sums: &'a [u32],
    names: Names<'a>,
}

fn table<T: FromBytes + KnownLayout + Immutable>(
    bytes: &[u8],
    section: Section,
) -> Result<&[T], ImageError> {
    <[T]>::ref_from_bytes(bytes).map_err(|_| ImageError::BadSection(section))
}

fn packed<T: Copy + FromBytes + IntoBytes>(
    bytes: &[u8],
    section: Section,
) -> Result<Packed<'_, T>, ImageError> {
    Packed::read(bytes).ok_or(ImageError::BadSection(section))
}

/// The operands of a compute step.
#[derive(Clone, Copy, Debug)]
pub struct Operands {
    views: [View; MOST_OPERANDS],
    count: usize,
}

impl Deref for Operands {
    type Target = [View];

    fn deref(&self) -> &[View] {
        self.views.get(..self.count).unwrap_or(&[])
    }
}

impl<'a> PlanImage<'a> {
    /// Reads and validates the image at the start of `bytes`; bytes behind it are ignored.
    ///
    /// # Errors
    /// [`ImageError`] says what differs from an image for this board and firmware.
    pub fn read(bytes: &'a [u8], expected: &Expected<'_>) -> Result<Self, ImageError> {
        let had = bytes.len() as u64;
        let short = |needed| ImageError::Truncated { needed, had };
        if !bytes.as_ptr().addr().is_multiple_of(ALIGNMENT) {
            return Err(ImageError::Misaligned);
        }
        let header_bytes = size_of::<Header>();
        if bytes.get(..4).is_none_or(|magic| magic != MAGIC) {
            return Err(if bytes.len() < 4 { short(4) } else { ImageError::NotAnImage });
        }
        let (header, rest) =
            Header::ref_from_prefix(bytes).map_err(|_| short(header_bytes as u64))?;
        if header.version != VERSION {
            return Err(ImageError::Version { image: header.version, reader: VERSION });
        }
        if header.abi != FIRMWARE_ABI {
            return Err(ImageError::Abi { image: header.abi, firmware: FIRMWARE_ABI });
        }
        let image = bytes
            .get(..header.image_bytes as usize)
            .ok_or_else(|| short(u64::from(header.image_bytes)))?;
        let table_bytes = usize::from(header.sections) * size_of::<SectionRecord>();
        let records = rest.get(..table_bytes).ok_or(ImageError::SectionTable)?;
        verify_header(header, records)?;
        let records: &[SectionRecord] =
            <[SectionRecord]>::ref_from_bytes(records).map_err(|_| ImageError::SectionTable)?;
        let mut expected_board = [0u8; 24];
        for (to, from) in expected_board.iter_mut().zip(expected.board.bytes()) {
            *to = from;
        }
        if header.board != expected_board {
            return Err(ImageError::Board { image: header.board });
        }
        let sections = split(image, records, header_bytes + table_bytes)?;
        let [
            entries,
            lanes,
            steps,
            ops,
            tiles,
            views,
            spans,
            io,
            layers,
            constants,
            weights,
            sums,
            names,
        ] = sections;
        let this = Self {
            header,
            entries: table(entries, Section::Entries)?,
            lanes: table(lanes, Section::Lanes)?,
            steps: packed(steps, Section::Steps)?,
            ops: table(ops, Section::Ops)?,
            tiles: packed(tiles, Section::Tiles)?,
            views: packed(views, Section::Views)?,
            spans: packed(spans, Section::Spans)?,
            io: table(io, Section::Io)?,
            layers: table(layers, Section::Layers)?,
            constants,
            weights,
            sums: table(sums, Section::Sums)?,
            names: Names::read(names).ok_or(ImageError::BadSection(Section::Names))?,
        };
        this.validate(expected)?;
        Ok(this)
    }

    fn validate(&self, expected: &Expected<'_>) -> Result<(), ImageError> {
        for space in Space::ALL {
            let needed = self.space_bytes(space);
            let had = match space {
                Space::Weights => self.weights.len() as u64,
                Space::Constants => self.constants.len() as u64,
                _ => expected.space_bytes[space as usize],
            };
            if needed > had {
                return Err(ImageError::SpaceTooSmall { space, needed, had });
            }
        }
        if let Some(checksums) = self.sector_checksums() {
            let had = self.space_bytes(Space::Arena);
            let is_apart = checksums.offset.is_multiple_of(SectorChecksums::ALIGNMENT);
            if checksums.end() > had || !is_apart {
                return Err(ImageError::SectorChecksums { end: checksums.end(), had });
            }
        }
        if let Some(window) = self.window() {
            let had = self.space_bytes(Space::Arena);
            let mut checksums = self.sector_checksums().into_iter();
            let is_apart =
                !checksums.any(|checksums| window.meets(checksums.offset.into(), checksums.end()));
            if window.end() > had || !window.is_whole() || !is_apart {
                return Err(ImageError::SectorChecksums { end: window.end(), had });
            }
        }
        if !self.checksums_are_whole() {
            return Err(ImageError::BadSection(Section::Sums));
        }
        let bad = |section, index: usize, reason| ImageError::BadRecord {
            section,
            index: u32::try_from(index).unwrap_or(u32::MAX),
            reason,
        };
        for (index, view) in self.views.iter().enumerate() {
            self.validate_view(&view).map_err(|reason| bad(Section::Views, index, reason))?;
        }
        for (index, span) in self.spans.iter().enumerate() {
            let space = span.space().ok_or_else(|| bad(Section::Spans, index, "unknown space"))?;
            let end = u64::from(span.offset) + span.extent();
            if end > self.space_bytes(space) {
                return Err(bad(Section::Spans, index, "reaches past the end of its space"));
            }
        }
        for (index, op) in self.ops.iter().enumerate() {
            domain::check_op(op).map_err(|reason| bad(Section::Ops, index, reason))?;
        }
        for (index, layer) in self.layers.iter().enumerate() {
            if usize::from(layer.name) >= self.names.table.len() {
                return Err(bad(Section::Layers, index, "unknown name"));
            }
        }
        let mut next_label = 0;
        for (index, io) in self.io.iter().enumerate() {
            let label_first = usize::from(io.label_first);
            let labels_end = label_first + usize::from(io.label_count);
            if io.view as usize >= self.views.len()
                || usize::from(io.name) >= self.names.table.len()
                || labels_end > self.names.table.len()
            {
                return Err(bad(Section::Io, index, "points outside its tables"));
            }
            if io.label_count > 0 {
                // Nobody's labels are another's, so that reading all is linear in the names.
                if label_first < next_label {
                    return Err(bad(Section::Io, index, "its labels are those of another"));
                }
                next_label = labels_end;
            }
        }
        let mut next_step = 0;
        for (index, lane) in self.lanes.iter().enumerate() {
            if LaneKind::from_number(lane.kind).is_none() {
                return Err(bad(Section::Lanes, index, "unknown kind"));
            }
            if lane.step_first as usize != next_step {
                return Err(bad(Section::Lanes, index, "its steps do not follow the last lane's"));
            }
            next_step = next_step.saturating_add(lane.step_count as usize);
            if next_step > self.steps.len() {
                return Err(bad(Section::Lanes, index, "reaches past the steps"));
            }
        }
        let (mut next_lane, mut next_io) = (0, 0);
        let (mut reader, mut spans) = (self.reader(), self.spans());
        for (index, entry) in self.entries.iter().enumerate() {
            // Tables are used up in order, so that each record is validated once.
            if usize::from(entry.lane_first) != next_lane
                || usize::from(entry.input_first) != next_io
                || usize::from(entry.output_first) != next_io + usize::from(entry.input_count)
            {
                return Err(bad(Section::Entries, index, "its tables do not follow the last's"));
            }
            next_lane += usize::from(entry.lane_count);
            next_io += usize::from(entry.input_count) + usize::from(entry.output_count);
            self.validate_entry(entry).map_err(|reason| bad(Section::Entries, index, reason))?;
            for lane in self.entry_lanes(entry) {
                let first = lane.step_first as usize;
                for (offset, record) in self.lane_steps(lane).enumerate() {
                    self.validate_step(&record, entry, &mut reader, &mut spans)
                        .map_err(|reason| bad(Section::Steps, first + offset, reason))?;
                }
            }
        }
        Ok(())
    }

    fn validate_view(&self, view: &View) -> Result<(), &'static str> {
        let space = view.space().ok_or("unknown space")?;
        domain::check_view(view, self.space_bytes(space))
    }

    fn validate_entry(&self, entry: &EntryRecord) -> Result<(), &'static str> {
        let lanes_end = usize::from(entry.lane_first) + usize::from(entry.lane_count);
        if lanes_end > self.lanes.len() || usize::from(entry.lane_count) > MAX_LANES {
            return Err("lanes point outside the lane table");
        }
        let inputs_end = usize::from(entry.input_first) + usize::from(entry.input_count);
        let outputs_end = usize::from(entry.output_first) + usize::from(entry.output_count);
        if inputs_end > self.io.len() || outputs_end > self.io.len() {
            return Err("inputs or outputs point outside the IO table");
        }
        let window = self.window();
        for io in self.entry_inputs(entry) {
            let view = self.view(io.view).unwrap_or_default();
            let space = view.space();
            if space == Some(Space::Card) {
                let is_inside = Window::end_of(&view) <= self.space_bytes(Space::Card);
                if window.is_none() || !Window::takes(&view) || !is_inside {
                    return Err("an input on a card has no way there");
                }
                continue;
            }
            if !space.is_some_and(Space::is_writable) || !view.is_contiguous() {
                return Err("an input is not a contiguous tensor in a writable space");
            }
            let (start, end) = (u64::from(view.offset), u64::from(view.offset) + view.extent());
            let is_over = |window: Window| space == Some(Space::Arena) && window.meets(start, end);
            if window.is_some_and(is_over) {
                return Err("an input lies in the others' way");
            }
        }
        for io in self.entry_outputs(entry) {
            if !self.view(io.view).as_ref().is_some_and(View::is_contiguous) {
                return Err("an output is not a contiguous tensor");
            }
        }
        if usize::from(entry.name) >= self.names.table.len() {
            return Err("unknown name");
        }
        if !(1..=MAX_FRAMES).contains(&entry.frames)
            || !entry.input_count.is_multiple_of(entry.frames)
            || !entry.output_count.is_multiple_of(entry.frames)
        {
            return Err("inputs or outputs are not those of its frames");
        }
        Ok(())
    }

    fn validate_step(
        &self,
        record: &StepRecord,
        entry: &EntryRecord,
        reader: &mut StepReader<'_>,
        spans: &mut Cursor<'_, Span>,
    ) -> Result<(), &'static str> {
        let step = Step::from_record(record).ok_or("unknown instruction")?;
        if usize::from(step.layer) >= self.layers.len() {
            return Err("unknown layer");
        }
        if u16::from(step.frame) >= entry.frames {
            return Err("unknown frame");
        }
        for after in step.after.into_iter().flatten() {
            let lane =
                self.entry_lanes(entry).get(usize::from(after.lane)).ok_or("unknown lane")?;
            if after.step >= lane.step_count {
                return Err("waits for a step that does not exist");
            }
        }
        match step.instruction {
            Instruction::Compute { op, tile, first_view, order } => {
                let ComputeStep { op, tile, operands } =
                    reader.compute(op, tile, first_view).ok_or("unknown op, tile or views")?;
                domain::check_compute(op, tile, operands)?;
                domain::check_order(op, order)?;
                match (op.kernel(), operands) {
                    (Some(Kernel::Gather), [input, _, parameters]) => {
                        let gather = self.gather(parameters).ok_or("parameters are not there")?;
                        domain::check_gather(&gather, tile, input)
                    }
                    _ => Ok(()),
                }
            }
            Instruction::Copy { source, destination, sum } => {
                let from = spans.get(source).ok_or("unknown source")?;
                let to = spans.get(destination).ok_or("unknown destination")?;
                if from.bytes() != to.bytes() {
                    return Err("source and destination differ in length");
                }
                let space = to.space().ok_or("unknown space")?;
                if !space.is_writable() && space != Space::Card {
                    return Err("copies to a space that cannot be written");
                }
                if sum.is_some_and(|s| s as usize >= self.copy_checksum_count()) {
                    return Err("unknown checksum");
                }
                Ok(())
            }
            Instruction::Arrive { view } => {
                let view = self.view(view).ok_or("unknown view")?;
                let is_writable = view.space().is_some_and(Space::is_writable);
                let is_there = is_writable && view.is_contiguous();
                is_there.then_some(()).ok_or("rows arrive where no run of bytes can be written")
            }
            Instruction::Exit { output, .. } => {
                let outputs = self.entry_outputs(entry);
                let view = outputs.get(usize::from(output)).and_then(|io| self.view(io.view));
                let space = view.ok_or("unknown output")?.space();
                let is_there = entry.frames == 1 && space.is_some_and(Space::is_writable);
                is_there.then_some(()).ok_or("an exit looks at an output that is not in RAM")
            }
        }
    }

    /// Board id.
    #[must_use]
    pub fn board(&self) -> &'a str {
        let end = self.header.board.iter().position(|b| *b == 0).unwrap_or(24);
        str::from_utf8(&self.header.board[..end]).unwrap_or("")
    }

    /// SHA-256 over the sections.
    #[must_use]
    pub fn plan_id(&self) -> &'a [u8; 32] {
        &self.header.plan_id
    }

    /// Bytes of the whole image.
    #[must_use]
    pub fn image_bytes(&self) -> u32 {
        self.header.image_bytes
    }

    /// Bytes that the programs use in a space.
    #[must_use]
    pub fn space_bytes(&self, space: Space) -> u64 {
        u64::from(self.header.space_bytes[space as usize])
    }

    /// The programs.
    #[must_use]
    pub fn entries(&self) -> &'a [EntryRecord] {
        self.entries
    }

    /// The lanes of a program of this image; empty for another image's.
    #[must_use]
    pub fn entry_lanes(&self, entry: &EntryRecord) -> &'a [LaneRecord] {
        let first = usize::from(entry.lane_first);
        self.lanes.get(first..first + usize::from(entry.lane_count)).unwrap_or(&[])
    }

    /// The steps of a lane of this image; empty for another image's.
    pub fn lane_steps(
        &self,
        lane: &LaneRecord,
    ) -> impl DoubleEndedIterator<Item = StepRecord> + ExactSizeIterator + use<'a> {
        let first = lane.step_first;
        let end = first.saturating_add(lane.step_count);
        let (first, end) = if end as usize <= self.steps.len() { (first, end) } else { (0, 0) };
        let mut steps = self.steps.cursor();
        (first..end).map(move |index| steps.get(index).unwrap_or_default())
    }

    /// A step of a lane of this image; nothing for another image's.
    #[must_use]
    pub fn lane_step(&self, lane: &LaneRecord, step: u32) -> Option<StepRecord> {
        self.steps.get(lane.index_of(step)?)
    }

    /// The steps of all lanes.
    #[must_use]
    pub const fn steps(&self) -> Cursor<'a, StepRecord> {
        self.steps.cursor()
    }

    /// Reads steps, and what the computing ones name.
    #[must_use]
    pub fn reader(&self) -> StepReader<'a> {
        StepReader::new(self.ops, self.steps.cursor(), self.tiles.cursor(), self.views.cursor())
    }

    /// The spans.
    #[must_use]
    pub const fn spans(&self) -> Cursor<'a, Span> {
        self.spans.cursor()
    }

    /// The inputs of a program.
    #[must_use]
    pub fn entry_inputs(&self, entry: &EntryRecord) -> &'a [IoRecord] {
        let first = usize::from(entry.input_first);
        self.io.get(first..first + usize::from(entry.input_count)).unwrap_or(&[])
    }

    /// The outputs of a program.
    #[must_use]
    pub fn entry_outputs(&self, entry: &EntryRecord) -> &'a [IoRecord] {
        let first = usize::from(entry.output_first);
        self.io.get(first..first + usize::from(entry.output_count)).unwrap_or(&[])
    }

    /// The op at an index that a validated step holds.
    #[must_use]
    pub fn op(&self, index: u32) -> Option<&'a Op> {
        self.ops.get(index as usize)
    }

    /// The tile at an index.
    #[must_use]
    pub fn tile(&self, index: u32) -> Option<Tile> {
        self.tiles.get(index)
    }

    /// The span at an index.
    #[must_use]
    pub fn span(&self, index: u32) -> Option<Span> {
        self.spans.get(index)
    }

    /// The view at an index.
    #[must_use]
    pub fn view(&self, index: u32) -> Option<View> {
        self.views.get(index)
    }

    /// The operands of a compute step: one view for each role of the op's kernel.
    #[must_use]
    pub fn operands(&self, op: &Op, first_view: u32) -> Option<Operands> {
        let count = op.kernel()?.roles().len();
        let mut views = [View::default(); MOST_OPERANDS];
        self.views.cursor().read_all(first_view, views.get_mut(..count)?)?;
        Some(Operands { views, count })
    }

    /// The parameters of a gather that a view of constants holds.
    #[must_use]
    pub fn gather(&self, view: &View) -> Option<Gather> {
        let start = (view.space()? == Space::Constants).then_some(view.offset as usize)?;
        let bytes = self.constants.get(start..)?;
        Gather::read_from_prefix(bytes).ok().map(|(gather, _)| gather)
    }

    /// The layers.
    #[must_use]
    pub fn layers(&self) -> &'a [LayerRecord] {
        self.layers
    }

    /// A text: layer, program, tensor or class label.
    #[must_use]
    pub fn name(&self, index: u16) -> &'a str {
        self.names.get(usize::from(index)).unwrap_or("")
    }

    /// The weights section: space [`Space::Weights`].
    #[must_use]
    pub fn weights(&self) -> &'a [u8] {
        self.weights
    }

    /// The constants section: space [`Space::Constants`].
    #[must_use]
    pub fn constants(&self) -> &'a [u8] {
        self.constants
    }
}

fn verify_header(header: &Header, records: &[u8]) -> Result<(), ImageError> {
    use zerocopy::IntoBytes;
    let mut plain = *header;
    plain.header_crc = 0;
    let mut digest = CRC.digest();
    digest.update(plain.as_bytes());
    digest.update(records);
    if digest.finalize() == header.header_crc {
        Ok(())
    } else {
        Err(ImageError::Checksum { section: None })
    }
}

fn split<'a>(
    image: &'a [u8],
    records: &[SectionRecord],
    tables_end: usize,
) -> Result<[&'a [u8]; 13], ImageError> {
    if records.len() != Section::ALL.len() {
        return Err(ImageError::SectionTable);
    }
    let mut sections = [&image[..0]; 13];
    let mut previous_end = tables_end;
    for ((slot, record), section) in sections.iter_mut().zip(records).zip(Section::ALL) {
        let start = record.offset as usize;
        let end = start.checked_add(record.bytes as usize);
        if record.kind != section as u32 || start < previous_end || !start.is_multiple_of(ALIGNMENT)
        {
            return Err(ImageError::BadSection(section));
        }
        let bytes =
            end.and_then(|end| image.get(start..end)).ok_or(ImageError::BadSection(section))?;
        if CRC.checksum(bytes) != record.crc {
            return Err(ImageError::Checksum { section: Some(section) });
        }
        previous_end = start + bytes.len();
        *slot = bytes;
    }
    Ok(sections)
}
