use windlass_core::log::input::FailureClass::{ContextTooLong, Permanent, StreamCut, Transient};

use crate::error::retry_class::{class_once_started, classify_status};

#[test]
fn a_status_has_one_class() {
    for status in [408, 409, 425, 429, 500, 502, 503, 504, 529, 599] {
        assert_eq!(classify_status(status, ""), Transient, "{status}");
    }
    for status in [400, 401, 403, 404, 405, 410, 422, 451] {
        assert_eq!(classify_status(status, "no"), Permanent, "{status}");
    }
    assert_eq!(classify_status(413, ""), ContextTooLong);
}

#[test]
fn a_bad_request_that_is_too_long_says_so_in_words() {
    assert_eq!(classify_status(400, "prompt is Too Long: 210000 tokens > 200000"), ContextTooLong);
    assert_eq!(
        classify_status(400, "This model's maximum context length is 8192 tokens"),
        ContextTooLong
    );
    assert_eq!(classify_status(400, "max_tokens: must be positive"), Permanent);
    assert_eq!(classify_status(401, "your key is too long"), Permanent);
}

#[test]
fn a_fault_in_the_middle_is_a_cut_unless_it_will_not_pass() {
    assert_eq!(class_once_started(Transient), StreamCut);
    assert_eq!(class_once_started(StreamCut), StreamCut);
    assert_eq!(class_once_started(ContextTooLong), ContextTooLong);
    assert_eq!(class_once_started(Permanent), Permanent);
}
