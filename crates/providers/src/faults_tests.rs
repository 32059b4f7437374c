use windlass_core::input::FailureClass::{Cut, Lasting, Passing, TooLong};

use super::faults::{class, once_begun};

#[test]
fn a_status_has_one_class() {
    for status in [408, 409, 425, 429, 500, 502, 503, 504, 529, 599] {
        assert_eq!(class(status, ""), Passing, "{status}");
    }
    for status in [400, 401, 403, 404, 405, 410, 422, 451] {
        assert_eq!(class(status, "no"), Lasting, "{status}");
    }
    assert_eq!(class(413, ""), TooLong);
}

#[test]
fn a_bad_request_that_is_too_long_says_so_in_words() {
    assert_eq!(class(400, "prompt is Too Long: 210000 tokens > 200000"), TooLong);
    assert_eq!(class(400, "This model's maximum context length is 8192 tokens"), TooLong);
    assert_eq!(class(400, "max_tokens: must be positive"), Lasting);
    assert_eq!(class(401, "your key is too long"), Lasting);
}

#[test]
fn a_fault_in_the_middle_is_a_cut_unless_it_will_not_pass() {
    assert_eq!(once_begun(Passing), Cut);
    assert_eq!(once_begun(Cut), Cut);
    assert_eq!(once_begun(TooLong), TooLong);
    assert_eq!(once_begun(Lasting), Lasting);
}
