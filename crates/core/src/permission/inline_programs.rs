//! Interpreters that run inline programs (`python -c`, scripts from standard input): such text can
//! do anything, and no deny rule sees it.
//!
//! Not here: programs in files. What `npm test` or `python3 tool.py` does was written before; rules
//! see the names.

use super::hazardous_options;
use super::known_options::{is_option, list_contains, option_name};
use super::read_only::is_read_only;
use super::subject::SimpleCommand;

/// An interpreter.
struct InterpreterSpec {
    /// Names of the interpreter, separated by blanks, without a version number.
    names: &'static str,
    /// Options before the script that take no inline program, separated by blanks.
    options: &'static str,
    /// Options before the script with a value in the next word, separated by blanks.
    valued: &'static str,
    /// Options that only print information, separated by blanks.
    telling: &'static str,
    /// Subcommands that take no inline program, separated by blanks; a file is none of them.
    own: &'static str,
    script: ScriptOperand,
}

/// The meaning of the first operand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ScriptOperand {
    /// A file with the program.
    File,
    /// Anything else: not known.
    Unknown,
}

const fn file_interpreter(names: &'static str, options: &'static str) -> InterpreterSpec {
    let telling = "--version -V -v -version --help";
    InterpreterSpec { names, options, valued: "", telling, own: "", script: ScriptOperand::File }
}

/// Python modules that run no inline program.
const HARMLESS_PYTHON_MODULES: &str = "pytest unittest pip venv build mypy ruff black flake8 pylint isort \
    json.tool compileall coverage tox nox http.server pip_audit pyright pre_commit twine";

/// Programs that take commands from their arguments, files or standard input, and can run others.
const UNKNOWN_INTERPRETERS: &str = "vi vim nvim view ex ed red emacs emacsclient nano dc m4 gnuplot sqlite sqlite3 \
    psql mysql mariadb ftp lftp telnet crontab irb pry ghci iex jshell groovysh osascript tclsh wish \
    expect bpython ipython octave maxima gp erl swipl guile scheme racket sbcl clisp ecl mit-scheme \
    gst ocaml utop rebol factor";

const INTERPRETERS: &[InterpreterSpec] = &[
    InterpreterSpec {
        valued: "-W -X",
        telling: "--version -V --help",
        ..file_interpreter("python pypy python3w", "-u -B -O -OO -s -S -E -I -b -bb -q -W -X -v")
    },
    file_interpreter("perl", "-w -W -T -t"),
    file_interpreter("ruby jruby", "-w -W -W0 -W1 -W2"),
    InterpreterSpec {
        own: "inspect",
        ..file_interpreter(
            "node nodejs",
            "--test --check -c --watch --trace-warnings --no-warnings --experimental-strip-types",
        )
    },
    InterpreterSpec {
        own: "run test lint fmt check task cache compile install info doc bench",
        script: ScriptOperand::Unknown,
        ..file_interpreter("deno", "")
    },
    InterpreterSpec {
        own: "run test install add remove build update pm",
        ..file_interpreter("bun", "")
    },
    file_interpreter("php", "-l -n"),
    file_interpreter("lua luajit", ""),
    InterpreterSpec {
        valued: "-cp -classpath",
        ..file_interpreter("java", "-jar -ea -cp -classpath")
    },
    file_interpreter("Rscript", "--vanilla --no-save"),
    InterpreterSpec { script: ScriptOperand::Unknown, ..file_interpreter("R", "") },
    file_interpreter("julia", "--project"),
    file_interpreter("elixir escript runghc runhaskell groovy scala kotlin swift nim raku", ""),
    file_interpreter("tsx ts-node", ""),
];

/// Names of shells: their input cannot be seen behind another program.
const SHELLS: &str = "sh bash dash zsh ksh ksh93 mksh ash fish rbash yash csh tcsh osh ysh nu elvish \
    xonsh pwsh busybox toybox";

/// Programs that never run their arguments.
const PROGRAMS_THAT_RUN_NO_ARGUMENTS: &str = "cat cd chmod chown cp diff echo grep head kill killall ln ls \
    mkdir mv pkill printf rm rmdir sleep tail tee test touch wc";

/// Returns whether the words of the command show what it runs, as far as words can.
#[must_use]
pub fn shows_what_it_runs(command: &SimpleCommand) -> bool {
    !hazardous_options::may_run_hidden_program(command) && !runs_inline_program(command)
}

/// Returns whether a program of this name is a shell or another interpreter.
#[must_use]
pub fn reads_programs(name: &str) -> bool {
    let bare = program_base_name(name);
    find_interpreter(name).is_some()
        || list_contains(SHELLS, bare)
        || list_contains(UNKNOWN_INTERPRETERS, bare)
        || bare == "make"
}

