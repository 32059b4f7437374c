//! Grammar nodes as words; descriptions of unsupported nodes.

use tree_sitter::Node;

use super::ansi_quotes;
use crate::shell::command_analysis::shell_word::{
    ShellWord, WordBuilder, WordKind, decode_double_quotes,
};

/// Returns the source text of a node.
pub(crate) fn node_text<'t>(node: Node<'_>, text: &'t str) -> &'t str {
    text.get(node.byte_range()).unwrap_or_default()
}

/// Returns whether nodes of this kind are words or parts of one.
pub(crate) fn is_word_kind(kind: &str) -> bool {
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

/// Returns whether nodes of this kind have no meaning of their own beyond what is read elsewhere.
pub(crate) fn is_plain_kind(kind: &str) -> bool {
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

/// Describes an unsupported kind of node.
pub(crate) fn describe_unsupported(kind: &str) -> String {
    let known = match kind {
        "command_substitution" => "a command substitution",
        "process_substitution" => "a process substitution",
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

/// Converts a node to a word.
pub(crate) fn to_word(node: Node<'_>, text: &str) -> ShellWord {
    let mut draft = WordBuilder::default();
    let read = match node.kind() {
        "command_name" => {
            return node.child(0).map_or(ShellWord::unknown(""), |name| to_word(name, text));
        }
        "concatenation" => push_concatenation(node, text, &mut draft),
        _ => push_part(node, text, &mut draft),
    };
    let word = draft.finish();
    match read {
        Some(()) if word.kind != WordKind::Unknown => word,
        _ => ShellWord::unknown(node_text(node, text)),
    }
}

fn push_concatenation(node: Node<'_>, text: &str, draft: &mut WordBuilder) -> Option<()> {
    let mut cursor = node.walk();
    let mut end = node.start_byte();
    for child in node.children(&mut cursor) {
        // Text that the grammar left out between two parts is unknown.
        if child.start_byte() != end {
            return None;
        }
        end = child.end_byte();
        push_part(child, text, draft)?;
    }
    (end == node.end_byte()).then_some(())
}

fn push_part(node: Node<'_>, text: &str, draft: &mut WordBuilder) -> Option<()> {
    let source = node_text(node, text);
    let quoted = match node.kind() {
        "word" | "number" => {
            draft.push_bare_text(source);
            return Some(());
        }
        "raw_string" => strip_quotes(source, "'")?.to_owned(),
        "string" => decode_double_quotes(strip_quotes(source, "\"")?)?,
        "ansi_c_string" => {
            ansi_quotes::decode_ansi_quotes(strip_quotes(source.strip_prefix('$')?, "'")?)?
        }
        _ => return None,
    };
    draft.push_quoted(&quoted);
    Some(())
}

fn strip_quotes<'t>(source: &'t str, quote: &str) -> Option<&'t str> {
    source.strip_prefix(quote)?.strip_suffix(quote)
}

/// Returns possible commands in text that cannot be parsed. They are never allowed, but deny rules
/// apply to them too.
pub(crate) fn guess_commands(text: &str) -> Vec<Vec<ShellWord>> {
    let ends = |c: char| matches!(c, ';' | '|' | '&' | '\n' | '\r' | '(' | ')' | '{' | '}' | '`');
    let word = |word: &str| ShellWord::unknown(word.replace(['\'', '"', '\\'], ""));
    let guess = |part: &str| part.split_whitespace().map(word).collect::<Vec<_>>();
    text.split(ends).map(guess).filter(|words| !words.is_empty()).collect()
}
