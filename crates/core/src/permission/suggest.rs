//! The rule a human could give so that the same call is not asked about again. It is shown exactly
//! as it would be written down, and it covers this call and as little else as a rule can.

use super::glob;
use super::grant::Grant;
use super::judge::{Asked, Permissions, Ruling};
use super::rule::Rule;
use super::subject::Subject;

/// The rule that would let `asked` run, if there is one that does so under `permissions`.
#[must_use]
pub fn suggest(permissions: &Permissions, asked: Asked<'_>) -> Option<Rule> {
    let text = match asked.subject {
        Subject::Nothing => asked.tool.to_owned(),
        Subject::Domain(host) => format!("{}(domain:{host})", asked.tool),
        Subject::Paths(paths) => {
            let [used] = paths.as_slice() else { return None };
            let path = from_root(&permissions.root, &used.path);
            format!("{}({})", asked.tool, glob::escape(&path))
        }
        Subject::Shell(shell) => {
            let [command] = shell.commands.as_slice() else { return None };
            // A star that the command holds must not stand for anything else in the rule.
            let words: Vec<String> = command.words.iter().map(|word| glob::escape(word)).collect();
            format!("{}({})", asked.tool, words.join(" "))
        }
    };
    let rule = Rule::parse(&text).ok()?;
    let given = Grant::for_call(rule.clone(), asked.subject);
    let grants: Vec<Grant> = asked.grants.iter().cloned().chain([given]).collect();
    let ruling = permissions.judge(Asked { grants: &grants, ..asked });
    matches!(ruling, Ruling::Allow(_)).then_some(rule)
}

/// The path as a rule names it: from the folder of the rules, or from the top.
fn from_root(root: &str, path: &str) -> String {
    let beneath = path.strip_prefix(root.trim_end_matches('/')).filter(|_| !root.is_empty());
    match beneath.and_then(|rest| rest.strip_prefix('/')) {
        // A rule without any folder would be meant wherever such a name is found.
        Some(rest) if rest.contains('/') => rest.to_owned(),
        Some(_) | None => format!("/{path}"),
    }
}
