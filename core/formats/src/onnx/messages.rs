//! The messages of ONNX files that are read and written here, declared field by field with the
//! numbers of ONNX's IR specification. Fields that nothing here needs are left out: decoding
//! passes over them.
//!
//! Raw tensor data is [`Bytes`]: decoded from such, it is a range of the file, not a copy.

use prost::bytes::Bytes;
use prost::{Enumeration, Message, Oneof};

/// The file: a graph and the operator sets that its nodes are from.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ModelProto {
    #[prost(int64, tag = "1")]
    pub(crate) ir_version: i64,
    #[prost(string, tag = "2")]
    pub(crate) producer_name: String,
    #[prost(string, tag = "3")]
    pub(crate) producer_version: String,
    #[prost(message, optional, tag = "7")]
    pub(crate) graph: Option<GraphProto>,
    #[prost(message, repeated, tag = "8")]
    pub(crate) opset_import: Vec<OperatorSetIdProto>,
    #[prost(message, repeated, tag = "14")]
    pub(crate) metadata_props: Vec<StringStringEntryProto>,
}

/// An operator set's domain and version.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct OperatorSetIdProto {
    #[prost(string, tag = "1")]
    pub(crate) domain: String,
    #[prost(int64, tag = "2")]
    pub(crate) version: i64,
}

/// A pair of texts.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct StringStringEntryProto {
    #[prost(string, tag = "1")]
    pub(crate) key: String,
    #[prost(string, tag = "2")]
    pub(crate) value: String,
}

/// Nodes in the order of execution, constants, inputs and outputs.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct GraphProto {
    #[prost(message, repeated, tag = "1")]
    pub(crate) node: Vec<NodeProto>,
    #[prost(string, tag = "2")]
    pub(crate) name: String,
    #[prost(message, repeated, tag = "5")]
    pub(crate) initializer: Vec<TensorProto>,
    #[prost(message, repeated, tag = "11")]
    pub(crate) input: Vec<ValueInfoProto>,
    #[prost(message, repeated, tag = "12")]
    pub(crate) output: Vec<ValueInfoProto>,
    #[prost(message, repeated, tag = "13")]
    pub(crate) value_info: Vec<ValueInfoProto>,
    #[prost(message, repeated, tag = "15")]
    pub(crate) sparse_initializer: Vec<SparseTensorProto>,
}

/// A constant of which only the values that are not zero are stored.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct SparseTensorProto {
    #[prost(message, optional, tag = "1")]
    pub(crate) values: Option<TensorProto>,
}

/// An operator with the names of what it takes and gives.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct NodeProto {
    #[prost(string, repeated, tag = "1")]
    pub(crate) input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub(crate) output: Vec<String>,
    #[prost(string, tag = "3")]
    pub(crate) name: String,
    #[prost(string, tag = "4")]
    pub(crate) op_type: String,
    #[prost(message, repeated, tag = "5")]
    pub(crate) attribute: Vec<AttributeProto>,
    #[prost(string, tag = "7")]
    pub(crate) domain: String,
}

/// A named value that belongs to a node; `type` says which field holds it.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct AttributeProto {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(float, tag = "2")]
    pub(crate) f: f32,
    #[prost(int64, tag = "3")]
    pub(crate) i: i64,
    #[prost(bytes = "vec", tag = "4")]
    pub(crate) s: Vec<u8>,
    #[prost(message, optional, tag = "5")]
    pub(crate) t: Option<TensorProto>,
    #[prost(float, repeated, tag = "7")]
    pub(crate) floats: Vec<f32>,
    #[prost(int64, repeated, tag = "8")]
    pub(crate) ints: Vec<i64>,
    #[prost(bytes = "vec", repeated, tag = "9")]
    pub(crate) strings: Vec<Vec<u8>>,
    #[prost(enumeration = "attribute_proto::AttributeType", tag = "20")]
    pub(crate) r#type: i32,
}

pub(crate) mod attribute_proto {
    use super::Enumeration;

    /// Which field of an attribute holds its value.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
    #[repr(i32)]
    pub(crate) enum AttributeType {
        Undefined = 0,
        Float = 1,
        Int = 2,
        String = 3,
        Tensor = 4,
        Graph = 5,
        Floats = 6,
        Ints = 7,
        Strings = 8,
    }
}

