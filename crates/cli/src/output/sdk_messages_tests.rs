//! SDK messages about a failed model call.

use serde_json::{Value, json};
use windlass::core::log::input::{FailureClass, Input, ModelFailure};

use super::api_retry;

fn told(message: &str) -> (Value, Value) {
    let class = FailureClass::Transient;
    let failure = ModelFailure { class, message: message.into(), retry_after_ms: None, raw: None };
    let told = api_retry(&Input::ModelFailed { model_call: 1, failure }, 1, Some(10), 500);
    (told["error_status"].clone(), told["error"].clone())
}

#[test]
fn a_retry_names_the_status_and_what_it_means() {
    let status = |status: u16, error: &str| (json!(status), json!(error));
    assert_eq!(told("429 rate_limit_error: slow down"), status(429, "rate_limit"));
    assert_eq!(told("529: scripted fault 529"), status(529, "overloaded"));
    assert_eq!(told("503 overloaded: later"), status(503, "server_error"));
    assert_eq!(told("cannot connect to 10.0.0.1:80"), (Value::Null, json!("unknown")));
    assert_eq!(told("127.0.0.1 gave no answer"), (Value::Null, json!("unknown")));
}
