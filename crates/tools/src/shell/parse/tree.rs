//! The first reading: a grammar of bash, walked without recursion, so that no depth overflows the
//! stack. Kinds of nodes that are not on the short list of plain ones are doubts, and what lies
//! within them is searched for commands all the same.

use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, Parser, Tree};
use windlass_core::permission::Access;

use super::found::Found;
use super::render;
use super::word::{Kind, Word};
use crate::limits::{MAX_NESTING, PARSE_STEPS};

/// A part of a command text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Item {
    /// A simple command.
    Command(Vec<Word>),
    /// A redirection.
    Redirect { to: To, target: Word },
    /// The text of a here-document.
    Here(String),
}

/// Where a redirection leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum To {
    /// To a file.
    File(Access),
    /// To where another one leads, or nowhere.
    Duplicate,
}

impl To {
    /// What an operator does with its target.
    pub(super) fn of(operator: &str, target: &Word) -> Option<Self> {
        let number = target.text.strip_suffix('-').unwrap_or(&target.text);
        let is_number = target.kind == Kind::Plain && number.chars().all(|c| c.is_ascii_digit());
        match operator {
            ">&" | "<&" if is_number => Some(Self::Duplicate),
            ">" | ">>" | ">|" | "&>" | "&>>" | ">&" => Some(Self::File(Access::Write)),
            "<" => Some(Self::File(Access::Read)),
            _ => None,
        }
    }
}

/// Reads a text; `None` if that took too long.
pub(super) fn read(text: &str, found: &mut Found<'_>) -> Option<Vec<Item>> {
    let tree = tree(&ascii(text))?;
    let mut walk = Walk { text, found, items: Vec::new(), ahead: Vec::new() };
    walk.run(tree.root_node());
    let mut items = walk.items;
    // Who reads a here-document is only known once all commands are.
    items.sort_by_key(|item| matches!(item, Item::Here(_)));
    Some(items)
}

/// The same text with a letter for every byte beyond ASCII. To bash they are all plain, and the
/// grammar's scanner looks characters up in a table of 256 without asking how large they are: one
/// from far away would end the process.
fn ascii(text: &str) -> String {
    let letter = |byte: u8| if byte.is_ascii() { char::from(byte) } else { 'x' };
    text.bytes().map(letter).collect()
}

fn tree(text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    let mut steps = 0;
    // Counted, not timed: the same text is always read in the same way.
    let mut watch = |_: &tree_sitter::ParseState| {
        steps += 1;
        if steps > PARSE_STEPS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut watch);
    let bytes = text.as_bytes();
    let mut from = |at: usize, _| bytes.get(at..).unwrap_or_default();
    parser.parse_with_options(&mut from, None, Some(options))
}

struct Walk<'t, 'f, 'z> {
    text: &'t str,
    found: &'f mut Found<'z>,
    items: Vec<Item>,
    ahead: Vec<Step<'t>>,
}

enum Step<'t> {
    /// Visit this node, at this depth.
    Visit(Node<'t>, usize),
    /// These words belong to the last command.
    Append(Vec<Word>),
}

impl<'t> Walk<'t, '_, '_> {
    fn run(&mut self, root: Node<'t>) {
        if root.has_error() {
            self.found.doubt("it cannot be parsed");
            self.items.extend(render::guesses(self.text).into_iter().map(Item::Command));
        }
        self.ahead.push(Step::Visit(root, 0));
        while let Some(step) = self.ahead.pop() {
            match step {
                Step::Visit(_, depth) if depth > MAX_NESTING => {
                    self.found.over("it is nested too deeply");
                }
                Step::Visit(node, depth) => self.visit(node, depth),
                Step::Append(words) => self.append(words),
            }
        }
    }

    fn visit(&mut self, node: Node<'t>, depth: usize) {
        match node.kind() {
            // Lists lean to the left, one level for each command.
            "program" | "list" | "pipeline" => self.descend(node, depth),
            "command" => self.command(node, depth),
            "redirected_statement" => self.redirected(node, depth),
            "file_redirect" => self.redirect(node, depth),
            "heredoc_redirect" | "herestring_redirect" => self.here(node, depth),
            "declaration_command" | "unset_command" => self.declaration(node, depth),
            kind if render::is_plain(kind) => self.descend(node, depth + 1),
            kind => self.doubtful(node, kind, depth),
        }
    }

    fn descend(&mut self, node: Node<'t>, depth: usize) {
        let mut cursor = node.walk();
        let children: Vec<Node<'t>> = node.children(&mut cursor).collect();
        self.ahead.extend(children.into_iter().rev().map(|child| Step::Visit(child, depth)));
    }

