//! Values that know how they came to be.
//!
//! The kind is part of the type, so that a report cannot show a figure without it. A figure is serialised as
//! its value alone; `kinds_of` reads the kinds out of any report.

use std::fmt;
use std::iter::Sum;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// How a figure came to be. Every figure that a person sees carries one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum Kind {
    /// Optimal, or with a gap to a bound.
    Proved,
    /// Executed instructions, bytes moved, bytes laid out.
    Counted,
    /// Cycles, time, energy: from parameters with a source.
    Modelled,
    /// Timed on a board, or on the computer that a text names; or an accuracy.
    Measured,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Proved, Self::Counted, Self::Modelled, Self::Measured];

    /// The word that is shown.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Proved => "proved",
            Self::Counted => "counted",
            Self::Modelled => "modelled",
            Self::Measured => "measured",
        }
    }

    /// The name that marks a figure of this kind while it is serialised.
    const fn mark(self) -> &'static str {
        match self {
            Self::Proved => "Proved",
            Self::Counted => "Counted",
            Self::Modelled => "Modelled",
            Self::Measured => "Measured",
        }
    }

    /// The kind that a mark stands for.
    pub(crate) fn of_mark(mark: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.mark() == mark)
    }
}

/// A kind as a type.
pub trait KindType: Copy {
    /// The kind.
    const KIND: Kind;
}

macro_rules! kind_types {
    ($($marker:ident, $alias:ident, $kind:ident, $what:literal;)*) => {$(
        #[doc = concat!("Marks figures that are ", $what, ".")]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $marker;

        impl KindType for $marker {
            const KIND: Kind = Kind::$kind;
        }

        #[doc = concat!("A figure that is ", $what, ".")]
        pub type $alias<T> = Figure<T, $marker>;
    )*};
}

kind_types! {
    ByProof, Proved, Proved, "proved";
    ByCount, Counted, Counted, "counted";
    ByModel, Modelled, Modelled, "modelled";
    ByMeasure, Measured, Measured, "measured";
}

/// A value with its kind; dereferences to the value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Figure<T, K> {
    value: T,
    kind: PhantomData<K>,
}

impl<T, K: KindType> Figure<T, K> {
    /// This value.
    pub const fn new(value: T) -> Self {
        Self { value, kind: PhantomData }
    }

    /// How it came to be.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        K::KIND
    }
}

impl<T, K: KindType> From<T> for Figure<T, K> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T, K> Deref for Figure<T, K> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T, K> DerefMut for Figure<T, K> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

impl<T: PartialEq, K> PartialEq<T> for Figure<T, K> {
    fn eq(&self, other: &T) -> bool {
        self.value == *other
    }
}

impl<T: fmt::Display, K> fmt::Display for Figure<T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl<T: Sum, K: KindType> Sum<T> for Figure<T, K> {
    fn sum<I: Iterator<Item = T>>(values: I) -> Self {
        Self::new(values.sum())
    }
}

impl<T: Copy + Sum, K: KindType> Sum for Figure<T, K> {
    fn sum<I: Iterator<Item = Self>>(figures: I) -> Self {
        figures.map(|figure| *figure).sum()
    }
}

impl<T: Serialize, K: KindType> Serialize for Figure<T, K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(K::KIND.mark(), &self.value)
    }
}

impl<'de, T: Deserialize<'de>, K: KindType> Deserialize<'de> for Figure<T, K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self::new)
    }
}

/// A verdict in a report: it is proved.
pub(crate) fn as_proved<S: Serializer>(verdict: &bool, serializer: S) -> Result<S::Ok, S::Error> {
    Proved::new(verdict).serialize(serializer)
}

/// A verdict in a report, if there is one: what it is of was counted.
pub(crate) fn as_counted<S: Serializer>(
    verdict: &Option<bool>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    verdict.map(Counted::new).serialize(serializer)
}

/// In an OpenAPI description a counted number of bytes is called `Counted_Bytes`.
#[cfg(feature = "schema")]
mod schema {
    use std::borrow::Cow;

    use utoipa::__dev::ComposeSchema;
    use utoipa::openapi::RefOr;
    use utoipa::openapi::schema::Schema;
    use utoipa::{PartialSchema, ToSchema};

    use super::{Figure, KindType};

    impl<T: PartialSchema, K> ComposeSchema for Figure<T, K> {
        fn compose(_: Vec<RefOr<Schema>>) -> RefOr<Schema> {
            T::schema()
        }
    }

    impl<T: ToSchema, K: KindType> ToSchema for Figure<T, K> {
        fn name() -> Cow<'static, str> {
            Cow::Borrowed(K::KIND.mark())
        }

        fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
            T::schemas(schemas);
        }
    }
}
