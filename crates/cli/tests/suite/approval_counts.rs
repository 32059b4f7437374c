//! How many of 200 commands of ten ordinary tasks need a person: `bench/approvals`.

use std::path::Path;
use std::sync::Arc;

use windlass::core::permission::{
    CallEffect, CallSubject, CommandConfinement, HookPreference, PermissionMode, PermissionQuery,
    Permissions, RuleDecision,
};
use windlass::tools::{PathZones, analyze_command};

/// Counts the commands that no rule allows without a person.
fn count_questions(confinement: CommandConfinement, mode: PermissionMode) -> usize {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/approvals/commands.txt");
    let text = std::fs::read_to_string(file).unwrap();
    let commands: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(commands.len(), 200);
    let workspace = tempfile::tempdir().unwrap();
    let root = workspace.path().canonicalize().unwrap();
    let zones = PathZones::new(&root);
    let rules = Permissions {
        mode,
        confinement,
        root: Arc::from(root.to_string_lossy()),
        ..Permissions::default()
    };
    let asks = |command: &&&str| {
        let subject = CallSubject::from(analyze_command(command, &zones));
        let query = PermissionQuery {
            tool: "Bash",
            subject: &subject,
            effect: CallEffect::MayChange,
            preference: HookPreference::Neutral,
            grants: &[],
        };
        !matches!(rules.evaluate_rules(query), RuleDecision::Allow(_))
    };
    commands.iter().filter(asks).count()
}

// spec: SANDBOX-08
#[test]
fn the_sandbox_spares_most_questions_about_ordinary_commands() {
    let count = |confinement| count_questions(confinement, PermissionMode::Default);
    let without = count(CommandConfinement::Disregarded);
    let confined = count(CommandConfinement::Confined);
    let auto = count(CommandConfinement::AutoAllowed);
    let edits = count_questions(CommandConfinement::Confined, PermissionMode::AcceptEdits);
    let missing = count(CommandConfinement::Missing);
    println!(
        "questions: {without} without the sandbox, {confined} in it, {auto} with auto_allow, {edits} in acceptEdits"
    );
    assert!(confined + 30 <= without, "{confined} of {without}");
    assert!(auto <= 10 && edits == auto, "{auto} {edits}");
    assert_eq!(missing, 200);
}
