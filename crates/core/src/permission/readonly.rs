//! Commands that only read, as long as they use no option that is not on this page. An option that is
//! missing here costs a question; one too many could cost a machine.
//!
//! Not here: git. Almost every git command can run a program that the repository chooses (a file
//! system monitor, an external diff, a text conversion, a signature check), so none of them is known
//! to be read-only.

use super::subject::SimpleCommand;

/// A command and the options with which it stays read-only.
struct ReadOnlyCommand {
    name: &'static str,
    /// Options without a value.
    flags: &'static [&'static str],
    /// Options whose value is the rest of the word, or the next word.
    valued: &'static [&'static str],
    operands: Operands,
}

/// What the words that are neither options nor their values are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operands {
    /// Files and folders.
    Files,
    /// Files only: the contents of a folder would be read through the links in it.
    PlainFiles,
    /// At most one file: a second one would be written to.
    OneFile,
    /// A pattern, unless an option gives it, and then files.
    PatternThenFiles,
    /// Words that name no files.
    Words,
    /// None: one would be created, or set.
    None,
    /// A format that begins with `+`.
    Format,
}

/// What a read-only command reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadOnlyUse {
    /// The places, among the command's words, of those that name files and folders.
    pub files: Vec<usize>,
    /// How far it reads.
    pub depth: Depth,
}

/// How far a command reads into a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Files that are named, and the names of files in folders.
    Named,
    /// Files that are named; a folder in the place of one cannot be judged.
    PlainFiles,
    /// Every file beneath a folder; the folder it starts in if it names none.
    Everything,
}

const fn command(
    name: &'static str,
    flags: &'static [&'static str],
    valued: &'static [&'static str],
    operands: Operands,
) -> ReadOnlyCommand {
    ReadOnlyCommand { name, flags, valued, operands }
}

const READ_ONLY: &[ReadOnlyCommand] = &[
    command("true", &[], &[], Operands::Words),
    command("false", &[], &[], Operands::Words),
    command("pwd", &["-L", "-P"], &[], Operands::None),
    command("whoami", &[], &[], Operands::None),
    command("date", &["-u", "-I", "-R"], &[], Operands::Format),
    command("uname", &["-a", "-s", "-r", "-m", "-n"], &[], Operands::None),
    command("echo", &["-n", "-e", "-E"], &[], Operands::Words),
    command("cat", &["-n", "-A", "-b", "-s", "-e", "-t", "-v", "-E", "-T"], &[], Operands::Files),
    command("head", &["-q", "-v"], &["-n", "-c"], Operands::Files),
    command("tail", &["-q", "-v"], &["-n", "-c"], Operands::Files),
    command("wc", &["-l", "-w", "-c", "-m", "-L"], &[], Operands::Files),
    command(
        "ls",
        &["-l", "-a", "-A", "-h", "-R", "-t", "-r", "-S", "-1", "-d", "-F", "-i", "-s"],
        &[],
        Operands::Files,
    ),
    command("stat", &["-L", "-t"], &["-c"], Operands::Files),
    command("file", &["-b", "-i", "-L"], &[], Operands::Files),
    command("du", &["-s", "-h", "-a", "-c"], &["-d"], Operands::Files),
    command("df", &["-h", "-i", "-T"], &[], Operands::Files),
    command("basename", &[], &[], Operands::Words),
    command("dirname", &[], &[], Operands::Words),
    command("realpath", &[], &[], Operands::Files),
    command("which", &["-a"], &[], Operands::Words),
    command("uniq", &["-c", "-d", "-u", "-i"], &[], Operands::OneFile),
    command("cut", &[], &["-d", "-f", "-c"], Operands::Files),
    command("tr", &["-d", "-s", "-c"], &[], Operands::Words),
    command(
        "sort",
        &["-n", "-r", "-u", "-h", "-V", "-f", "-b", "-s"],
        &["-k", "-t"],
        Operands::Files,
    ),
    command("diff", &["-u", "-q", "-w", "-b"], &[], Operands::PlainFiles),
    command("cmp", &["-s", "-l"], &[], Operands::Files),
    command(
        "find",
        &["-print", "-empty", "-not"],
        &[
            "-name",
            "-iname",
            "-path",
            "-type",
            "-maxdepth",
            "-mindepth",
            "-size",
            "-mtime",
            "-newer",
        ],
        Operands::Files,
    ),
    command(
        "grep",
        &[
            "-n", "-i", "-r", "-l", "-L", "-c", "-v", "-w", "-x", "-E", "-F", "-o", "-q", "-s",
            "-H", "-h",
        ],
        &["-A", "-B", "-C", "-e", "-m", "--include", "--exclude", "--exclude-dir"],
        Operands::PatternThenFiles,
    ),
    command(
        "rg",
        &[
            "-n",
            "-i",
            "-l",
            "-c",
            "-v",
            "-w",
            "-x",
            "-F",
            "-o",
            "-q",
            "-s",
            "-S",
            "--files",
            "--count",
            "--no-heading",
        ],
        &["-A", "-B", "-C", "-g", "-t", "-e", "-m", "--glob", "--type"],
        Operands::PatternThenFiles,
    ),
];

/// What is left of commands that run another one, once that was taken out and listed by itself.
const WRAPPERS: &[&[&str]] = &[
    &["timeout"],
    &["nice"],
    &["nohup"],
    &["stdbuf"],
    &["time"],
    &["command"],
    &["builtin"],
    &["env"],
    &["sh", "-c"],
    &["bash", "-c"],
    &["dash", "-c"],
];

