//! Costs of operations as text: what somebody counted, in place of what the thesis publishes.

use thiserror::Error;
use tilewright_zoo::cells::{Operation, OperationCosts};

/// Longest table that is read.
pub const MOST_BYTES: usize = 64 * 1024;

/// Why a text is no table of costs.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CostTableError {
    /// The text is too long.
    #[error("the table has {bytes} bytes, more than {MOST_BYTES}")]
    TooLong {
        /// How long.
        bytes: usize,
    },
    /// A line has no form.
    #[error("line {line} is no `operation = cycles`, such as sep_conv_3x3 = 368640")]
    Line {
        /// From 1.
        line: usize,
    },
    /// There is no such operation to search.
    #[error("line {line}: there is no operation '{name}' to search: give one of {}", searched())]
    Operation {
        /// From 1.
        line: usize,
        /// The name.
        name: String,
    },
    /// An operation stands twice.
    #[error("line {line}: '{}' stands a second time", operation.name())]
    Twice {
        /// From 1.
        line: usize,
        /// The operation.
        operation: Operation,
    },
}

fn searched() -> String {
    Operation::SEARCHED.map(Operation::name).join(", ")
}

/// Costs in cycles from lines of `operation = cycles`; what follows a # is a remark. Operations that are not named
/// cost what they cost in `otherwise`.
///
/// # Errors
/// [`CostTableError`] names the line.
pub fn cost_table(
    text: &str,
    otherwise: &OperationCosts,
) -> Result<OperationCosts, CostTableError> {
    if text.len() > MOST_BYTES {
        return Err(CostTableError::TooLong { bytes: text.len() });
    }
    let mut costs = *otherwise;
    let mut named = Vec::new();
    for (index, whole) in text.lines().enumerate() {
        let line = index + 1;
        let said = whole.split('#').next().unwrap_or_default().trim();
        if said.is_empty() {
            continue;
        }
        let (name, cycles) = said.split_once('=').ok_or(CostTableError::Line { line })?;
        let name = name.trim();
        let cycles = cycles.trim().parse().map_err(|_| CostTableError::Line { line })?;
        let known = Operation::of_name(name).filter(|known| Operation::SEARCHED.contains(known));
        let operation =
            known.ok_or_else(|| CostTableError::Operation { line, name: name.to_owned() })?;
        if named.contains(&operation) {
            return Err(CostTableError::Twice { line, operation });
        }
        named.push(operation);
        costs = costs.with(operation, cycles);
    }
    Ok(costs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_operations_cost_what_is_said() {
        let published = OperationCosts::table_3_2();
        let text = "# counted\nsep_conv_3x3 = 12 # cycles\n\nskip_connect=3\n";
        let costs = cost_table(text, &published).unwrap();
        assert_eq!(costs.of(Operation::Separable3), 12);
        assert_eq!(costs.of(Operation::Skip), 3);
        assert_eq!(costs.of(Operation::Dilated5), published.of(Operation::Dilated5));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let said =
            |text: &str| cost_table(text, &OperationCosts::table_3_2()).unwrap_err().to_string();
        assert!(said("\nskip_connect 3").contains("line 2"));
        assert!(said("skip_connect = -3").contains("line 1"));
        assert!(said("conv = 3").contains("no operation 'conv'"));
        assert!(said("sep_conv_7x7 = 3").contains("no operation"));
        assert!(said("none = 1\nnone = 2").contains("second time"));
        assert!(said(&" ".repeat(MOST_BYTES + 1)).contains("bytes"));
    }
}
