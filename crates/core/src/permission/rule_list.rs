//! Bounded lists of rules: settings files are untrusted input.

use std::fmt;

use serde::de::{Deserializer, Error, SeqAccess, Visitor};

use super::rule::PermissionRule;

/// Maximum number of rules in one list. The time of a permission decision is proportional to it.
pub const MAX_RULES: usize = 10_000;

/// Reads a list of rules and fails where it gets too long.
pub(super) fn deserialize_rules<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Vec<PermissionRule>, D::Error> {
    from.deserialize_seq(RuleListVisitor)
}

struct RuleListVisitor;

impl<'de> Visitor<'de> for RuleListVisitor {
    type Value = Vec<PermissionRule>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of permission rules")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Vec<PermissionRule>, A::Error> {
        let mut rules = Vec::new();
        while let Some(rule) = from.next_element()? {
            if rules.len() == MAX_RULES {
                let problem = format!(
                    "more than {MAX_RULES} permission rules in one list; use \
                     fewer, broader rules such as `Bash(npm:*)`"
                );
                return Err(A::Error::custom(problem));
            }
            rules.push(rule);
        }
        Ok(rules)
    }
}
