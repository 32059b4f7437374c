//! Properties of arbitrary commands: no panic, and nothing is allowed that a simpler check would
//! not allow.

use std::sync::LazyLock;
use std::time::Duration;

use proptest::prelude::*;
use windlass_core::permission::RuleDecision;
use windlass_tools::limits::MAX_COMMAND_BYTES;

use crate::permission_attacks::AttackWorkspace;

static PLACE: LazyLock<AttackWorkspace> = LazyLock::new(AttackWorkspace::new);

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

/// Returns every possible command name, by a check that knows nothing of shells: quotes and
/// backslashes are dropped, and every operator separates.
fn names(command: &str) -> Vec<String> {
    let bare: String = command.chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect();
    let parts = bare.split([';', '&', '|', '\n', '(', ')', '`']);
    parts.filter_map(|part| part.split_whitespace().next()).map(str::to_owned).collect()
}

/// Returns whether an allowed command is covered by the simplest check.
fn is_plainly_covered(command: &str) -> bool {
    // Inside quotes and comments operators separate nothing; such texts are left to the table.
    let plain = !command.contains(['\'', '"', '\\', '#', '<', '>']);
    !plain || names(command).iter().all(|name| COVERED.contains(&name.as_str()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_taken_apart(text in any::<String>()) {
        let _ = PLACE.ruling(&text);
    }

    // Short ones reach every pair of operators; long ones are covered by the test of hostile texts.
    #[test]
    fn any_bytes_are_taken_apart(bytes in proptest::collection::vec(any::<u8>(), 0..48)) {
        let _ = PLACE.ruling(&String::from_utf8_lossy(&bytes));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn only_covered_commands_are_allowed(pieces in proptest::collection::vec(0..PIECES.len(), 1..12)) {
        let workspace = &*PLACE;
        let command: String = pieces.iter().map(|piece| PIECES[*piece]).collect();
        let (ruling, shell) = workspace.ruling(&command);
        let is_denied = matches!(ruling, RuleDecision::Deny(..));
        if let RuleDecision::Allow(_) = ruling {
            prop_assert!(is_plainly_covered(&command), "{command:?} {shell:?}");
            for bad in ["$(", "`", "\0", "\r", "\u{200b}", "<(", "<<", "|&"] {
                // In single quotes anything is a word.
                prop_assert!(command.contains(['\'', '\\', '#']) || !command.contains(bad), "{command:?}");
            }
        }
        prop_assert!(is_denied || !shell.commands.iter().any(|c| c.name() == "curl"));
    }
}

/// Texts that take the longest to analyse: brackets that are never closed, words that each may be a
/// file, nested commands, changes of folders, patterns.
const HOSTILE: &[&str] = &[
    "(",
    "$(",
    "`",
    "[[ ",
    "<(",
    "if ",
    "'a' ",
    "<<E\n",
    "a|",
    "a=$b ",
    "${a:-",
    "x ",
    "../ ",
    "a/../",
    "@.git/config,",
    "* ",
    "{a,{b}c}",
    "é",
    "\0",
    "cd a;",
    "env ",
    "sh -c '",
    "echo a | sh; ",
    "./x; ",
];

/// A command of the maximum size takes a bounded time, whatever it contains: the model writes it,
/// and everything else of the conversation waits for its permission decision.
// spec: PERMISSIONS-15
#[test]
fn the_largest_command_is_judged_in_a_bounded_time() {
    for chunk in HOSTILE {
        let count = MAX_COMMAND_BYTES / chunk.len();
        assert_bounded(&PLACE, &chunk.repeat(count));
    }
    // As many words as are checked at all.
    for chunk in ["x ", "* ", ".a/b ", "a@b ", "~/.ssh/x "] {
        assert_bounded(&PLACE, &chunk.repeat(5_000));
    }
}

fn assert_bounded(workspace: &AttackWorkspace, command: &str) {
    let most = Duration::from_secs(if cfg!(debug_assertions) { 4 } else { 1 });
    let begin = time_on_cpu();
    let _ = workspace.ruling(command);
    let taken = time_on_cpu().saturating_sub(begin);
    assert!(taken < most, "{:?}: {taken:?}", command.chars().take(40).collect::<String>());
}

/// A pattern in a folder of many files is expanded once, however often it is repeated, and
/// different patterns share one limit.
#[test]
fn patterns_in_a_large_folder_are_judged_in_a_bounded_time() {
    let workspace = AttackWorkspace::new();
    for number in 0..3_000 {
        std::fs::write(workspace.path(&format!("{number}{}", "a".repeat(200))), "").unwrap();
    }
    let same = "cat ".to_owned() + &"* ".repeat(4_000);
    let several: String = (0..4_000).map(|number| format!("*{number}* ")).collect();
    let slow = format!("cat {}b", "*a".repeat(40_000));
    for command in [same, format!("cat {several}"), format!("x {several}"), slow] {
        assert_bounded(&workspace, &command);
    }
}

/// Returns the CPU time of this thread: on a busy machine a thread waits more than it runs.
fn time_on_cpu() -> Duration {
    let counted = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    let nanoseconds = counted.split_whitespace().next().unwrap();
    Duration::from_nanos(nanoseconds.parse().unwrap())
}
