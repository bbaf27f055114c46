//! Versions of operators, as TensorFlow Lite's converter states them: the first one that has the
//! operator in this form. TensorFlow Lite refuses versions that it does not know; TensorFlow Lite Micro
//! reads none.

use tilewright_tflite_schema::BuiltinOperator as Code;

use super::options::Options;

/// Operators whose first version takes 8-bit signed integers already, or that exist for floats alone.
const FIRST: &[Code] = &[
    Code::ASSIGN_VARIABLE,
    Code::CALL_ONCE,
    Code::CEIL,
    Code::COS,
    Code::DEPTH_TO_SPACE,
    Code::DIV,
    Code::ELU,
    Code::FLOOR,
    Code::GELU,
    Code::HARD_SWISH,
    Code::LOCAL_RESPONSE_NORMALIZATION,
    Code::NEG,
    Code::PRELU,
    Code::READ_VARIABLE,
    Code::RELU_0_TO_1,
    Code::RELU_N1_TO_1,
    Code::RESHAPE,
    Code::ROUND,
    Code::SIGN,
    Code::SIN,
    Code::SQUARE,
    Code::VAR_HANDLE,
];

pub(super) fn version(code: Code, options: &Options, operands: usize, is_int8: bool) -> i32 {
    match (code, options) {
        (Code::TRANSPOSE_CONV, _) if operands == 4 => 3,
        (Code::RESIZE_BILINEAR, Options::ResizeBilinear { half_pixel_centers: true, .. })
        | (Code::RESIZE_NEAREST_NEIGHBOR, Options::ResizeNearest { .. }) => 3,
        (Code::FULLY_CONNECTED, _) if operands == 2 => 6,
        (Code::FULLY_CONNECTED, _) if is_int8 => 4,
        (Code::CONV_2D | Code::DEPTHWISE_CONV_2D, _) if is_int8 => 3,
        (Code::DEPTHWISE_CONV_2D, Options::Depthwise { sliding, .. })
            if sliding.dilation != [1, 1] =>
        {
            2
        }
        (code, _) if is_int8 && !FIRST.contains(&code) => 2,
        _ => 1,
    }
}
