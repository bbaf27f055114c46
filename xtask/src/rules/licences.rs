//! What may be linked into what. The worker is GPL-2.0-only, so all that it links must be usable
//! under that licence; everything else is MIT OR Apache-2.0, so nothing in it may ask for more.
//!
//! Only what reaches a product counts: neither development nor build dependencies, nor macros that
//! run in the compiler, nor the packages that test and measure.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::process;
use crate::project::{Project, Target, Workspace};
use crate::terminal;

/// Licences that ask for no more than their text to be kept.
const PERMISSIVE: [&str; 10] = [
    "0BSD",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];
/// Permissive as well, but with terms that GPL-2.0 does not allow to add.
const NOT_WITH_GPL_2: [&str; 2] = ["Apache-2.0", "BlueOak-1.0.0"];
/// For the worker alone.
const GPL_2: [&str; 4] = ["GPL-2.0", "GPL-2.0-only", "GPL-2.0-or-later", "LGPL-2.1-or-later"];

/// Packages that are in no product.
const NOT_SHIPPED: [&str; 2] = ["tilewright-bench", "tilewright-tests"];

#[derive(Debug, Deserialize)]
struct Graph {
    packages: Vec<Package>,
    workspace_members: Vec<String>,
    resolve: Resolve,
}

#[derive(Debug, Deserialize)]
struct Package {
    id: String,
    name: String,
    license: Option<String>,
    targets: Vec<Target>,
}

#[derive(Debug, Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
struct Node {
    id: String,
    deps: Vec<Edge>,
}

#[derive(Debug, Deserialize)]
struct Edge {
    pkg: String,
    dep_kinds: Vec<Kind>,
}

#[derive(Debug, Deserialize)]
struct Kind {
    /// `None` for what is linked, else `"dev"` or `"build"`.
    kind: Option<String>,
}

/// Checks what each workspace links and prints each violation; whether there is none.
///
/// # Errors
/// When cargo cannot resolve a workspace.
pub fn check(project: &Project) -> Result<bool> {
    let mut clean = true;
    // The fuzzers are given to nobody.
    for workspace in Workspace::ALL.into_iter().filter(|one| *one != Workspace::Fuzz) {
        let mut command = project.cargo(workspace, "metadata");
        command.args(["--format-version=1", "--quiet"]);
        for platform in platforms(project, workspace)? {
            command.arg(format!("--filter-platform={platform}"));
        }
        let text = process::output(&mut command)?;
        let graph: Graph = serde_json::from_str(&text).context("cargo metadata is unreadable")?;
        for violation in violations(&graph, workspace) {
            terminal::line(&violation);
            clean = false;
        }
    }
    Ok(clean)
}

fn platforms(project: &Project, workspace: Workspace) -> Result<Vec<String>> {
    if workspace == Workspace::Firmware {
        let mut targets: Vec<_> =
            crate::build::programs(project)?.into_iter().map(|program| program.target).collect();
        targets.sort();
        targets.dedup();
        return Ok(targets);
    }
    let version = process::output(project.command("rustc").arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.context("rustc does not name its host")?.to_owned();
    Ok(match workspace {
        Workspace::Main => vec![host, "wasm32-unknown-unknown".to_owned()],
        Workspace::Worker | Workspace::Firmware | Workspace::Fuzz => vec![host],
    })
}

fn violations(graph: &Graph, workspace: Workspace) -> Vec<String> {
    let is_allowed = |licence: &str| {
        PERMISSIVE.contains(&licence)
            || match workspace {
                Workspace::Worker => GPL_2.contains(&licence),
                Workspace::Main | Workspace::Firmware | Workspace::Fuzz => {
                    NOT_WITH_GPL_2.contains(&licence)
                }
            }
    };
    linked(graph)
        .into_iter()
        .filter_map(|package| {
            let licence = package.license.as_deref().unwrap_or("no licence");
            let allowed = fits(licence, &is_allowed) == Some(true);
            let (name, place) = (&package.name, workspace.name());
            (!allowed).then(|| format!("{name}: {licence} must not be linked into the {place}"))
        })
        .collect()
}

/// The packages that the workspace's own link, and these own ones, in the order of their names.
fn linked(graph: &Graph) -> Vec<&Package> {
    let packages: BTreeMap<_, _> =
        graph.packages.iter().map(|package| (package.id.as_str(), package)).collect();
    let nodes: BTreeMap<_, _> =
        graph.resolve.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    let is_shipped = |id: &&str| {
        packages.get(id).is_none_or(|package| !NOT_SHIPPED.contains(&package.name.as_str()))
    };
    let mut waiting: Vec<&str> =
        graph.workspace_members.iter().map(String::as_str).filter(is_shipped).collect();
    let mut seen = BTreeSet::new();
    while let Some(id) = waiting.pop() {
        let is_macro = packages.get(id).is_some_and(|package| {
            package.targets.iter().any(|target| target.kind.iter().any(|k| k == "proc-macro"))
        });
        if is_macro || !seen.insert(id) {
            continue;
        }
        for edge in nodes.get(id).into_iter().flat_map(|node| &node.deps) {
            if edge.dep_kinds.iter().any(|kind| kind.kind.is_none()) {
                waiting.push(&edge.pkg);
            }
        }
    }
    let mut found: Vec<_> = seen.iter().filter_map(|id| packages.get(id).copied()).collect();
    found.sort_by_key(|package| &package.name);
    found
}

/// Whether a licence expression (SPDX, or with the older `/` for OR) can be met; `None` if it is
/// none.
fn fits(expression: &str, is_allowed: &impl Fn(&str) -> bool) -> Option<bool> {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let (value, rest) = any_of(&words, is_allowed)?;
    rest.is_empty().then_some(value)
}

fn any_of<'a, 'b>(
    words: &'a [&'b str],
    is_allowed: &impl Fn(&str) -> bool,
) -> Option<(bool, &'a [&'b str])> {
    let (mut value, mut rest) = all_of(words, is_allowed)?;
    while let [first, after @ ..] = rest
        && *first == "OR"
    {
        let (other, next) = all_of(after, is_allowed)?;
        (value, rest) = (value || other, next);
    }
    Some((value, rest))
}

