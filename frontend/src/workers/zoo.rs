//! What the page says of a network of the zoo.

use tilewright_zoo::Network;

/// What is known of a network's origin.
#[must_use]
pub fn note(network: &Network) -> String {
    let sources: Vec<&str> = network.entry.publications.iter().map(|p| p.source).collect();
    let published = match sources.first() {
        Some(source) => format!("after {source}"),
        None => "no publication states its figures".to_owned(),
    };
    format!("{}; {published}. Weights come from a seed: answers mean nothing.", network.entry.about)
}
