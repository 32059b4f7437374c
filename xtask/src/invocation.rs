//! A command line as data: built in one module, printed before it runs, run in another.

use std::ffi::OsString;
use std::fmt;

/// A program, its arguments and the environment it needs on top of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Invocation {
    program: String,
    arguments: Vec<String>,
    variables: Vec<(String, String)>,
}

impl Invocation {
    pub(crate) fn new(program: &str, arguments: &[&str]) -> Self {
        Self {
            program: program.to_owned(),
            arguments: to_strings(arguments),
            variables: Vec::new(),
        }
    }

    /// Adds arguments at the end.
    pub(crate) fn with_arguments(mut self, arguments: &[String]) -> Self {
        self.arguments.extend_from_slice(arguments);
        self
    }

    /// Adds one environment variable.
    pub(crate) fn with_variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The program to execute. `cargo` becomes the cargo that started us: with several toolchains
    /// installed, the one on `PATH` may be another.
    pub(crate) fn executable(&self) -> OsString {
        let ours = (self.program == "cargo").then(|| std::env::var_os("CARGO")).flatten();
        ours.unwrap_or_else(|| OsString::from(&self.program))
    }

    pub(crate) fn arguments(&self) -> &[String] {
        &self.arguments
    }

    pub(crate) fn variables(&self) -> &[(String, String)] {
        &self.variables
    }
}

/// The command line as it would be typed into a shell.
impl fmt::Display for Invocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.variables {
            write!(formatter, "{name}={} ", quote_word(value))?;
        }
        write!(formatter, "{}", quote_word(&self.program))?;
        for argument in &self.arguments {
            write!(formatter, " {}", quote_word(argument))?;
        }
        Ok(())
    }
}

fn to_strings(arguments: &[&str]) -> Vec<String> {
    arguments.iter().map(|&argument| argument.to_owned()).collect()
}

fn quote_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
