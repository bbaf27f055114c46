//! Model files in: ONNX.
