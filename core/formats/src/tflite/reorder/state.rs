//! Operators that keep their order for another reason than a tensor: they share state.

use std::collections::BTreeMap;

use tilewright_model::file_graph::{FileTensor, Storage};
use tilewright_tflite_schema as fb;

/// A thing that keeps its contents from one operator to the next.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum State {
    /// A variable tensor.
    Tensor(usize),
    /// What the handle in a tensor stands for.
    Handle(usize),
}

/// What an operator does with state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Touch {
    /// It may read and change anything.
    All,
    /// It reads and changes some things.
    Some {
        reads: Vec<State>,
        changes: Vec<State>,
        /// The tensor to which it writes a handle, and what the handle stands for.
        handle: Option<(usize, [String; 2])>,
    },
}

/// What an operator of this type does with state.
pub(super) fn touch(
    code: fb::BuiltinOperator,
    operator: &fb::Operator<'_>,
    tensors: &[FileTensor],
    inputs: &[usize],
    outputs: &[usize],
) -> Touch {
    let (mut reads, mut handle) = (Vec::new(), None);
    let is_variable = |tensor: &&usize| tensors[**tensor].storage == Storage::Variable;
    let variables = inputs.iter().chain(outputs).filter(is_variable);
    let mut changes: Vec<State> = variables.map(|tensor| State::Tensor(*tensor)).collect();
    match code {
        fb::BuiltinOperator::VAR_HANDLE => {
            let options = operator.builtin_options_as_var_handle_options();
            let (Some(options), Some(output)) = (options, outputs.first()) else {
                return Touch::All;
            };
            let names = [options.container(), options.shared_name()];
            handle = Some((*output, names.map(|name| name.unwrap_or_default().to_owned())));
        }
        fb::BuiltinOperator::READ_VARIABLE | fb::BuiltinOperator::ASSIGN_VARIABLE => {
            let Some(input) = inputs.first() else { return Touch::All };
            let list = match code {
                fb::BuiltinOperator::READ_VARIABLE => &mut reads,
                _ => &mut changes,
            };
            list.push(State::Handle(*input));
        }
        fb::BuiltinOperator::CALL
        | fb::BuiltinOperator::CALL_ONCE
        | fb::BuiltinOperator::CUSTOM
        | fb::BuiltinOperator::DELEGATE
        | fb::BuiltinOperator::HASHTABLE
        | fb::BuiltinOperator::HASHTABLE_FIND
        | fb::BuiltinOperator::HASHTABLE_IMPORT
        | fb::BuiltinOperator::HASHTABLE_SIZE
        | fb::BuiltinOperator::IF
        | fb::BuiltinOperator::MULTINOMIAL
        | fb::BuiltinOperator::RANDOM_STANDARD_NORMAL
        | fb::BuiltinOperator::RANDOM_UNIFORM
        | fb::BuiltinOperator::WHILE => return Touch::All,
        // Types that came after those known here.
        code if code.variant_name().is_none() => return Touch::All,
        _ => {}
    }
    Touch::Some { reads, changes, handle }
}

/// Who touched something last.
#[derive(Default)]
struct Last {
    change: Option<usize>,
    reads: Vec<usize>,
}

/// For each operator those that must come before it because of state.
pub(super) fn after(touches: &[Touch]) -> Vec<Vec<usize>> {
    // Handles of one name stand for one thing: the first tensor that holds such a handle.
    let mut names: BTreeMap<&[String; 2], usize> = BTreeMap::new();
    let mut meaning: BTreeMap<usize, usize> = BTreeMap::new();
    for touch in touches {
        if let Touch::Some { handle: Some((tensor, name)), .. } = touch {
            meaning.insert(*tensor, *names.entry(name).or_insert(*tensor));
        }
    }
    let mut all: Option<usize> = None;
    let mut since: Vec<usize> = Vec::new();
    let mut last: BTreeMap<State, Last> = BTreeMap::new();
    let mut lists = Vec::with_capacity(touches.len());
    for (index, touch) in touches.iter().enumerate() {
        let mut before: Vec<usize> = Vec::new();
        let known = |state: &State| match state {
            State::Handle(tensor) => meaning.get(tensor).map(|first| State::Handle(*first)),
            State::Tensor(_) => Some(state.clone()),
        };
        let some = match touch {
            Touch::All => None,
            Touch::Some { reads, changes, .. } => {
                let reads: Option<Vec<State>> = reads.iter().map(known).collect();
                let changes: Option<Vec<State>> = changes.iter().map(known).collect();
                reads.zip(changes)
            }
        };
        match some {
            // It, or a handle that comes from elsewhere, may mean anything.
            None => {
                before.extend(all);
                before.append(&mut since);
                last.clear();
                all = Some(index);
            }
            Some((reads, changes)) if reads.is_empty() && changes.is_empty() => {}
            Some((reads, changes)) => {
                before.extend(all);
                for state in reads {
                    let entry = last.entry(state).or_default();
                    before.extend(entry.change);
                    entry.reads.push(index);
                }
                for state in changes {
                    let entry = last.entry(state).or_default();
                    before.extend(entry.change.replace(index));
                    before.append(&mut entry.reads);
                }
                since.push(index);
            }
        }
        before.sort_unstable();
        before.dedup();
        before.retain(|other| *other != index);
        lists.push(before);
    }
    lists
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shares_state_keeps_its_order() {
        let handle = |tensor: usize, name: &str| Touch::Some {
            reads: Vec::new(),
            changes: Vec::new(),
            handle: Some((tensor, [String::new(), name.to_owned()])),
        };
        let some =
            |reads: Vec<State>, changes: Vec<State>| Touch::Some { reads, changes, handle: None };
        let read = |tensor| some(vec![State::Handle(tensor)], Vec::new());
        let assign = |tensor| some(Vec::new(), vec![State::Handle(tensor)]);
        let variable = || some(Vec::new(), vec![State::Tensor(9)]);
        let nothing = || some(Vec::new(), Vec::new());
        let touches = [
            handle(0, "x"),
            handle(1, "y"),
            handle(2, "x"),
            Touch::All,
            read(0),
            read(2),
            assign(1),
            nothing(),
            assign(2),
            variable(),
            variable(),
            read(77),
            read(0),
        ];
        let expected: [&[usize]; 13] = [
            &[],
            &[],
            &[],
            &[],
            &[3],
            &[3],
            &[3],
            &[],
            &[3, 4, 5],
            &[3],
            &[3, 9],
            &[3, 4, 5, 6, 8, 9, 10],
            &[11],
        ];
        assert_eq!(after(&touches), expected);
    }
}
