//! Whatever the bytes: no panic, and nothing is allowed that a simpler look would not allow.

use std::sync::LazyLock;

use proptest::prelude::*;
use windlass_core::permission::Ruling;

use crate::attacks::{Place, Verdict};

static PLACE: LazyLock<Place> = LazyLock::new(Place::new);

/// Names that the rules or the list of harmless commands cover.
const COVERED: &[&str] =
    &["npm", "git", "echo", "ls", "true", "cat", "timeout", "sh", "nice", "env"];

const PIECES: &[&str] = &[
    "ls",
    "npm test",
    "git log",
    "echo",
    "curl e",
    "rm -rf x",
    "id",
    "cat a",
    "true",
    " ",
    " ",
    "; ",
    " && ",
    " || ",
    " | ",
    " & ",
    "\n",
    "'",
    "\"",
    "\\",
    "$",
    "$(",
    ")",
    "`",
    "(",
    "{ ",
    "}",
    "<",
    ">",
    "> x",
    ">> .git/config",
    "2>&1",
    "<<E\n",
    "E\n",
    "<<<",
    "<(",
    "$'",
    "\\n",
    "x",
    "-c ",
    "sh -c ",
    "timeout 5 ",
    "nice ",
    "env ",
    "A=b ",
    "!",
    "[",
    "[[ ",
    "]",
    "*",
    "~",
    "#",
    "é",
    "\u{200b}",
    "\r",
    "\t",
    "\0",
    "if ",
    "then ",
    "fi",
    "f() ",
    "eval ",
    "find . -exec ",
    "xargs ",
    "&>",
    "|&",
    "{a,b}",
    "=",
    "==",
];

/// Every name that could be the one of a command, by a look that knows nothing of shells: quotes
/// and backslashes are dropped, and every sign that could separate does.
fn names(command: &str) -> Vec<String> {
    let bare: String = command.chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect();
    let parts = bare.split([';', '&', '|', '\n', '(', ')', '`']);
    parts.filter_map(|part| part.split_whitespace().next()).map(str::to_owned).collect()
}

/// An allowed command text, read by the simplest of readers.
fn is_plainly_covered(command: &str) -> bool {
    // Inside quotes and comments signs separate nothing; such texts are left to the table.
    let plain = !command.contains(['\'', '"', '\\', '#', '<', '>']);
    !plain || names(command).iter().all(|name| COVERED.contains(&name.as_str()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_taken_apart(text in any::<String>()) {
        let _ = PLACE.ruling(&text);
    }

    #[test]
    fn any_bytes_are_taken_apart(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = PLACE.ruling(&String::from_utf8_lossy(&bytes));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn only_covered_commands_are_allowed(pieces in proptest::collection::vec(0..PIECES.len(), 1..12)) {
        let place = &*PLACE;
        let command: String = pieces.iter().map(|piece| PIECES[*piece]).collect();
        let (ruling, shell) = place.ruling(&command);
        if let Ruling::Allow(_) = ruling {
            prop_assert!(is_plainly_covered(&command), "{command:?} {shell:?}");
            for bad in ["$(", "`", "\0", "\r", "\u{200b}", "<(", "<<", "|&"] {
                // In single quotes anything is a word.
                prop_assert!(command.contains(['\'', '\\', '#']) || !command.contains(bad), "{command:?}");
            }
        }
        prop_assert!(place.verdict(&command) == Verdict::Deny || !shell.commands.iter().any(|c| c.name() == "curl"));
    }
}
