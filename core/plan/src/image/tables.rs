//! A plan's tables as they stand in an image, and the image's length.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use super::packed::Run;
use super::{
    ALIGNMENT, EntryRecord, Header, IoRecord, LaneRecord, LayerRecord, MOST_RECORDS, Section,
    SectionRecord, pack,
};
use crate::plan::{Io, Plan, Work};
use crate::step::{Step, StepRecord};
use crate::units::Bytes;
use crate::view::Space;
use zerocopy::{Immutable, IntoBytes};

/// A plan has more of something than an image can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany(
    /// What there is too much of.
    pub &'static str,
);

impl fmt::Display for TooMany {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the plan has more {} than a plan image can hold", self.0)
    }
}

impl core::error::Error for TooMany {}

/// The sections of a plan's image, weights and constants left out.
#[derive(Clone, Debug)]
pub struct Tables {
    sections: Vec<(Section, Vec<u8>)>,
}

impl Tables {
    /// The tables of a plan.
    ///
    /// # Errors
    /// [`TooMany`] if an index does not fit its field.
    pub fn of(plan: &Plan) -> Result<Self, TooMany> {
        let mut names = Names::default();
        let mut layers = Vec::new();
        for layer in &plan.layers {
            // An image holds none of them: it is for what runs.
            let Work::Kernel(kernel) = layer.work else {
                return Err(TooMany("layers without a kernel"));
            };
            layers.push(LayerRecord {
                name: names.add(&layer.name)?,
                kernel: kernel as u16,
                macs: u32::try_from(layer.macs).unwrap_or(u32::MAX),
            });
        }
        let (mut entries, mut lanes) = (Vec::new(), Vec::new());
        let mut steps: Vec<StepRecord> = Vec::new();
        let mut io: Vec<IoRecord> = Vec::new();
        let once = plan.main.iter().map(|program| (0, program, 0));
        let once = once.chain(plan.boot.iter().map(|program| (1, program, 0)));
        let subnetworks = plan.subnetworks.iter();
        let subnetworks = subnetworks.map(|own| (0, &own.program, own.latency_us()));
        for (kind, program, latency_us) in once.chain(subnetworks) {
            let lane_first = lanes.len();
            for lane in &program.lanes {
                lanes.push(LaneRecord {
                    kind: lane.kind as u16,
                    reserved: 0,
                    step_first: wide(steps.len(), "steps")?,
                    step_count: wide(lane.steps.len(), "steps")?,
                });
                steps.extend(lane.steps.iter().map(|step| step.to_record()));
            }
            let input_first = io.len();
            for input in program.inputs.iter().chain(&program.outputs) {
                io.push(io_record(plan, input, &mut names)?);
            }
            entries.push(EntryRecord {
                kind,
                name: names.add(&program.name)?,
                lane_first: small(lane_first, "lanes")?,
                lane_count: small(program.lanes.len(), "lanes")?,
                input_first: small(input_first, "inputs")?,
                input_count: small(program.inputs.len(), "inputs")?,
                output_first: small(input_first + program.inputs.len(), "outputs")?,
                output_count: small(program.outputs.len(), "outputs")?,
                latency_us,
                frames: program.frames,
                reserved: [0; 5],
            });
        }
        let sections = vec![
            (Section::Entries, entries.as_bytes().to_vec()),
            (Section::Lanes, lanes.as_bytes().to_vec()),
            (Section::Steps, packed(&steps, "steps")?),
            (Section::Ops, plan.ops.as_bytes().to_vec()),
            (Section::Tiles, packed(&plan.tiles, "tiles")?),
            (Section::Views, packed(&plan.views, "views")?),
            (Section::Spans, packed(&plan.spans, "spans")?),
            (Section::Io, io.as_bytes().to_vec()),
            (Section::Layers, layers.as_bytes().to_vec()),
            (Section::Names, names.bytes()?),
        ];
        Ok(Self { sections })
    }

    /// The bytes of a table; nothing for weights, constants and checksums.
    #[must_use]
    pub fn section(&self, section: Section) -> Option<&[u8]> {
        let found = self.sections.iter().find(|(known, _)| *known == section);
        found.map(|(_, bytes)| bytes.as_slice())
    }
}

impl Plan {
    /// Bytes of the plan's image: header, tables, constants and weights.
    #[must_use]
    pub fn image_bytes(&self) -> Bytes {
        self.bytes(true)
    }

    /// Whether the plan's image takes no more bytes, which is known sooner than how many these are.
    #[must_use]
    pub fn image_fits(&self, limit: Bytes) -> bool {
        self.bytes(false) <= limit || self.bytes(true) <= limit
    }

