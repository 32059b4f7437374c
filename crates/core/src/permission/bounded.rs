//! Lists of rules with an end: settings come from folders nobody has looked into.

use std::fmt;

use serde::de::{Deserializer, Error, SeqAccess, Visitor};

use super::rule::Rule;

/// Most rules in one list. Judging a call takes time in proportion to it.
pub const MAX_RULES: usize = 10_000;

/// Reads a list of rules and stops where it gets too long.
pub(super) fn rules<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Rule>, D::Error> {
    from.deserialize_seq(Bounded)
}

struct Bounded;

impl<'de> Visitor<'de> for Bounded {
    type Value = Vec<Rule>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of permission rules")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Vec<Rule>, A::Error> {
        let mut rules = Vec::new();
        while let Some(rule) = from.next_element()? {
            if rules.len() == MAX_RULES {
                let problem = format!(
                    "there are more than {MAX_RULES} permission rules in one list; write fewer that \
                     cover more, such as `Bash(npm:*)`"
                );
                return Err(A::Error::custom(problem));
            }
            rules.push(rule);
        }
        Ok(rules)
    }
}
