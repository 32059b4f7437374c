//! The grammar reader: a full grammar of bash (tree-sitter), walked without recursion, so that no
//! depth overflows the stack. Kinds of nodes that are not on the short list of plain ones are
//! unsupported, and they are searched for commands all the same.

use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, Parser, Tree};
use windlass_core::permission::PathAccess;

use super::tree_words;
use crate::limits::{MAX_NESTING, MAX_PARSE_STEPS};
use crate::shell::command_analysis::analysis::CommandAnalysis;
use crate::shell::command_analysis::shell_word::{ShellWord, WordKind};

/// A part of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ParsedItem {
    /// A simple command.
    Command(Vec<ShellWord>),
    /// A redirection.
    Redirect { to: RedirectTarget, target: ShellWord },
    /// The text of a here-document.
    HereDocument(String),
}

/// The target of a redirection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RedirectTarget {
    /// A file.
    File(PathAccess),
    /// Another descriptor, or none.
    Duplicate,
}

impl RedirectTarget {
    /// Returns what an operator does with its target.
    pub(crate) fn from_operator(operator: &str, target: &ShellWord) -> Option<Self> {
        let number = target.text.strip_suffix('-').unwrap_or(&target.text);
        let is_number =
            target.kind == WordKind::Plain && number.chars().all(|c| c.is_ascii_digit());
        match operator {
            ">&" | "<&" if is_number => Some(Self::Duplicate),
            ">" | ">>" | ">|" | "&>" | "&>>" | ">&" => Some(Self::File(PathAccess::Write)),
            "<" => Some(Self::File(PathAccess::Read)),
            _ => None,
        }
    }
}

/// Parses a text; `None` if that took too long.
pub(crate) fn read_with_grammar(
    text: &str,
    found: &mut CommandAnalysis<'_>,
) -> Option<Vec<ParsedItem>> {
    let tree = parse_tree(&mask_non_ascii(text))?;
    let mut walk = TreeWalk { text, found, items: Vec::new(), pending_steps: Vec::new() };
    walk.run(tree.root_node());
    let mut items = walk.items;
    // Whether a shell reads a here-document is only known once all commands are.
    items.sort_by_key(|item| matches!(item, ParsedItem::HereDocument(_)));
    Some(items)
}

/// Returns the text with a letter for every non-ASCII byte. To bash they are all plain, and the
/// grammar's scanner looks characters up in a table of 256 without a bounds check: one beyond it
/// would crash the process.
fn mask_non_ascii(text: &str) -> String {
    let letter = |byte: u8| if byte.is_ascii() { char::from(byte) } else { 'x' };
    text.bytes().map(letter).collect()
}

fn parse_tree(text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    let mut steps = 0;
    // Counted, not timed: the same text is always parsed in the same way.
    let mut watch = |_: &tree_sitter::ParseState| {
        steps += 1;
        if steps > MAX_PARSE_STEPS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut watch);
    let bytes = text.as_bytes();
    let mut from = |at: usize, _| bytes.get(at..).unwrap_or_default();
    parser.parse_with_options(&mut from, None, Some(options))
}

struct TreeWalk<'t, 'f, 'z> {
    text: &'t str,
    found: &'f mut CommandAnalysis<'z>,
    items: Vec<ParsedItem>,
    pending_steps: Vec<WalkStep<'t>>,
}

enum WalkStep<'t> {
    /// Visits this node, at this depth.
    Visit(Node<'t>, usize),
    /// Appends these words to the last command.
    Append(Vec<ShellWord>),
}

impl<'t> TreeWalk<'t, '_, '_> {
    fn run(&mut self, root: Node<'t>) {
        if root.has_error() {
            self.found.add_unsupported("it cannot be parsed");
            self.items
                .extend(tree_words::guess_commands(self.text).into_iter().map(ParsedItem::Command));
        }
        self.pending_steps.push(WalkStep::Visit(root, 0));
        while let Some(step) = self.pending_steps.pop() {
            match step {
                WalkStep::Visit(_, depth) if depth > MAX_NESTING => {
                    self.found.stop_at_limit("it is nested too deeply");
                }
                WalkStep::Visit(node, depth) => self.visit(node, depth),
                WalkStep::Append(words) => self.append_words(words),
            }
        }
    }

    fn visit(&mut self, node: Node<'t>, depth: usize) {
        match node.kind() {
            // Lists are nested on the left, one level for each command.
            "program" | "list" | "pipeline" => self.visit_children(node, depth),
            "command" => self.visit_command(node, depth),
            "redirected_statement" => self.visit_redirected(node, depth),
            "file_redirect" => self.visit_redirect(node, depth),
            "heredoc_redirect" | "herestring_redirect" => self.visit_here_document(node, depth),
            "declaration_command" | "unset_command" => self.visit_declaration(node, depth),
            kind if tree_words::is_plain_kind(kind) => self.visit_children(node, depth + 1),
            kind => self.visit_unsupported(node, kind, depth),
        }
    }

    fn visit_children(&mut self, node: Node<'t>, depth: usize) {
        let mut cursor = node.walk();
        let children: Vec<Node<'t>> = node.children(&mut cursor).collect();
        self.pending_steps
            .extend(children.into_iter().rev().map(|child| WalkStep::Visit(child, depth)));
    }