/// Returns whether the command runs no program that its words name.
#[must_use]
pub fn runs_no_arguments(command: &SimpleCommand) -> bool {
    list_contains(PROGRAMS_THAT_RUN_NO_ARGUMENTS, command.name())
        || is_read_only(command)
        || hazardous_options::is_fully_known(command)
}

/// Returns whether the command runs an inline program, or lets another program do so.
fn runs_inline_program(command: &SimpleCommand) -> bool {
    let words: Vec<&str> = command.words.iter().map(AsRef::as_ref).collect();
    if is_inline_program_run(&words) {
        return true;
    }
    // `tool run python -c …`.
    let is_run_behind = |at: usize| {
        let behind = words.get(at..).unwrap_or_default();
        let name = behind.first().map_or("", |name| program_base_name(name));
        list_contains(SHELLS, name) || is_inline_program_run(behind)
    };
    !runs_no_arguments(command) && !is_interpreter(&words) && (1..words.len()).any(is_run_behind)
}

fn is_interpreter(words: &[&str]) -> bool {
    words.first().is_some_and(|name| find_interpreter(name).is_some())
}

fn find_interpreter(name: &str) -> Option<&'static InterpreterSpec> {
    INTERPRETERS.iter().find(|known| list_contains(known.names, program_base_name(name)))
}

/// Returns the name of a program without its folder and version number.
fn program_base_name(name: &str) -> &str {
    let name = name.rsplit_once('/').map_or(name, |(_, name)| name);
    let name = name.split('.').next().unwrap_or_default();
    match name {
        "ksh93" | "sqlite3" | "m4" => name,
        _ => name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-'),
    }
}

fn is_inline_program_run(words: &[&str]) -> bool {
    let Some((name, rest)) = words.split_first() else { return false };
    match find_interpreter(name) {
        _ if list_contains("make gmake bmake", program_base_name(name)) => {
            make_runs_inline_text(rest)
        }
        _ if list_contains("npm pnpm yarn", program_base_name(name)) => {
            rest.iter().any(|word| is_npm_call_option(word))
        }
        Some(known) => known.runs_inline_program(rest),
        None => {
            list_contains(UNKNOWN_INTERPRETERS, program_base_name(name))
                && !only_prints_information(rest)
        }
    }
}

/// Returns whether the program only prints information about itself.
fn only_prints_information(rest: &[&str]) -> bool {
    matches!(rest, ["--version" | "--help" | "-version" | "-V"]) || matches!(rest, ["-l"])
}

impl InterpreterSpec {
    fn runs_inline_program(&self, rest: &[&str]) -> bool {
        if matches!(rest, [only] if list_contains(self.telling, only)) {
            return false;
        }
        let mut words = rest.iter().copied();
        while let Some(word) = words.next() {
            match word {
                "-m" if list_contains(self.names, "python") => {
                    return !words
                        .next()
                        .is_some_and(|module| list_contains(HARMLESS_PYTHON_MODULES, module));
                }
                _ if list_contains(self.valued, word) => drop(words.next()),
                _ if list_contains(self.options, option_name(word)) => {}
                _ if is_option(word) => return true,
                _ if list_contains(self.own, word) => return words.any(takes_inline_program),
                _ => return self.script == ScriptOperand::Unknown || !is_file(word),
            }
        }
        // Without a script it reads one from standard input.
        !rest.contains(&"--test")
    }
}

/// Returns whether the option is one with which nearly every interpreter takes an inline program.
fn takes_inline_program(word: &str) -> bool {
    matches!(word, "-e" | "-c" | "-p" | "--eval" | "--print" | "-") || word.starts_with("data:")
}

/// Returns whether a word names a file, and not one that an inline program could come through.
fn is_file(word: &str) -> bool {
    let is_stream = word.starts_with("/dev/") || word.starts_with("/proc/");
    !(word == "-" || word == "--" || is_stream || word.starts_with("data:"))
}

/// Returns whether the word is the option of `npm exec -c TEXT`.
fn is_npm_call_option(word: &str) -> bool {
    list_contains("-c --call --shell-mode", option_name(word))
}

/// Returns whether `make` runs inline text: variables and options can contain it, targets and plain
/// options cannot.
fn make_runs_inline_text(rest: &[&str]) -> bool {
    let is_plain = |word: &str| {
        let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        let is_letters = letters.is_some_and(|letters| {
            !letters.is_empty() && letters.chars().all(|c| "jksnBwCfqi0123456789".contains(c))
        });
        is_letters
            || list_contains(
                "--jobs --keep-going --silent --dry-run --version --help",
                option_name(word),
            )
    };
    rest.iter().any(|word| match is_option(word) {
        true => !is_plain(word),
        false => word.contains('=') || !is_file(word),
    })
}

#[cfg(test)]
#[path = "inline_programs_tests.rs"]
mod tests;
