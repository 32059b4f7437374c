//! Tests: what a child run may not have more of than its parent.

use windlass_core::permission::{DefaultDecision, PermissionMode, PermissionRule, Permissions};

use super::{narrower_mode, restrict_to_parent};

#[test]
fn the_mode_is_never_wider_than_the_parents() {
    for (own, above, expected) in [
        (PermissionMode::BypassPermissions, PermissionMode::Default, PermissionMode::Default),
        (PermissionMode::Default, PermissionMode::BypassPermissions, PermissionMode::Default),
        (PermissionMode::AcceptEdits, PermissionMode::Plan, PermissionMode::Plan),
        (PermissionMode::Plan, PermissionMode::PlanNone, PermissionMode::PlanNone),
        (PermissionMode::Auto, PermissionMode::DontAsk, PermissionMode::DontAsk),
        (PermissionMode::Auto, PermissionMode::AcceptEdits, PermissionMode::Default),
        (PermissionMode::Auto, PermissionMode::Auto, PermissionMode::Auto),
    ] {
        assert_eq!(narrower_mode(own, above), expected, "{own:?} under {above:?}");
    }
}

#[test]
fn what_either_holds_back_is_held_back_and_only_the_parent_lets_go() {
    let rule = |text: &str| vec![PermissionRule::parse(text).unwrap()];
    let above = Permissions {
        deny: rule("Bash(rm:*)"),
        allow: rule("Read"),
        default_decision: DefaultDecision::Ask,
        ..Permissions::default()
    };
    let own = Permissions {
        deny: rule("Write"),
        allow: rule("Bash"),
        default_decision: DefaultDecision::Allow,
        ..Permissions::default()
    };
    let child = restrict_to_parent(&own, &above);
    assert_eq!(child.deny, [rule("Bash(rm:*)"), rule("Write")].concat());
    assert_eq!(child.allow, rule("Read"));
    assert_eq!(child.default_decision, DefaultDecision::Ask);
}