    fn doubtful(&mut self, node: Node<'t>, kind: &str, depth: usize) {
        self.found.doubt(&render::doubt_about(kind));
        self.descend(node, depth + 1);
    }

    fn command(&mut self, node: Node<'t>, depth: usize) {
        let mut words = Vec::new();
        for child in children(node) {
            match child.kind() {
                "variable_assignment"
                | "file_redirect"
                | "herestring_redirect"
                | "heredoc_redirect" => {}
                _ => words.push(render::word(child, self.text)),
            }
        }
        self.check_name(words.first());
        self.items.push(Item::Command(words));
        self.descend(node, depth + 1);
    }

    fn check_name(&mut self, name: Option<&Word>) {
        let is_plain = |name: &Word| name.kind == Kind::Plain && !name.text.is_empty();
        if !name.is_some_and(is_plain) {
            self.found.doubt("the name of a command is not plain");
        }
        if name.is_some_and(|name| !name.text.is_ascii()) {
            self.found.doubt("the name of a command holds letters that look like others");
        }
    }

    /// Words behind a redirection are the command's, though the grammar hangs them elsewhere.
    fn redirected(&mut self, node: Node<'t>, depth: usize) {
        let (bodies, redirects): (Vec<_>, Vec<_>) =
            children(node).into_iter().partition(|child| !child.kind().ends_with("_redirect"));
        let text = self.text;
        let extra: Vec<Word> = redirects.iter().flat_map(|node| extra_words(*node, text)).collect();
        self.ahead.extend(redirects.into_iter().rev().map(|node| Step::Visit(node, depth + 1)));
        self.ahead.push(Step::Append(extra));
        self.ahead.extend(bodies.into_iter().rev().map(|node| Step::Visit(node, depth + 1)));
    }

    fn append(&mut self, extra: Vec<Word>) {
        let last = self.items.iter_mut().rev().find_map(|item| match item {
            Item::Command(words) => Some(words),
            Item::Redirect { .. } | Item::Here(_) => None,
        });
        match last {
            Some(words) => words.extend(extra),
            None if extra.is_empty() => {}
            None => self.items.push(Item::Command(extra)),
        }
    }

    fn redirect(&mut self, node: Node<'t>, depth: usize) {
        let mut parts = children(node).into_iter().filter(|part| part.kind() != "file_descriptor");
        let operator = parts.next().map_or("", |part| part.kind());
        let target = parts.next().map(|part| render::word(part, self.text));
        // `>&-` is one sign for the grammar.
        let (operator, target) = match (operator.strip_suffix('-'), target) {
            (Some(operator), None) => (operator, Word::plain("-")),
            (_, target) => (operator, target.unwrap_or_else(|| Word::unknown(""))),
        };
        match To::of(operator, &target) {
            Some(to) => self.items.push(Item::Redirect { to, target }),
            None => self.found.doubt("it redirects in a way that is not understood"),
        }
        let nested = children(node).into_iter().filter(Node::is_named).rev();
        self.ahead.extend(nested.map(|part| Step::Visit(part, depth + 1)));
    }

    fn here(&mut self, node: Node<'t>, depth: usize) {
        self.found.doubt("it holds a here-document");
        for part in children(node) {
            match part.kind() {
                "heredoc_body" => {
                    self.items.push(Item::Here(render::source(part, self.text).to_owned()));
                }
                "string" | "raw_string" | "word" if node.kind() == "herestring_redirect" => {
                    self.items.push(Item::Here(render::word(part, self.text).text));
                }
                _ => {}
            }
        }
        self.descend(node, depth + 1);
    }

    fn declaration(&mut self, node: Node<'t>, depth: usize) {
        self.found.doubt("it changes variables");
        let words = children(node).into_iter().map(|part| render::word(part, self.text)).collect();
        self.items.push(Item::Command(words));
        self.descend(node, depth + 1);
    }
}

fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).collect()
}

/// Words of a redirection beyond its target.
fn extra_words(node: Node<'_>, text: &str) -> Vec<Word> {
    let is_word = |part: &Node<'_>| {
        part.is_named() && !part.kind().starts_with("heredoc_") && part.kind() != "file_descriptor"
    };
    let targets = if node.kind() == "heredoc_redirect" { 0 } else { 1 };
    let words = children(node).into_iter().filter(is_word).skip(targets);
    words.filter(|part| render::is_word(part.kind())).map(|part| render::word(part, text)).collect()
}
