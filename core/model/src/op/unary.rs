//! Functions of one value.

use std::f32::consts::{FRAC_1_SQRT_2, PI};

/// A function of one value. In int8 each is a table of 256 results.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Unary {
    /// x where positive, else alpha · x.
    LeakyRelu {
        /// Slope below zero.
        alpha: f32,
    },
    /// x · min(max(x + 3, 0), 6) / 6.
    HardSwish,
    /// min(max(alpha · x + beta, 0), 1).
    HardSigmoid {
        /// Slope.
        alpha: f32,
        /// Value at zero.
        beta: f32,
    },
    /// 1 / (1 + e^−x).
    Sigmoid,
    /// Hyperbolic tangent.
    Tanh,
    /// x / (1 + e^−x).
    Silu,
    /// x where positive, else alpha · (e^x − 1).
    Elu {
        /// Factor below zero.
        alpha: f32,
    },
    /// gamma · x where positive, else gamma · alpha · (e^x − 1).
    Selu {
        /// Factor below zero.
        alpha: f32,
        /// Factor of both.
        gamma: f32,
    },
    /// x · (1 + erf(x / √2)) / 2, or its approximation by tanh.
    Gelu {
        /// Whether it is the approximation.
        approximate: bool,
    },
    /// ln(1 + e^x).
    Softplus,
    /// x · tanh(ln(1 + e^x)).
    Mish,
    /// x / (1 + |x|).
    Softsign,
    /// min(max(x, low), high).
    Clip {
        /// Smallest result.
        low: f32,
        /// Largest result.
        high: f32,
    },
    /// |x|.
    Abs,
    /// −x.
    Neg,
    /// Square root.
    Sqrt,
    /// 1 over the square root.
    Rsqrt,
    /// e^x.
    Exp,
    /// Natural logarithm.
    Log,
    /// x · x.
    Square,
    /// x to a constant power.
    Power {
        /// The power.
        exponent: f32,
    },
    /// 1 / x.
    Reciprocal,
    /// Rounded down.
    Floor,
    /// Rounded up.
    Ceil,
    /// Rounded to nearest, ties to even.
    Round,
    /// −1, 0 or 1.
    Sign,
    /// Error function.
    Erf,
    /// Sine.
    Sin,
    /// Cosine.
    Cos,
    /// x itself; in int8 its quantisation changes by 32-bit floats, as that of the operands of
    /// TensorFlow Lite's uint8 concatenations does.
    Rescale,
}