fn all_of<'a, 'b>(
    words: &'a [&'b str],
    is_allowed: &impl Fn(&str) -> bool,
) -> Option<(bool, &'a [&'b str])> {
    let (mut value, mut rest) = one(words, is_allowed)?;
    while let [first, after @ ..] = rest
        && *first == "AND"
    {
        let (other, next) = one(after, is_allowed)?;
        (value, rest) = (value && other, next);
    }
    Some((value, rest))
}

fn one<'a, 'b>(
    words: &'a [&'b str],
    is_allowed: &impl Fn(&str) -> bool,
) -> Option<(bool, &'a [&'b str])> {
    match words {
        [open, inner @ ..] if *open == "(" => {
            let (value, rest) = any_of(inner, is_allowed)?;
            rest.split_first().filter(|(close, _)| **close == ")").map(|(_, rest)| (value, rest))
        }
        [word, ..] if ["AND", "OR", "WITH", ")"].contains(word) => None,
        // An exception only permits more.
        [licence, with, _, rest @ ..] if *with == "WITH" => Some((is_allowed(licence), rest)),
        [licence, rest @ ..] => Some((is_allowed(licence), rest)),
        [] => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_read() {
        let mit = |licence: &str| licence == "MIT";
        for (text, expected) in [
            ("MIT", Some(true)),
            ("Apache-2.0", Some(false)),
            ("Apache-2.0/MIT", Some(true)),
            ("Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT", Some(true)),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", Some(false)),
            ("MIT AND (Zlib OR MIT)", Some(true)),
            ("Zlib OR MIT AND Zlib", Some(false)),
            ("(MIT", None),
            ("MIT OR", None),
            ("no licence", None),
            ("", None),
        ] {
            assert_eq!(fits(text, &mit), expected, "{text}");
        }
    }

    fn graph(dependency: &str, kind: &str, target: &str) -> Graph {
        let text = format!(
            r#"{{"workspace_members":["a"],"packages":[
                {{"id":"a","name":"own","license":"MIT","targets":[]}},
                {{"id":"b","name":"other","license":"{dependency}",
                  "targets":[{{"name":"b","kind":["{target}"]}}]}}],
              "resolve":{{"nodes":[
                {{"id":"a","deps":[{{"pkg":"b","dep_kinds":[{{"kind":{kind}}}]}}]}},
                {{"id":"b","deps":[]}}]}}}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn each_workspace_has_its_licences() {
        let count =
            |licence: &str, workspace| violations(&graph(licence, "null", "lib"), workspace).len();
        assert_eq!(count("Apache-2.0", Workspace::Main), 0);
        assert_eq!(count("Apache-2.0", Workspace::Worker), 1);
        assert_eq!(count("MIT OR Apache-2.0", Workspace::Worker), 0);
        assert_eq!(count("GPL-2.0", Workspace::Worker), 0);
        assert_eq!(count("GPL-2.0", Workspace::Firmware), 1);
    }

    #[test]
    fn only_what_is_linked_counts() {
        let count =
            |kind, target| violations(&graph("GPL-3.0-only", kind, target), Workspace::Main).len();
        assert_eq!(count("null", "lib"), 1);
        assert_eq!(count("\"dev\"", "lib"), 0);
        assert_eq!(count("\"build\"", "lib"), 0);
        assert_eq!(count("null", "proc-macro"), 0);
    }
}
