//! Suggests the rule with which a human could allow the same call from now on. It is shown exactly
//! as it would be written down, and it covers this call and as little else as a rule can.

use super::glob;
use super::grant::Grant;
use super::policy::{PermissionQuery, Permissions, RuleDecision};
use super::rule::PermissionRule;
use super::subject::CallSubject;

/// Returns the rule that would allow `asked`, if there is one that does so under `permissions`.
#[must_use]
pub fn suggest_rule(
    permissions: &Permissions,
    query: PermissionQuery<'_>,
) -> Option<PermissionRule> {
    let text = match query.subject {
        CallSubject::Shell(shell) if !shell.added.is_empty() => match &*shell.added.rules() {
            [rule] => rule.to_string(),
            _ => return None,
        },
        CallSubject::Nothing => query.tool.to_owned(),
        CallSubject::Domain(host) => format!("{}(domain:{host})", query.tool),
        CallSubject::Paths(paths) => {
            let [used] = paths.as_slice() else { return None };
            let path = path_in_rule(&permissions.root, &used.path);
            format!("{}({})", query.tool, glob::escape(&path))
        }
        CallSubject::Shell(shell) => {
            let [command] = shell.commands.as_slice() else { return None };
            // A star in the command must not be a wildcard in the rule.
            let words: Vec<String> = command.words.iter().map(|word| glob::escape(word)).collect();
            format!("{}({})", query.tool, words.join(" "))
        }
    };
    let rule = PermissionRule::parse(&text).ok()?;
    let given = Grant::for_call(rule.clone(), query.subject);
    let grants: Vec<Grant> = query.grants.iter().cloned().chain([given]).collect();
    let ruling = permissions.evaluate_rules(PermissionQuery { grants: &grants, ..query });
    matches!(ruling, RuleDecision::Allow(_)).then_some(rule)
}

/// Returns the path as a rule names it: relative to the folder of the rules, or absolute.
fn path_in_rule(root: &str, path: &str) -> String {
    let beneath = path.strip_prefix(root.trim_end_matches('/')).filter(|_| !root.is_empty());
    match beneath.and_then(|rest| rest.strip_prefix('/')) {
        // A rule without a folder would match such a name in every folder.
        Some(rest) if rest.contains('/') => rest.to_owned(),
        Some(_) | None => format!("/{path}"),
    }
}
