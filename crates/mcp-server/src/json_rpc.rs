//! Messages of JSON-RPC.

use serde_json::{Value, json};

/// The message is not a request.
pub(crate) const INVALID_REQUEST: i64 = -32600;

/// There is no such method.
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;

/// The parameters do not fit the method.
pub(crate) const INVALID_PARAMS: i64 = -32602;

/// The line is not JSON.
pub(crate) const PARSE_ERROR: i64 = -32700;

/// Why a request has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RpcError {
    pub(crate) code: i64,
    pub(crate) message: String,
}

impl RpcError {
    pub(crate) fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// The answer to a request.
pub(crate) fn response(id: &Value, outcome: Result<Value, RpcError>) -> Value {
    match outcome {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(RpcError { code, message }) => {
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
        }
    }
}
