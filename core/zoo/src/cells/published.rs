//! The genotypes that Sadiq's thesis compares (table 3.4).

use super::Genotype;

/// A published genotype.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Published {
    /// Liu et al. 2019 (DARTS), second order.
    Darts,
    /// Real et al. 2018, in DARTS' notation: 5 steps, with operations that DARTS does not search.
    AmoebaNetA,
    /// Zoph et al. 2017, likewise.
    NasNetA,
    /// Found by the thesis with Γ = 0.01 (figure 3.11); see [`Self::is_inferred`].
    DeffArts001,
    /// With Γ = 0.02 (figure 3.12).
    DeffArts002,
    /// With Γ = 0.04 (figure 3.13).
    DeffArts004,
}

impl Published {
    /// All of them, the most complex first.
    pub const ALL: [Self; 6] = [
        Self::AmoebaNetA,
        Self::NasNetA,
        Self::Darts,
        Self::DeffArts001,
        Self::DeffArts002,
        Self::DeffArts004,
    ];

    /// The name that table 3.4 has.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Darts => "DARTS",
            Self::AmoebaNetA => "AmoebaNet-A",
            Self::NasNetA => "NASNet-A",
            Self::DeffArts001 => "DEff-ARTS, Γ = 0.01",
            Self::DeffArts002 => "DEff-ARTS, Γ = 0.02",
            Self::DeffArts004 => "DEff-ARTS, Γ = 0.04",
        }
    }

    /// Whether it is ours, made to agree with what is printed. The thesis draws the cells that it found, and does
    /// not print them. Their operations follow from their costs and from its prose: pooling in reduction cells
    /// only (3.2.2). Which nodes they read is a choice of ours. Only one thing follows from the parameters and MACs of
    /// table 3.4: of each reduction cell's summands three read the cell's inputs, the fewest that are possible.
    #[must_use]
    pub const fn is_inferred(self) -> bool {
        matches!(self, Self::DeffArts001 | Self::DeffArts002 | Self::DeffArts004)
    }

    /// In DARTS' notation.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Darts => DARTS,
            Self::AmoebaNetA => AMOEBANET_A,
            Self::NasNetA => NASNET_A,
            Self::DeffArts001 => DEFF_ARTS_001,
            Self::DeffArts002 => DEFF_ARTS_002,
            Self::DeffArts004 => DEFF_ARTS_004,
        }
    }

    /// The cells.
    #[must_use]
    pub fn genotype(self) -> Genotype {
        self.text().parse().expect("a test reads all published genotypes")
    }
}

const DARTS: &str = "Genotype(
    normal=[('sep_conv_3x3', 0), ('sep_conv_3x3', 1), ('sep_conv_3x3', 0), ('sep_conv_3x3', 1),
            ('sep_conv_3x3', 1), ('skip_connect', 0), ('skip_connect', 0), ('dil_conv_3x3', 2)],
    normal_concat=range(2, 6),
    reduce=[('max_pool_3x3', 0), ('max_pool_3x3', 1), ('skip_connect', 2), ('max_pool_3x3', 1),
            ('max_pool_3x3', 0), ('skip_connect', 2), ('skip_connect', 2), ('max_pool_3x3', 1)],
    reduce_concat=range(2, 6))";

const AMOEBANET_A: &str = "Genotype(
    normal=[('avg_pool_3x3', 0), ('max_pool_3x3', 1), ('sep_conv_3x3', 0), ('sep_conv_5x5', 2),
            ('sep_conv_3x3', 0), ('avg_pool_3x3', 3), ('sep_conv_3x3', 1), ('skip_connect', 1),
            ('skip_connect', 0), ('avg_pool_3x3', 1)],
    normal_concat=[4, 5, 6],
    reduce=[('avg_pool_3x3', 0), ('sep_conv_3x3', 1), ('max_pool_3x3', 0), ('sep_conv_7x7', 2),
            ('sep_conv_7x7', 0), ('avg_pool_3x3', 1), ('max_pool_3x3', 0), ('max_pool_3x3', 1),
            ('conv_7x1_1x7', 0), ('sep_conv_3x3', 5)],
    reduce_concat=[3, 4, 6])";

const NASNET_A: &str = "Genotype(
    normal=[('sep_conv_5x5', 1), ('sep_conv_3x3', 0), ('sep_conv_5x5', 0), ('sep_conv_3x3', 0),
            ('avg_pool_3x3', 1), ('skip_connect', 0), ('avg_pool_3x3', 0), ('avg_pool_3x3', 0),
            ('sep_conv_3x3', 1), ('skip_connect', 1)],
    normal_concat=[2, 3, 4, 5, 6],
    reduce=[('sep_conv_5x5', 1), ('sep_conv_7x7', 0), ('max_pool_3x3', 1), ('sep_conv_7x7', 0),
            ('avg_pool_3x3', 1), ('sep_conv_5x5', 0), ('skip_connect', 3), ('avg_pool_3x3', 2),
            ('sep_conv_3x3', 2), ('max_pool_3x3', 1)],
    reduce_concat=[4, 5, 6])";

const DEFF_ARTS_001: &str = "Genotype(
    normal=[('sep_conv_3x3', 0), ('sep_conv_3x3', 1), ('skip_connect', 0), ('dil_conv_3x3', 1),
            ('skip_connect', 0), ('skip_connect', 1), ('skip_connect', 0), ('skip_connect', 1)],
    normal_concat=range(2, 6),
    reduce=[('max_pool_3x3', 0), ('avg_pool_3x3', 1), ('avg_pool_3x3', 0), ('skip_connect', 2),
            ('skip_connect', 2), ('skip_connect', 3), ('skip_connect', 2), ('skip_connect', 3)],
    reduce_concat=range(2, 6))";

const DEFF_ARTS_002: &str = "Genotype(
    normal=[('skip_connect', 0), ('dil_conv_3x3', 1), ('skip_connect', 0), ('skip_connect', 1),
            ('skip_connect', 0), ('skip_connect', 1), ('skip_connect', 0), ('skip_connect', 1)],
    normal_concat=range(2, 6),
    reduce=[('avg_pool_3x3', 0), ('avg_pool_3x3', 1), ('avg_pool_3x3', 0), ('skip_connect', 2),
            ('skip_connect', 2), ('skip_connect', 3), ('skip_connect', 2), ('skip_connect', 3)],
    reduce_concat=range(2, 6))";

const DEFF_ARTS_004: &str = "Genotype(
    normal=[('skip_connect', 0), ('skip_connect', 1), ('skip_connect', 0), ('skip_connect', 1),
            ('skip_connect', 0), ('skip_connect', 1), ('skip_connect', 0), ('skip_connect', 1)],
    normal_concat=range(2, 6),
    reduce=[('skip_connect', 0), ('skip_connect', 1), ('skip_connect', 0), ('skip_connect', 2),
            ('skip_connect', 2), ('skip_connect', 3), ('skip_connect', 2), ('skip_connect', 3)],
    reduce_concat=range(2, 6))";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_read_and_those_of_the_thesis_lie_in_its_space() {
        for published in Published::ALL {
            let genotype: Genotype = published.text().parse().unwrap();
            let was_searched = !matches!(published, Published::AmoebaNetA | Published::NasNetA);
            assert_eq!(genotype.check_searched().is_ok(), was_searched, "{}", published.name());
            assert_eq!(genotype.to_string().parse(), Ok(genotype), "{}", published.name());
        }
    }
}
