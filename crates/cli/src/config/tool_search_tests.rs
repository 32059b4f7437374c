use super::parse;

#[test]
fn the_values_of_claude_code_are_known_and_a_typo_is_an_error() {
    for (value, percent) in
        [("true", Some(0)), ("FALSE", Some(100)), ("auto", None), ("auto:25", Some(25))]
    {
        assert_eq!(parse(value).unwrap(), percent, "{value}");
    }
    for typo in ["yes", "auto:", "auto:101", "auto:-1", "atuo"] {
        assert!(parse(typo).is_err(), "{typo}");
    }
}