    /// Bytes of the image with tables packed, or at most so many.
    fn bytes(&self, packed: bool) -> Bytes {
        let header = size_of::<Header>() + Section::ALL.len() * size_of::<SectionRecord>();
        let mut end = Bytes(header as u64).align_up(ALIGNMENT as u64);
        let steps = self.programs().flat_map(|program| &program.lanes).flat_map(|l| &l.steps);
        let steps: Vec<StepRecord> = steps.map(Step::to_record).collect();
        let lanes: usize = self.programs().map(|program| program.lanes.len()).sum();
        let io = self.programs().flat_map(|p| p.inputs.iter().chain(&p.outputs));
        let io_count = io.clone().count();
        let labels = io.clone().flat_map(|io| &io.labels).map(String::len);
        let tensors =
            io.filter_map(|io| self.tensors.get(io.tensor as usize)).map(|t| t.name.len());
        let layers = self.layers.iter().map(|layer| layer.name.len());
        let programs = self.programs().map(|program| program.name.len());
        let (texts, letters) = labels
            .chain(tensors)
            .chain(layers)
            .chain(programs)
            .fold((0, 0), |(texts, letters), length| (texts + 1, letters + length));
        for section in Section::ALL {
            let bytes = match section {
                Section::Entries => self.programs().count() * size_of::<EntryRecord>(),
                Section::Lanes => lanes * size_of::<LaneRecord>(),
                Section::Steps => table_bytes(&steps, packed),
                Section::Ops => self.ops.as_bytes().len(),
                Section::Tiles => table_bytes(&self.tiles, packed),
                Section::Views => table_bytes(&self.views, packed),
                Section::Spans => table_bytes(&self.spans, packed),
                Section::Io => io_count * size_of::<IoRecord>(),
                Section::Layers => self.layers.len() * size_of::<LayerRecord>(),
                Section::Names => 4 + 8 * texts + letters,
                Section::Constants | Section::Weights | Section::Sums => 0,
            };
            // Not through `usize`, in which a browser counts to 4 GiB.
            let values = match section {
                Section::Constants => self.space(Space::Constants),
                Section::Weights => self.space(Space::Weights),
                _ => Bytes(0),
            };
            end = (end + Bytes(bytes as u64) + values).align_up(ALIGNMENT as u64);
        }
        end
    }
}

/// Bytes of a table's section; not packed it has one run at most.
fn table_bytes<T: IntoBytes + Immutable>(records: &[T], packed: bool) -> usize {
    if packed {
        pack(records).len()
    } else {
        size_of::<[u32; 2]>() + size_of::<Run>() + size_of_val(records)
    }
}

fn io_record(plan: &Plan, io: &Io, names: &mut Names) -> Result<IoRecord, TooMany> {
    let name = plan.tensors.get(io.tensor as usize).map_or("", |tensor| tensor.name.as_str());
    let name = names.add(name)?;
    let label_first = small(names.texts.len(), "names")?;
    for label in &io.labels {
        names.add(label)?;
    }
    Ok(IoRecord {
        view: io.view,
        scale_bits: io.scale.to_bits(),
        zero: io.zero,
        name,
        label_first,
        label_count: small(io.labels.len(), "labels")?,
    })
}

fn packed<T: IntoBytes + Immutable>(records: &[T], what: &'static str) -> Result<Vec<u8>, TooMany> {
    if records.len() > MOST_RECORDS { Err(TooMany(what)) } else { Ok(pack(records)) }
}

fn small(value: usize, what: &'static str) -> Result<u16, TooMany> {
    u16::try_from(value).map_err(|_| TooMany(what))
}

fn wide(value: usize, what: &'static str) -> Result<u32, TooMany> {
    u32::try_from(value).map_err(|_| TooMany(what))
}

#[derive(Default)]
struct Names {
    texts: Vec<String>,
}

impl Names {
    fn add(&mut self, text: &str) -> Result<u16, TooMany> {
        let index = small(self.texts.len(), "names")?;
        self.texts.push(String::from(text));
        Ok(index)
    }

    fn bytes(&self) -> Result<Vec<u8>, TooMany> {
        let number = |value| Ok(wide(value, "letters of names")?.to_le_bytes());
        let mut bytes = number(self.texts.len())?.to_vec();
        let mut offset = 4 + 8 * self.texts.len();
        for text in &self.texts {
            bytes.extend(number(offset)?);
            bytes.extend(number(text.len())?);
            offset += text.len();
        }
        for text in &self.texts {
            bytes.extend(text.as_bytes());
        }
        Ok(bytes)
    }
}
