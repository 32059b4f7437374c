//! Matchers of hooks: which tools or reasons a hook is for.

use regex::{Regex, RegexBuilder};

use super::HookEvent;

/// Tools that matchers may name differently: their names, and the other ones.
const TOOL_ALIASES: [(&str, &str); 3] =
    [("Agent", "Task"), ("TaskOutput", "BashOutput"), ("TaskStop", "KillShell")];

/// Maximum size of a compiled matcher in bytes; a larger one is rejected.
const MAX_MATCHER_BYTES: usize = 256 * 1024;

/// What a hook is for.
#[derive(Debug, Clone)]
pub(super) enum HookMatcher {
    Everything,
    Names(Vec<String>),
    Pattern(Regex),
}

impl HookMatcher {
    pub(super) fn parse(event: HookEvent, text: Option<&str>) -> Result<Self, String> {
        let text = text.unwrap_or_default();
        if text.is_empty() || text == "*" || !event.has_subject() {
            return Ok(Self::Everything);
        }
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '|' | ' ' | ',');
        if text.chars().all(plain) {
            let names = text.split(['|', ',']).map(|name| name.trim().to_owned());
            return Ok(Self::Names(names.collect()));
        }
        // As in Claude Code, a pattern may match a part of the name: `^Notebook`.
        let pattern = RegexBuilder::new(text).size_limit(MAX_MATCHER_BYTES).build();
        pattern.map(Self::Pattern).map_err(|_| {
            format!(
                "the matcher {text} is not a regular expression, or too large a one; write for example \
                 `Bash`, `Edit|Write` or `mcp__.*`"
            )
        })
    }

    /// Returns whether the matcher matches; a tool with an alias is matched by both names.
    pub(super) fn matches_subject(&self, subject: &str) -> bool {
        let alias = TOOL_ALIASES.iter().find(|(tool, _)| *tool == subject).map(|(_, also)| *also);
        [Some(subject), alias].into_iter().flatten().any(|subject| match self {
            Self::Everything => true,
            Self::Names(names) => names.iter().any(|name| name == subject),
            Self::Pattern(pattern) => pattern.is_match(subject),
        })
    }
}
