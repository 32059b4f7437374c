//! What may not grow from a parent to its child.

use windlass_core::permission::{Mode, Otherwise, Permissions, Rule};

use super::{narrower, no_wider};

#[test]
fn the_mode_is_never_wider_than_the_parents() {
    for (own, above, expected) in [
        (Mode::BypassPermissions, Mode::Default, Mode::Default),
        (Mode::Default, Mode::BypassPermissions, Mode::Default),
        (Mode::AcceptEdits, Mode::Plan, Mode::Plan),
        (Mode::Plan, Mode::PlanNone, Mode::PlanNone),
        (Mode::Auto, Mode::DontAsk, Mode::DontAsk),
        (Mode::Auto, Mode::AcceptEdits, Mode::Default),
        (Mode::Auto, Mode::Auto, Mode::Auto),
    ] {
        assert_eq!(narrower(own, above), expected, "{own:?} under {above:?}");
    }
}

#[test]
fn what_either_holds_back_is_held_back_and_only_the_parent_lets_go() {
    let rule = |text: &str| vec![Rule::parse(text).unwrap()];
    let above = Permissions {
        deny: rule("Bash(rm:*)"),
        allow: rule("Read"),
        otherwise: Otherwise::Ask,
        ..Permissions::default()
    };
    let own = Permissions {
        deny: rule("Write"),
        allow: rule("Bash"),
        otherwise: Otherwise::Allow,
        ..Permissions::default()
    };
    let child = no_wider(&own, &above);
    assert_eq!(child.deny, [rule("Bash(rm:*)"), rule("Write")].concat());
    assert_eq!(child.allow, rule("Read"));
    assert_eq!(child.otherwise, Otherwise::Ask);
}