/// Whether nothing but the name of a wrapper is left, which does nothing by itself.
#[must_use]
pub fn only_wraps(command: &SimpleCommand) -> bool {
    let is = |wrapper: &[&str]| command.words.iter().map(AsRef::as_ref).eq(wrapper.iter().copied());
    WRAPPERS.iter().any(|wrapper| is(wrapper))
}

/// Whether the command cannot change anything.
#[must_use]
pub fn is_read_only(command: &SimpleCommand) -> bool {
    read_only_use(command).is_some()
}

/// What the command reads; `None` if it is not known to be read-only.
#[must_use]
pub fn read_only_use(command: &SimpleCommand) -> Option<ReadOnlyUse> {
    READ_ONLY.iter().find(|known| known.name == command.name())?.read(command)
}

/// The words of a command, sorted.
#[derive(Default)]
struct Sorted<'w> {
    /// Option letters and names that were used.
    options: Vec<String>,
    /// The operands and where they stand.
    operands: Vec<(usize, &'w str)>,
    /// Values that name a file.
    files: Vec<usize>,
}

impl ReadOnlyCommand {
    fn read(&self, command: &SimpleCommand) -> Option<ReadOnlyUse> {
        let sorted = self.sort(command)?;
        let has = |option: &str| sorted.options.iter().any(|used| used == option);
        let all = || sorted.operands.iter().map(|(at, _)| *at);
        let named: Vec<usize> = match self.operands {
            Operands::Files | Operands::PlainFiles => all().collect(),
            Operands::OneFile => (sorted.operands.len() <= 1).then(|| all().collect())?,
            Operands::PatternThenFiles if has("-e") || has("--files") => all().collect(),
            Operands::PatternThenFiles => all().skip(1).collect(),
            Operands::Words => Vec::new(),
            Operands::None => sorted.operands.is_empty().then(Vec::new)?,
            Operands::Format => {
                sorted.operands.iter().all(|(_, word)| word.starts_with('+')).then(Vec::new)?
            }
        };
        let depth = match self.operands {
            Operands::PlainFiles => Depth::PlainFiles,
            Operands::PatternThenFiles if self.name == "rg" || has("-r") => Depth::Everything,
            Operands::Files
            | Operands::OneFile
            | Operands::PatternThenFiles
            | Operands::Words
            | Operands::None
            | Operands::Format => Depth::Named,
        };
        Some(ReadOnlyUse { files: named.into_iter().chain(sorted.files).collect(), depth })
    }

    /// Tells options, their values and operands apart; `None` if an option is not on the list.
    fn sort<'w>(&self, command: &'w SimpleCommand) -> Option<Sorted<'w>> {
        let mut sorted = Sorted::default();
        let mut words = command.words.iter().map(AsRef::as_ref).enumerate().skip(1);
        while let Some((at, word)) = words.next() {
            if !is_option(word) {
                sorted.operands.push((at, word));
                continue;
            }
            match self.option(word)? {
                Taken::Whole(options) => sorted.options.extend(options),
                Taken::AwaitsValue(options) => {
                    let (value_at, _) = words.next()?;
                    // The only option of these whose value is a file.
                    if options.iter().any(|option| option == "-newer") {
                        sorted.files.push(value_at);
                    }
                    sorted.options.extend(options);
                }
            }
        }
        Some(sorted)
    }

    fn option(&self, word: &str) -> Option<Taken> {
        let (name, value) = match word.split_once('=').filter(|_| word.starts_with("--")) {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        let is_flag = self.flags.contains(&name);
        let is_valued = self.valued.contains(&name);
        match (is_flag, is_valued, value) {
            (true, _, None) | (_, true, Some(_)) => Some(Taken::Whole(vec![name.to_owned()])),
            (_, true, None) => Some(Taken::AwaitsValue(vec![name.to_owned()])),
            (true, false, Some(_)) => None,
            (false, false, _) => self.number(word).or_else(|| self.bundle(word)),
        }
    }

    /// `-20` is a count where the command counts.
    fn number(&self, word: &str) -> Option<Taken> {
        let digits = word.strip_prefix('-').filter(|rest| !rest.is_empty())?;
        let counts = self.valued.contains(&"-n") && digits.chars().all(|c| c.is_ascii_digit());
        counts.then(|| Taken::Whole(vec!["-n".to_owned()]))
    }

    /// `-la` is `-l -a`, and `-n20` is `-n 20`; long options are never bundles.
    fn bundle(&self, word: &str) -> Option<Taken> {
        let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?;
        let mut options = Vec::new();
        let mut rest = letters.chars();
        while let Some(letter) = rest.next() {
            let option = format!("-{letter}");
            let takes_value = self.valued.contains(&option.as_str());
            if !takes_value && !self.flags.contains(&option.as_str()) {
                return None;
            }
            options.push(option);
            match (takes_value, rest.as_str().is_empty()) {
                (true, true) => return Some(Taken::AwaitsValue(options)),
                (true, false) => return Some(Taken::Whole(options)),
                (false, _) => {}
            }
        }
        (!options.is_empty()).then_some(Taken::Whole(options))
    }
}

/// What an option word holds.
enum Taken {
    /// Everything that belongs to these options.
    Whole(Vec<String>),
    /// These options, the last of which finds its value in the next word.
    AwaitsValue(Vec<String>),
}

fn is_option(word: &str) -> bool {
    word.starts_with('-') && word != "-"
}