    fn visit_unsupported(&mut self, node: Node<'t>, kind: &str, depth: usize) {
        self.found.add_unsupported(&tree_words::describe_unsupported(kind));
        self.visit_children(node, depth + 1);
    }

    fn visit_command(&mut self, node: Node<'t>, depth: usize) {
        let mut words = Vec::new();
        for child in child_nodes(node) {
            match child.kind() {
                "variable_assignment"
                | "file_redirect"
                | "herestring_redirect"
                | "heredoc_redirect" => {}
                _ => words.push(tree_words::to_word(child, self.text)),
            }
        }
        self.check_name(words.first());
        self.items.push(ParsedItem::Command(words));
        self.visit_children(node, depth + 1);
    }

    fn check_name(&mut self, name: Option<&ShellWord>) {
        let is_plain = |name: &ShellWord| name.kind == WordKind::Plain && !name.text.is_empty();
        if !name.is_some_and(is_plain) {
            self.found.add_unsupported("the command name is not a plain word");
        }
        if name.is_some_and(|name| !name.text.is_ascii()) {
            self.found.add_unsupported("the command name contains look-alike letters");
        }
    }

    /// Visits a redirected command. Words after a redirection belong to the command, though the
    /// grammar attaches them elsewhere.
    fn visit_redirected(&mut self, node: Node<'t>, depth: usize) {
        let (bodies, redirects): (Vec<_>, Vec<_>) =
            child_nodes(node).into_iter().partition(|child| !child.kind().ends_with("_redirect"));
        let text = self.text;
        let extra: Vec<ShellWord> =
            redirects.iter().flat_map(|node| extra_words(*node, text)).collect();
        self.pending_steps
            .extend(redirects.into_iter().rev().map(|node| WalkStep::Visit(node, depth + 1)));
        self.pending_steps.push(WalkStep::Append(extra));
        self.pending_steps
            .extend(bodies.into_iter().rev().map(|node| WalkStep::Visit(node, depth + 1)));
    }

    fn append_words(&mut self, extra: Vec<ShellWord>) {
        let last = self.items.iter_mut().rev().find_map(|item| match item {
            ParsedItem::Command(words) => Some(words),
            ParsedItem::Redirect { .. } | ParsedItem::HereDocument(_) => None,
        });
        match last {
            Some(words) => words.extend(extra),
            None if extra.is_empty() => {}
            None => self.items.push(ParsedItem::Command(extra)),
        }
    }

    fn visit_redirect(&mut self, node: Node<'t>, depth: usize) {
        let mut parts =
            child_nodes(node).into_iter().filter(|part| part.kind() != "file_descriptor");
        let operator = parts.next().map_or("", |part| part.kind());
        let target = parts.next().map(|part| tree_words::to_word(part, self.text));
        // `>&-` is one token for the grammar.
        let (operator, target) = match (operator.strip_suffix('-'), target) {
            (Some(operator), None) => (operator, ShellWord::plain("-")),
            (_, target) => (operator, target.unwrap_or_else(|| ShellWord::unknown(""))),
        };
        match RedirectTarget::from_operator(operator, &target) {
            Some(to) => self.items.push(ParsedItem::Redirect { to, target }),
            None => self.found.add_unsupported("it uses an unsupported redirection"),
        }
        let nested = child_nodes(node).into_iter().filter(Node::is_named).rev();
        self.pending_steps.extend(nested.map(|part| WalkStep::Visit(part, depth + 1)));
    }

    fn visit_here_document(&mut self, node: Node<'t>, depth: usize) {
        self.found.add_unsupported("it contains a here-document");
        for part in child_nodes(node) {
            match part.kind() {
                "heredoc_body" => {
                    self.items.push(ParsedItem::HereDocument(
                        tree_words::node_text(part, self.text).to_owned(),
                    ));
                }
                "string" | "raw_string" | "word" if node.kind() == "herestring_redirect" => {
                    self.items
                        .push(ParsedItem::HereDocument(tree_words::to_word(part, self.text).text));
                }
                _ => {}
            }
        }
        self.visit_children(node, depth + 1);
    }

    fn visit_declaration(&mut self, node: Node<'t>, depth: usize) {
        self.found.add_unsupported("it changes variables");
        let words = child_nodes(node)
            .into_iter()
            .map(|part| tree_words::to_word(part, self.text))
            .collect();
        self.items.push(ParsedItem::Command(words));
        self.visit_children(node, depth + 1);
    }
}

fn child_nodes(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).collect()
}

/// Returns the words of a redirection after its target.
fn extra_words(node: Node<'_>, text: &str) -> Vec<ShellWord> {
    let is_word = |part: &Node<'_>| {
        part.is_named() && !part.kind().starts_with("heredoc_") && part.kind() != "file_descriptor"
    };
    let targets = if node.kind() == "heredoc_redirect" { 0 } else { 1 };
    let words = child_nodes(node).into_iter().filter(is_word).skip(targets);
    words
        .filter(|part| tree_words::is_word_kind(part.kind()))
        .map(|part| tree_words::to_word(part, text))
        .collect()
}
