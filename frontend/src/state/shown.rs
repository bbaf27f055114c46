//! What is shown: views, theme, selection.

/// A view: a panel, or all of them side by side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// All panels.
    #[default]
    All,
    /// Whether it fits.
    Overview,
    /// Operators and the tensors between them.
    Graph,
    /// Layers in tiles, and what each tile is made from.
    Tiles,
    /// What lies where when.
    Memory,
    /// What each memory holds at each time, and what travels.
    Film,
    /// Strategies as columns.
    Compare,
    /// Many plans at once.
    Explore,
    /// What happens when.
    Schedule,
    /// What bounds each operator.
    Roofline,
    /// The table of operators.
    Layers,
    /// How the model became int8, and what that costs.
    Quantisation,
    /// How many weights are zero, and what that saves.
    Sparsity,
    /// The emulated run.
    Run,
    /// The files for the board.
    Firmware,
}

impl View {
    /// All of them, in the order of the tabs.
    pub const ALL: [Self; 15] = [
        Self::All,
        Self::Overview,
        Self::Graph,
        Self::Tiles,
        Self::Memory,
        Self::Film,
        Self::Schedule,
        Self::Roofline,
        Self::Layers,
        Self::Quantisation,
        Self::Sparsity,
        Self::Run,
        Self::Compare,
        Self::Explore,
        Self::Firmware,
    ];

    /// Short name, as in links.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Overview => "overview",
            Self::Graph => "graph",
            Self::Tiles => "tiles",
            Self::Memory => "memory",
            Self::Film => "film",
            Self::Schedule => "schedule",
            Self::Roofline => "roofline",
            Self::Compare => "compare",
            Self::Explore => "explore",
            Self::Layers => "layers",
            Self::Quantisation => "quantisation",
            Self::Sparsity => "sparsity",
            Self::Run => "run",
            Self::Firmware => "firmware",
        }
    }

    /// Name for people.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::All => "All",
            Self::Overview => "Overview",
            Self::Graph => "Graph",
            Self::Tiles => "Tiles",
            Self::Memory => "Memory",
            Self::Film => "Film",
            Self::Schedule => "Schedule",
            Self::Roofline => "Roofline",
            Self::Compare => "Compare",
            Self::Explore => "Explore",
            Self::Layers => "Layers",
            Self::Quantisation => "Quantisation",
            Self::Sparsity => "Sparsity",
            Self::Run => "Run",
            Self::Firmware => "Firmware",
        }
    }

    /// The view with this short name.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|view| view.id() == id)
    }
}

/// Light or dark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// As the system says.
    #[default]
    System,
    Light,
    Dark,
}

impl Theme {
    /// The word that is stored and that style sheets see.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// The theme with this word; the system's for any other.
    #[must_use]
    pub fn from_word(word: &str) -> Self {
        match word {
            "light" => Self::Light,
            "dark" => Self::Dark,
            _ => Self::System,
        }
    }

    /// The next when a person toggles.
    #[must_use]
    pub const fn next(self) -> Self {
        match self {
            Self::System => Self::Light,
            Self::Light => Self::Dark,
            Self::Dark => Self::System,
        }
    }
}

/// What is lit up in every view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// A layer: position in the plan's order.
    pub layer: Option<usize>,
    /// A tensor: index into the plan's tensors.
    pub tensor: Option<usize>,
}

impl Selection {
    /// Nothing.
    pub const NONE: Self = Self { layer: None, tensor: None };

    #[must_use]
    pub const fn layer(index: usize) -> Self {
        Self { layer: Some(index), tensor: None }
    }

    #[must_use]
    pub const fn tensor(index: usize) -> Self {
        Self { layer: None, tensor: Some(index) }
    }

    /// Whether nothing is selected.
    #[must_use]
    pub const fn is_none(self) -> bool {
        self.layer.is_none() && self.tensor.is_none()
    }
}
