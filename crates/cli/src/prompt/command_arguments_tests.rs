//! Placement of arguments in a page.

use super::fill_arguments;

#[test]
fn arguments_stand_where_the_page_wants_them() {
    for (page, typed, filled) in [
        ("Fix $1 on $2.", "123 main", "Fix 123 on main."),
        ("Fix $1, then $3.", "123", "Fix 123, then ."),
        ("Say: $ARGUMENTS!", "a  b \"c\"", "Say: a  b \"c\"!"),
        ("$1|$2", "\"two words\" it's", "two words|it's"),
        ("It costs $10, $x and $.", "", "It costs $10, $x and $."),
        // Inserted text is not expanded again.
        ("$1 $2", "$2 x", "$2 x"),
        // Arguments without a placeholder are appended.
        ("Look around.", "in src", "Look around.\n\nin src"),
        ("Look around.", "", "Look around."),
    ] {
        assert_eq!(fill_arguments(page, typed), filled, "{page}");
    }
}
