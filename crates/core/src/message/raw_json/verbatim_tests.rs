use super::keep_verbatim;

#[test]
fn what_is_kept_is_the_same_text() {
    for json in ["{\"a\":[1,\"\\n\"]}", "\"\"", "null"] {
        assert_eq!(keep_verbatim(json).unwrap().get(), json);
    }
}
