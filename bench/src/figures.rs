//! Figures beside their goals, as text or JSON.

use serde::Serialize;

use crate::goals::Figure;

/// A figure with its goal.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// Name of its goal in the file of goals.
    pub id: String,
    /// What was measured.
    pub what: String,
    /// The figure.
    pub value: f64,
    pub unit: &'static str,
    /// What is asked for; nothing if it is there for comparison.
    pub goal: Option<Goal>,
}

/// What is asked of a figure.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// No more than this.
    AtMost(f64),
    /// No less than this.
    AtLeast(f64),
}

impl Goal {
    fn is_met(self, value: f64) -> bool {
        match self {
            Self::AtMost(limit) => value <= limit,
            Self::AtLeast(limit) => value >= limit,
        }
    }

    fn words(self) -> String {
        match self {
            Self::AtMost(limit) => format!("≤ {limit}"),
            Self::AtLeast(limit) => format!("≥ {limit}"),
        }
    }
}

impl Measured {
    /// A figure.
    pub fn new(
        what: impl Into<String>,
        value: f64,
        unit: &'static str,
        goal: Option<Goal>,
    ) -> Self {
        let what = what.into();
        Self { id: what.clone(), what, value: (value * 10.0).round() / 10.0, unit, goal }
    }

    /// The same under another name than what it says.
    pub fn named(self, id: impl Into<String>) -> Self {
        Self { id: id.into(), ..self }
    }

    /// As a figure of the file of goals.
    pub fn figure(&self) -> Figure {
        let is_met = self.goal.is_none_or(|goal| goal.is_met(self.value));
        Figure::new(&self.id, format!("{} {}", self.value, self.unit), is_met)
    }
}

/// Prints figures.
///
/// # Errors
/// If they cannot be serialised.
pub fn print(figures: &[Measured], json: bool) -> Result<(), String> {
    if json {
        println!("{}", serde_json::to_string_pretty(figures).map_err(|e| e.to_string())?);
        return Ok(());
    }
    for Measured { what, value, unit, goal, .. } in figures {
        let verdict = goal.map_or_else(String::new, |goal| {
            format!("{} {}", goal.words(), if goal.is_met(*value) { "met" } else { "MISSED" })
        });
        println!("{what:52} {value:>10.1} {unit:12} {verdict}");
    }
    Ok(())
}
