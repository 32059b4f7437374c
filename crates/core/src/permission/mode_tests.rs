use super::mode::{PermissionMode, ProcessRights};

const MODES: [(PermissionMode, &str); 7] = [
    (PermissionMode::Default, "default"),
    (PermissionMode::AcceptEdits, "acceptEdits"),
    (PermissionMode::Plan, "plan"),
    (PermissionMode::PlanNone, "plan:none"),
    (PermissionMode::DontAsk, "dontAsk"),
    (PermissionMode::Auto, "auto"),
    (PermissionMode::BypassPermissions, "bypassPermissions"),
];

#[test]
fn modes_have_the_names_people_know() {
    for (mode, name) in MODES {
        assert_eq!(serde_json::to_value(mode).unwrap(), name);
        assert_eq!(serde_json::from_value::<PermissionMode>(name.into()).unwrap(), mode);
    }
}

// spec: PERMISSIONS-11
#[test]
fn only_bypass_is_refused_and_only_for_root() {
    for (mode, _) in MODES {
        assert_eq!(mode.validate(ProcessRights::Ordinary), Ok(mode));
        assert_eq!(mode.validate(ProcessRights::RootInSandbox), Ok(mode));
        assert_eq!(
            mode.validate(ProcessRights::Root).is_err(),
            mode == PermissionMode::BypassPermissions
        );
    }
}
