//! Numbers in the narrower types of a plan's records.

/// A type of a plan's records.
pub trait Number {
    /// The largest number of the type.
    const LARGEST: Self;
}

impl Number for u8 {
    const LARGEST: Self = Self::MAX;
}

impl Number for u16 {
    const LARGEST: Self = Self::MAX;
}

impl Number for i16 {
    const LARGEST: Self = Self::MAX;
}

impl Number for u32 {
    const LARGEST: Self = Self::MAX;
}

/// The number in a type of records. Plans that can run have no number that does not fit: others
/// get the largest one, which names nothing, and not a small one, which names something else.
#[inline]
pub fn narrow<T: Number>(value: impl TryInto<T>) -> T {
    value.try_into().unwrap_or(T::LARGEST)
}
