use std::sync::Arc;

use super::grant::Grant;
use super::session_permissions::SessionPermissions;
use super::update::{InvalidUpdate, PermissionUpdate, RuleBehavior};
use super::{PermissionMode, PermissionRule, Permissions};

fn rules(names: &[&str]) -> Vec<PermissionRule> {
    names.iter().map(|name| PermissionRule::parse(name).unwrap()).collect()
}

fn add(behavior: RuleBehavior, names: &[&str]) -> PermissionUpdate {
    PermissionUpdate::AddRules { behavior, rules: rules(names) }
}

fn changed(updates: &[PermissionUpdate]) -> (SessionPermissions, Vec<Grant>) {
    let (mut session, mut grants) = (SessionPermissions::default(), Vec::new());
    for update in updates {
        session.update(&mut grants, update, PermissionMode::Default, &Arc::from("src"));
    }
    (session, grants)
}

#[test]
fn a_rule_is_added_once() {
    let (session, grants) = changed(&[
        add(RuleBehavior::Deny, &["A", "B", "A"]),
        add(RuleBehavior::Deny, &["B"]),
        add(RuleBehavior::Allow, &["C"]),
        add(RuleBehavior::Allow, &["C"]),
    ]);
    let base = Permissions { deny: rules(&["B"]), ..Permissions::default() };
    assert_eq!(session.apply_over(&base).deny, rules(&["B", "A"]));
    assert_eq!(grants, [Grant { rule: rules(&["C"])[0].clone(), folder: Arc::from("src") }]);
}

#[test]
fn rules_of_another_behaviour_stay() {
    let replace =
        PermissionUpdate::ReplaceRules { behavior: RuleBehavior::Ask, rules: rules(&["X"]) };
    let remove =
        PermissionUpdate::RemoveRules { behavior: RuleBehavior::Allow, rules: rules(&["A"]) };
    let (session, grants) = changed(&[
        add(RuleBehavior::Allow, &["A", "B"]),
        add(RuleBehavior::Ask, &["A"]),
        add(RuleBehavior::Deny, &["A"]),
        replace,
        remove,
    ]);
    assert_eq!((session.deny, session.ask), (rules(&["A"]), rules(&["X"])));
    assert_eq!(grants.len(), 1);
}

#[test]
fn a_mode_replaces_only_the_one_that_was_changed() {
    let (session, _) = changed(&[PermissionUpdate::SetMode { mode: PermissionMode::Plan }]);
    let in_mode = |mode| session.apply_over(&Permissions { mode, ..Permissions::default() }).mode;
    assert_eq!(in_mode(PermissionMode::Default), PermissionMode::Plan);
    assert_eq!(in_mode(PermissionMode::AcceptEdits), PermissionMode::AcceptEdits);
}

#[test]
fn lists_are_bounded_and_folders_absolute() {
    let names: Vec<String> = (0..1_001).map(|nth| format!("Tool{nth}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let check =
        |updates: &[PermissionUpdate]| SessionPermissions::default().check_updates(&[], updates);
    for behavior in [RuleBehavior::Allow, RuleBehavior::Deny, RuleBehavior::Ask] {
        assert_eq!(check(&[add(behavior, &names)]), Err(InvalidUpdate::TooMany));
        assert_eq!(check(&[add(behavior, &names[1..])]), Ok(()));
    }
    let folder = |path: &str| PermissionUpdate::AddFolders { folders: vec![Arc::from(path)] };
    assert_eq!(check(&[folder("/a"), folder("/b")]), Ok(()));
    assert_eq!(check(&[folder("/a"), folder("b")]), Err(InvalidUpdate::RelativeFolder));
}
