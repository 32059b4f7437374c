//! Nodes of the grammar as words, and as something to say about them.

use tree_sitter::Node;

use super::ansi;
use super::word::{Draft, Kind, Word, in_double_quotes};

/// The source of a node.
pub(super) fn source<'t>(node: Node<'_>, text: &'t str) -> &'t str {
    text.get(node.byte_range()).unwrap_or_default()
}

/// Whether nodes of this kind are words or parts of one.
pub(super) fn is_word(kind: &str) -> bool {
    matches!(
        kind,
        "word"
            | "number"
            | "string"
            | "raw_string"
            | "ansi_c_string"
            | "concatenation"
            | "simple_expansion"
            | "expansion"
            | "command_substitution"
            | "process_substitution"
            | "arithmetic_expansion"
            | "brace_expression"
    )
}

/// Whether nodes of this kind mean nothing beyond what they are read as elsewhere.
pub(super) fn is_plain(kind: &str) -> bool {
    matches!(
        kind,
        "command_name"
            | "word"
            | "number"
            | "string"
            | "string_content"
            | "raw_string"
            | "ansi_c_string"
            | "concatenation"
            | "comment"
            | "file_descriptor"
            | "heredoc_start"
            | "heredoc_body"
            | "heredoc_content"
            | "heredoc_end"
            | "&&"
            | "||"
            | ";"
            | "|"
            | "\n"
            | "\""
    )
}

/// What to say about a node of a kind that is not plain.
pub(super) fn doubt_about(kind: &str) -> String {
    let known = match kind {
        "command_substitution" => "a command within a word",
        "process_substitution" => "a command in place of a file",
        "expansion" | "simple_expansion" => "a variable",
        "arithmetic_expansion" => "arithmetic, which can run commands",
        "variable_assignment" | "variable_assignments" => "an assignment",
        "function_definition" => "a function",
        "subshell" | "compound_statement" => "a group of commands",
        "test_command" => "a test, which can run commands",
        "brace_expression" => "braces that expand",
        "&" => "a command in the background",
        "ERROR" => "a part that cannot be parsed",
        other => return format!("it holds a part that is not plain: {other}"),
    };
    format!("it holds {known}")
}

/// A node as a word.
pub(super) fn word(node: Node<'_>, text: &str) -> Word {
    let mut draft = Draft::default();
    let read = match node.kind() {
        "command_name" => return node.child(0).map_or(Word::unknown(""), |name| word(name, text)),
        "concatenation" => concatenation(node, text, &mut draft),
        _ => part(node, text, &mut draft),
    };
    let word = draft.finish();
    match read {
        Some(()) if word.kind != Kind::Unknown => word,
        _ => Word::unknown(source(node, text)),
    }
}

fn concatenation(node: Node<'_>, text: &str, draft: &mut Draft) -> Option<()> {
    let mut cursor = node.walk();
    let mut end = node.start_byte();
    for child in node.children(&mut cursor) {
        // Whatever the grammar left out between two parts is not known to us.
        if child.start_byte() != end {
            return None;
        }
        end = child.end_byte();
        part(child, text, draft)?;
    }
    (end == node.end_byte()).then_some(())
}

fn part(node: Node<'_>, text: &str, draft: &mut Draft) -> Option<()> {
    let source = source(node, text);
    let quoted = match node.kind() {
        "word" | "number" => {
            draft.bare_text(source);
            return Some(());
        }
        "raw_string" => between(source, "'")?.to_owned(),
        "string" => in_double_quotes(between(source, "\"")?)?,
        "ansi_c_string" => ansi::decode(between(source.strip_prefix('$')?, "'")?)?,
        _ => return None,
    };
    draft.quoted(&quoted);
    Some(())
}

fn between<'t>(source: &'t str, quote: &str) -> Option<&'t str> {
    source.strip_prefix(quote)?.strip_suffix(quote)
}

/// What may be commands in a text that cannot be parsed. It is never allowed, but whoever denies a
/// command denies it here too.
pub(super) fn guesses(text: &str) -> Vec<Vec<Word>> {
    let ends = |c: char| matches!(c, ';' | '|' | '&' | '\n' | '\r' | '(' | ')' | '{' | '}' | '`');
    let word = |word: &str| Word::unknown(word.replace(['\'', '"', '\\'], ""));
    let guess = |part: &str| part.split_whitespace().map(word).collect::<Vec<_>>();
    text.split(ends).map(guess).filter(|words| !words.is_empty()).collect()
}