/// A constant: its values stand in the field for its type, in `raw_data`, or in another file.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TensorProto {
    #[prost(int64, repeated, tag = "1")]
    pub(crate) dims: Vec<i64>,
    #[prost(int32, tag = "2")]
    pub(crate) data_type: i32,
    #[prost(message, optional, tag = "3")]
    pub(crate) segment: Option<tensor_proto::Segment>,
    #[prost(float, repeated, tag = "4")]
    pub(crate) float_data: Vec<f32>,
    #[prost(int32, repeated, tag = "5")]
    pub(crate) int32_data: Vec<i32>,
    #[prost(int64, repeated, tag = "7")]
    pub(crate) int64_data: Vec<i64>,
    #[prost(string, tag = "8")]
    pub(crate) name: String,
    #[prost(bytes = "bytes", tag = "9")]
    pub(crate) raw_data: Bytes,
    #[prost(double, repeated, tag = "10")]
    pub(crate) double_data: Vec<f64>,
    #[prost(uint64, repeated, tag = "11")]
    pub(crate) uint64_data: Vec<u64>,
    #[prost(message, repeated, tag = "13")]
    pub(crate) external_data: Vec<StringStringEntryProto>,
    #[prost(enumeration = "tensor_proto::DataLocation", tag = "14")]
    pub(crate) data_location: i32,
}

pub(crate) mod tensor_proto {
    use super::{Enumeration, Message};

    /// The part of a tensor's values that this message holds.
    #[derive(Clone, PartialEq, Eq, Message)]
    pub(crate) struct Segment {
        #[prost(int64, tag = "1")]
        pub(crate) begin: i64,
        #[prost(int64, tag = "2")]
        pub(crate) end: i64,
    }

    /// Element type of a tensor.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
    #[repr(i32)]
    pub(crate) enum DataType {
        Undefined = 0,
        Float = 1,
        Uint8 = 2,
        Int8 = 3,
        Uint16 = 4,
        Int16 = 5,
        Int32 = 6,
        Int64 = 7,
        String = 8,
        Bool = 9,
        Float16 = 10,
        Double = 11,
        Uint32 = 12,
        Uint64 = 13,
        Complex64 = 14,
        Complex128 = 15,
        Bfloat16 = 16,
    }

    impl DataType {
        /// Name as users of ONNX know it.
        pub(crate) fn name(self) -> String {
            format!("{self:?}").to_ascii_lowercase()
        }
    }

    /// Where a tensor's values stand.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
    #[repr(i32)]
    pub(crate) enum DataLocation {
        Default = 0,
        External = 1,
    }
}

/// A value's name and type.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct ValueInfoProto {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) r#type: Option<TypeProto>,
}

/// A type; only tensors are known here.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct TypeProto {
    #[prost(oneof = "type_proto::Value", tags = "1")]
    pub(crate) value: Option<type_proto::Value>,
}

pub(crate) mod type_proto {
    use super::{Message, Oneof, TensorShapeProto};

    /// Element type and shape of a tensor.
    #[derive(Clone, PartialEq, Eq, Message)]
    pub(crate) struct Tensor {
        #[prost(int32, tag = "1")]
        pub(crate) elem_type: i32,
        #[prost(message, optional, tag = "2")]
        pub(crate) shape: Option<TensorShapeProto>,
    }

    /// The kinds of types.
    #[derive(Clone, PartialEq, Eq, Oneof)]
    pub(crate) enum Value {
        #[prost(message, tag = "1")]
        TensorType(Tensor),
    }
}

/// Dimensions, each a number or a symbol.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct TensorShapeProto {
    #[prost(message, repeated, tag = "1")]
    pub(crate) dim: Vec<tensor_shape_proto::Dimension>,
}

pub(crate) mod tensor_shape_proto {
    use super::Message;

    /// A dimension.
    #[derive(Clone, PartialEq, Eq, Message)]
    pub(crate) struct Dimension {
        #[prost(oneof = "dimension::Value", tags = "1, 2")]
        pub(crate) value: Option<dimension::Value>,
    }

    pub(crate) mod dimension {
        use super::super::Oneof;

        /// A number or a symbol's name.
        #[derive(Clone, PartialEq, Eq, Oneof)]
        pub(crate) enum Value {
            #[prost(int64, tag = "1")]
            DimValue(i64),
            #[prost(string, tag = "2")]
            DimParam(String),
        }
    }
}
