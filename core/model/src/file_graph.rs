//! The operators of a model file as they stand in it: what another runtime runs. No shapes and no
//! values; operators that nothing here computes are like all others.

/// Where a tensor's bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// In the file.
    Constant,
    /// In memory of its own, which keeps them from one run to the next.
    Variable,
    /// In the arena, while they are needed.
    Arena,
}

/// A tensor of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileTensor {
    /// Name, for messages.
    pub name: String,
    /// Size.
    pub bytes: u64,
    /// Where its bytes are.
    pub storage: Storage,
}

/// An operator of a file. Tensors and operators are indices into the lists of its subgraph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileOperator {
    /// Type and result, for messages.
    pub name: String,
    /// Tensors that it reads; constants and variables may be among them.
    pub inputs: Vec<usize>,
    /// Tensors that it writes.
    pub outputs: Vec<usize>,
    /// Operators that must come before it though no tensor says so.
    pub after: Vec<usize>,
    /// Whether its output may lie where its first input lies, with the same bytes: a reshape.
    pub keeps_bytes: bool,
    /// Subgraphs that run while it does.
    pub calls: Vec<usize>,
}

/// A graph of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSubgraph {
    /// Tensors.
    pub tensors: Vec<FileTensor>,
    /// Operators, in the order in which they run.
    pub operators: Vec<FileOperator>,
    /// Tensors that are there before the first operator.
    pub inputs: Vec<usize>,
    /// Tensors that are needed after the last operator.
    pub outputs: Vec<usize>,
}

/// All graphs of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileGraph {
    /// The graphs; the first is the one that is run.
    pub subgraphs: Vec<FileSubgraph>,
    /// Offsets in the arena that the file prescribes, for the tensors of all graphs one after the
    /// other: [`NO_OFFSET`] where it leaves them to the runtime.
    pub offsets: Option<Vec<i32>>,
}

/// Stands for an offset that the runtime finds itself.
pub const NO_OFFSET: i32 = -1;

impl FileGraph {
    /// The graph that is run.
    #[must_use]
    pub fn main(&self) -> Option<&FileSubgraph> {
        self.subgraphs.first()
    }

    /// Tensors of all graphs, one graph after the other.
    pub fn tensors(&self) -> impl Iterator<Item = &FileTensor> {
        self.subgraphs.iter().flat_map(|graph| &graph.tensors)
    }
}
