use super::mode::{Mode, Rights};

const MODES: [(Mode, &str); 7] = [
    (Mode::Default, "default"),
    (Mode::AcceptEdits, "acceptEdits"),
    (Mode::Plan, "plan"),
    (Mode::PlanNone, "plan:none"),
    (Mode::DontAsk, "dontAsk"),
    (Mode::Auto, "auto"),
    (Mode::BypassPermissions, "bypassPermissions"),
];

#[test]
fn modes_have_the_names_people_know() {
    for (mode, name) in MODES {
        assert_eq!(serde_json::to_value(mode).unwrap(), name);
        assert_eq!(serde_json::from_value::<Mode>(name.into()).unwrap(), mode);
    }
}

// spec: PERMISSIONS-11
#[test]
fn only_bypass_is_refused_and_only_for_root() {
    for (mode, _) in MODES {
        assert_eq!(mode.checked(Rights::Ordinary), Ok(mode));
        assert_eq!(mode.checked(Rights::RootInSandbox), Ok(mode));
        assert_eq!(mode.checked(Rights::Root).is_err(), mode == Mode::BypassPermissions);
    }
}
