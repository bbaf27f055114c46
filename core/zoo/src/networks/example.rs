//! Small networks that show one thing.

use crate::name::Parameters;
use crate::net::{Built, Conv, Net};

/// In the manner of figure 1 of Sudharsan et al.: nine int8 tensors of 10×10 pixels and eight
/// operators. Behind operator 2 the graph parts into 3-4 and 5-6-7-8, and the second branch should
/// run first. The sizes are ours, since the figure's do not add up; both peaks are the figure's.
pub(crate) fn two_branches(_: &Parameters) -> Result<Built, String> {
    let (mut net, x) = Net::new([10, 10, 8]);
    let chain = |net: &mut Net, from, channels: &[usize]| {
        channels.iter().fold(from, |x, channels| net.conv(x, Conv::new(*channels, 1).bias()))
    };
    let parting = chain(&mut net, x, &[24, 16]);
    let first = chain(&mut net, parting, &[19, 23]);
    let second = chain(&mut net, parting, &[20, 16, 3, 2]);
    net.finish(&[first, second])
}
