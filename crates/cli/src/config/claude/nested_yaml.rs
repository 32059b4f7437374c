//! The part of YAML that nested fields of front matter use: tables and lists by indentation, words,
//! quoted words, text blocks, and JSON.

use serde_json::{Map, Value};

#[cfg(test)]
#[path = "nested_yaml_tests.rs"]
mod nested_yaml_tests;

/// Maximum depth of tables and lists.
const MAX_DEPTH: usize = 16;

/// Parses the indented lines below a field.
pub(super) fn parse_block(lines: &[String]) -> Result<Value, String> {
    let lines = lines.iter().map(|line| line.replace('\t', "  "));
    let lines: Vec<(usize, String)> = lines
        .map(|line| (line.len() - line.trim_start().len(), line.trim().to_owned()))
        .filter(|(_, text)| !text.is_empty() && !text.starts_with('#'))
        .collect();
    let mut reader = BlockReader { lines, at: 0 };
    let value = reader.read_node(0)?;
    match reader.peek() {
        None => Ok(value),
        Some((_, text)) => Err(format!("`{text}` is indented in a way that has no meaning")),
    }
}

/// Parses the value on the line of a field.
pub(super) fn parse_scalar(text: &str) -> Result<Value, String> {
    let text = text.trim();
    if text.starts_with(['{', '[']) {
        return serde_json::from_str(text).map_err(|_| {
            format!("`{text}` is not JSON; write it as JSON, or on lines of its own")
        });
    }
    if text.starts_with('"') {
        return serde_json::from_str(text).map_err(|_| format!("{text} is not a quoted text"));
    }
    if let Some(inner) = text.strip_prefix('\'') {
        let inner = inner.strip_suffix('\'').ok_or_else(|| format!("{text} is not closed"))?;
        return Ok(Value::from(inner.replace("''", "'")));
    }
    let plain = text.split(" #").next().unwrap_or_default().trim();
    Ok(match plain {
        "" | "~" | "null" => Value::Null,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        word => match word.parse::<serde_json::Number>() {
            Ok(number) => Value::Number(number),
            Err(_) => Value::from(word),
        },
    })
}

/// Reads lines with their indentation.
struct BlockReader {
    lines: Vec<(usize, String)>,
    at: usize,
}

impl BlockReader {
    fn peek(&self) -> Option<(usize, &str)> {
        self.lines.get(self.at).map(|(indent, text)| (*indent, text.as_str()))
    }

    fn read_node(&mut self, depth: usize) -> Result<Value, String> {
        if depth > MAX_DEPTH {
            return Err(format!("it is nested more than {MAX_DEPTH} deep"));
        }
        let Some((indent, text)) = self.peek() else { return Ok(Value::Null) };
        if is_entry(text) {
            return self.read_list(indent, depth);
        }
        if split_key(text).is_some() {
            return self.read_table(indent, depth);
        }
        let value = parse_scalar(text)?;
        self.at += 1;
        Ok(value)
    }

    fn read_list(&mut self, indent: usize, depth: usize) -> Result<Value, String> {
        let mut entries = Vec::new();
        while let Some((_, text)) = self.peek().filter(|(at, text)| *at == indent && is_entry(text))
        {
            let rest = text.trim_start_matches('-').trim_start().to_owned();
            let inner = indent + text.len() - rest.len();
            if rest.is_empty() {
                self.at += 1;
                entries.push(self.read_below(indent, depth)?);
            } else {
                // The rest of the line is the first line of the entry.
                if let Some(line) = self.lines.get_mut(self.at) {
                    *line = (inner, rest);
                }
                entries.push(self.read_node(depth + 1)?);
            }
        }
        Ok(Value::Array(entries))
    }

    fn read_table(&mut self, indent: usize, depth: usize) -> Result<Value, String> {
        let mut table = Map::new();
        while let Some((_, text)) =
            self.peek().filter(|(at, text)| *at == indent && !is_entry(text))
        {
            let (key, value) = split_key(text)
                .ok_or_else(|| format!("`{text}` is not `name: value`; fix the indentation"))?;
            self.at += 1;
            let value = match value.as_str() {
                "" => self.read_below(indent, depth)?,
                "|" | "|-" => Value::from(self.read_text(indent, "\n")),
                ">" | ">-" => Value::from(self.read_text(indent, " ")),
                value => parse_scalar(value)?,
            };
            if table.insert(key.clone(), value).is_some() {
                return Err(format!("`{key}` is there twice; keep one"));
            }
        }
        Ok(Value::Object(table))
    }

    /// Reads what belongs to a line that ends with a colon or a dash. A list may be as far to the left
    /// as its name.
    fn read_below(&mut self, indent: usize, depth: usize) -> Result<Value, String> {
        match self.peek() {
            Some((at, text)) if at > indent || (at == indent && is_entry(text)) => {
                self.read_node(depth + 1)
            }
            _ => Ok(Value::Null),
        }
    }

    fn read_text(&mut self, indent: usize, separator: &str) -> String {
        let mut lines = Vec::new();
        while let Some((_, text)) = self.peek().filter(|(at, _)| *at > indent) {
            lines.push(text.to_owned());
            self.at += 1;
        }
        lines.join(separator)
    }
}

fn is_entry(text: &str) -> bool {
    text == "-" || text.starts_with("- ")
}

/// Splits `name: value`; the name may be quoted.
fn split_key(text: &str) -> Option<(String, String)> {
    if text.starts_with(['{', '[']) {
        return None;
    }
    for quote in ['"', '\''] {
        if let Some(rest) = text.strip_prefix(quote) {
            let (key, rest) = rest.split_once(quote)?;
            let value = rest.trim_start().strip_prefix(':')?;
            return Some((key.to_owned(), value.trim().to_owned()));
        }
    }
    let (key, value) = text.split_once(": ").or_else(|| Some((text.strip_suffix(':')?, "")))?;
    Some((key.trim().to_owned(), value.trim().to_owned()))
}
