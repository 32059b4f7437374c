use serde_json::json;
use windlass::core::permission::PermissionMode;

use super::*;

#[test]
fn every_kind_of_update_is_read_and_nonsense_is_left_out() {
    let updates = json!([
        {"type": "addRules", "behavior": "allow", "destination": "session",
         "rules": [{"toolName": "Bash", "ruleContent": "npm test:*"}, {"toolName": "Task"}, {}]},
        {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
        {"type": "addDirectories", "directories": ["/srv/data", "docs"]},
        {"type": "setMode", "mode": "yolo"},
        {"type": "addRules", "behavior": "perhaps", "rules": []},
        {"type": "fromTomorrow"},
        5,
    ]);
    let read = read_updates(Some(&updates), Path::new("/srv/work"));
    let rule = |text: &str| PermissionRule::parse(text).unwrap();
    assert_eq!(
        read,
        [
            PermissionUpdate::AddRules {
                behavior: RuleBehavior::Allow,
                rules: vec![rule("Bash(npm test:*)"), rule("Agent")],
            },
            PermissionUpdate::SetMode { mode: PermissionMode::AcceptEdits },
            PermissionUpdate::AddFolders {
                folders: vec!["/srv/data".into(), "/srv/work/docs".into()]
            },
        ]
    );
    assert!(read_updates(None, Path::new("/srv/work")).is_empty());
}
