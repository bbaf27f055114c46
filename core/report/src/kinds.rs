//! The kinds of a report's figures, read out of the report itself.
//!
//! A serialiser that writes nothing: it walks through a report as JSON would, and notes where figures stand.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use serde::ser::{self, Serializer};

use crate::figure::Kind;
use crate::plan_report::PlanReport;

/// A report with the kinds of its figures, as scripts get it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct WithKinds<T> {
    /// The report's own keys.
    #[serde(flatten)]
    pub report: T,
    /// How each figure came to be, by its key: `latency_us`, `layers[].cycles`, `wear.years`.
    pub kinds: BTreeMap<String, Kind>,
}

impl<T: Serialize> WithKinds<T> {
    /// A report with its kinds.
    pub fn of(report: T) -> Self {
        let kinds = kinds_of(&report);
        Self { report, kinds }
    }
}

/// Serialises a report inside of another with its own kinds, where people and scripts read it; nothing as nothing.
pub(crate) fn with_kinds<'r, S: Serializer>(
    report: impl Into<Option<&'r PlanReport>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let report: Option<&PlanReport> = report.into();
    if serializer.is_human_readable() {
        report.map(WithKinds::of).serialize(serializer)
    } else {
        report.serialize(serializer)
    }
}

/// How each figure of a report came to be, by its key; a key that is null or an empty list has none.
#[must_use]
pub fn kinds_of(report: &impl Serialize) -> BTreeMap<String, Kind> {
    let mut kinds = BTreeMap::new();
    // A report that cannot be serialised is told to whoever serialises it.
    let _ = report.serialize(Walk { path: String::new(), kinds: &mut kinds });
    kinds
}

struct Walk<'k> {
    path: String,
    kinds: &'k mut BTreeMap<String, Kind>,
}

impl Walk<'_> {
    /// What lies at a key.
    fn at(self, key: &str) -> Self {
        let path =
            if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) };
        Self { path, ..self }
    }

    /// What lies in a list.
    fn inside(self) -> Self {
        Self { path: format!("{}[]", self.path), ..self }
    }

    /// The same place, for one of several values.
    fn again(&mut self) -> Walk<'_> {
        Walk { path: self.path.clone(), kinds: self.kinds }
    }
}

/// Only a report's own serialiser fails.
#[derive(Debug)]
struct Failed;

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a report cannot be serialised")
    }
}

impl std::error::Error for Failed {}

impl ser::Error for Failed {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

macro_rules! nothing_to_note {
    ($($method:ident($value:ty);)*) => {$(
        fn $method(self, _: $value) -> Result<(), Failed> {
            Ok(())
        }
    )*};
}

type Done = Result<(), Failed>;

impl<'k> Serializer for Walk<'k> {
    type Ok = ();
    type Error = Failed;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Map<'k>;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    nothing_to_note! {
        serialize_bool(bool); serialize_i8(i8); serialize_i16(i16); serialize_i32(i32); serialize_i64(i64);
        serialize_u8(u8); serialize_u16(u16); serialize_u32(u32); serialize_u64(u64);
        serialize_f32(f32); serialize_f64(f64); serialize_char(char); serialize_str(&str);
        serialize_bytes(&[u8]); serialize_unit_struct(&'static str);
    }

    fn serialize_none(self) -> Done {
        Ok(())
    }

    fn serialize_unit(self) -> Done {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Done {
        value.serialize(self)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Done {
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Done {
        match Kind::of_mark(name) {
            Some(kind) => {
                self.kinds.insert(self.path, kind);
                Ok(())
            }
            None => value.serialize(self),
        }
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Done {
        value.serialize(self.at(variant))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self, Failed> {
        Ok(self.inside())
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, Failed> {
        Ok(self.inside())
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, Failed> {
        Ok(self.inside())
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Self, Failed> {
        Ok(self.at(variant).inside())
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Map<'k>, Failed> {
        Ok(Map { of: self, key: String::new() })
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Failed> {
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Self, Failed> {
        Ok(self.at(variant))
    }
}

macro_rules! lists {
    ($($kind:ident, $method:ident;)*) => {$(
        impl ser::$kind for Walk<'_> {
            type Ok = ();
            type Error = Failed;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
                value.serialize(self.again())
            }

            fn end(self) -> Done {
                Ok(())
            }
        }
    )*};
}

lists! {
    SerializeSeq, serialize_element;
    SerializeTuple, serialize_element;
    SerializeTupleStruct, serialize_field;
    SerializeTupleVariant, serialize_field;
}

macro_rules! structures {
    ($($kind:ident;)*) => {$(
        impl ser::$kind for Walk<'_> {
            type Ok = ();
            type Error = Failed;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Done {
                value.serialize(self.again().at(key))
            }

            fn end(self) -> Done {
                Ok(())
            }
        }
    )*};
}

structures! {
    SerializeStruct;
    SerializeStructVariant;
}

/// A map between a key and its value.
struct Map<'k> {
    of: Walk<'k>,
    key: String,
}

impl ser::SerializeMap for Map<'_> {
    type Ok = ();
    type Error = Failed;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Done {
        self.key = serde_plain::to_string(&key).map_err(|_| Failed)?;
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
        value.serialize(self.of.again().at(&self.key))
    }

    fn end(self) -> Done {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{Counted, Modelled};

    #[derive(Serialize)]
    struct Report {
        name: &'static str,
        peak_bytes: Counted<u64>,
        latency_us: Option<Modelled<f64>>,
        energy_uj: Option<Modelled<f64>>,
        layers: Vec<Layer>,
        wear: Wear,
        by_name: BTreeMap<u8, Counted<u8>>,
    }

    #[derive(Serialize)]
    struct Layer {
        cycles: Modelled<u64>,
    }

    #[derive(Serialize)]
    enum Wear {
        Known { years: (Modelled<f64>, Modelled<f64>) },
    }

    #[test]
    fn kinds_stand_under_the_keys_that_the_figures_have() {
        let report = Report {
            name: "small",
            peak_bytes: 8.into(),
            latency_us: Some(2.5.into()),
            energy_uj: None,
            layers: vec![Layer { cycles: 1.into() }, Layer { cycles: 2.into() }],
            wear: Wear::Known { years: (1.0.into(), 2.0.into()) },
            by_name: BTreeMap::from([(3, 9.into())]),
        };
        let kinds = kinds_of(&report);
        let found: Vec<_> = kinds.iter().map(|(key, kind)| (&**key, *kind)).collect();
        let expected = [
            ("by_name.3", Kind::Counted),
            ("latency_us", Kind::Modelled),
            ("layers[].cycles", Kind::Modelled),
            ("peak_bytes", Kind::Counted),
            ("wear.Known.years[]", Kind::Modelled),
        ];
        assert_eq!(found, expected, "{}", report.name);
    }
}