impl Unary {
    /// Name as users know it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::LeakyRelu { .. } => "LeakyReLU",
            Self::HardSwish => "HardSwish",
            Self::HardSigmoid { .. } => "HardSigmoid",
            Self::Sigmoid => "Sigmoid",
            Self::Tanh => "Tanh",
            Self::Silu => "SiLU",
            Self::Elu { .. } => "ELU",
            Self::Selu { .. } => "SELU",
            Self::Gelu { .. } => "GELU",
            Self::Softplus => "Softplus",
            Self::Mish => "Mish",
            Self::Softsign => "Softsign",
            Self::Clip { .. } => "Clip",
            Self::Abs => "Abs",
            Self::Neg => "Neg",
            Self::Sqrt => "Sqrt",
            Self::Rsqrt => "Rsqrt",
            Self::Exp => "Exp",
            Self::Log => "Log",
            Self::Square => "Square",
            Self::Power { .. } => "Power",
            Self::Reciprocal => "Reciprocal",
            Self::Floor => "Floor",
            Self::Ceil => "Ceil",
            Self::Round => "Round",
            Self::Sign => "Sign",
            Self::Erf => "Erf",
            Self::Sin => "Sin",
            Self::Cos => "Cos",
            Self::Rescale => "Rescale",
        }
    }

    /// Whether its value never falls as x rises, wherever it has one.
    #[must_use]
    pub fn never_falls(self) -> bool {
        match self {
            Self::LeakyRelu { alpha } | Self::Elu { alpha } | Self::HardSigmoid { alpha, .. } => {
                alpha >= 0.0
            }
            Self::Selu { alpha, gamma } => alpha >= 0.0 && gamma >= 0.0,
            Self::Sigmoid
            | Self::Tanh
            | Self::Softplus
            | Self::Softsign
            | Self::Clip { .. }
            | Self::Exp
            | Self::Floor
            | Self::Ceil
            | Self::Round
            | Self::Sign
            | Self::Erf => true,
            _ => false,
        }
    }

    /// Whether its parameters are numbers, and a clip's in order.
    #[must_use]
    pub fn is_valid(self) -> bool {
        match self {
            Self::LeakyRelu { alpha } | Self::Elu { alpha } => alpha.is_finite(),
            Self::HardSigmoid { alpha, beta } => alpha.is_finite() && beta.is_finite(),
            Self::Selu { alpha, gamma } => alpha.is_finite() && gamma.is_finite(),
            Self::Clip { low, high } => low <= high,
            Self::Power { exponent } => exponent.is_finite(),
            _ => true,
        }
    }

    /// The function's value in 32-bit floats, the same on every machine.
    #[must_use]
    pub fn apply(self, x: f32) -> f32 {
        match self {
            Self::LeakyRelu { alpha } => {
                if x > 0.0 {
                    x
                } else {
                    alpha * x
                }
            }
            Self::HardSwish => x * clip(x + 3.0, 0.0, 6.0) / 6.0,
            Self::HardSigmoid { alpha, beta } => clip(alpha * x + beta, 0.0, 1.0),
            Self::Sigmoid => sigmoid(x),
            Self::Tanh => tanh(x),
            Self::Silu => x * sigmoid(x),
            Self::Elu { alpha } => elu(x, alpha),
            Self::Selu { alpha, gamma } => gamma * elu(x, alpha),
            Self::Gelu { approximate: false } => 0.5 * x * (1.0 + erf(x * FRAC_1_SQRT_2)),
            Self::Gelu { approximate: true } => {
                let inner = libm::sqrtf(2.0 / PI) * (x + 0.044_715 * x * x * x);
                0.5 * x * (1.0 + tanh(inner))
            }
            Self::Softplus => softplus(x),
            Self::Mish => x * tanh(softplus(x)),
            Self::Softsign => x / (1.0 + x.abs()),
            Self::Clip { low, high } => clip(x, low, high),
            Self::Abs => x.abs(),
            Self::Neg => -x,
            Self::Sqrt => libm::sqrtf(x),
            Self::Rsqrt => 1.0 / libm::sqrtf(x),
            Self::Exp => exp(x),
            Self::Log => log(x),
            Self::Square => x * x,
            Self::Power { exponent } => libm::pow(f64::from(x), f64::from(exponent)) as f32,
            Self::Reciprocal => 1.0 / x,
            Self::Floor => libm::floorf(x),
            Self::Ceil => libm::ceilf(x),
            Self::Round => libm::rintf(x),
            Self::Sign if x > 0.0 => 1.0,
            Self::Sign if x < 0.0 => -1.0,
            Self::Sign => x,
            Self::Erf => erf(x),
            Self::Sin => sin(x),
            Self::Cos => cos(x),
            Self::Rescale => x,
        }
    }
}

/// Functions of 64-bit floats, rounded: nearer to the exact value than 32-bit ones.
macro_rules! rounded {
    ($($name:ident)*) => {
        $(fn $name(x: f32) -> f32 {
            libm::$name(f64::from(x)) as f32
        })*
    };
}
rounded!(cos erf exp expm1 log log1p sin tanh);

/// Comparisons instead of `max`, whose sign of zero differs between machines.
fn clip(x: f32, low: f32, high: f32) -> f32 {
    if x > high {
        high
    } else if x > low {
        x
    } else {
        low
    }
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

fn elu(x: f32, alpha: f32) -> f32 {
    if x > 0.0 { x } else { alpha * expm1(x) }
}

/// Beyond 20 the function is its argument in 32-bit floats.
fn softplus(x: f32) -> f32 {
    if x > 20.0 { x } else { log1p(exp(x)) }
}
