//! The files that a git command uses, named or not.

use windlass_core::permission::{PathAccess, has_harmless_options};

use super::command_paths::{record_mention, record_named_file, record_read_mention};
use super::embedded_paths;
use crate::shell::command_analysis::analysis::CommandAnalysis;
use crate::shell::command_analysis::shell_word::ShellWord;

/// A command that prints no file contents, and the options that do not change that.
struct ContentFreeCommand {
    command: &'static str,
    /// Short options, alone or with an attached value.
    letters: &'static str,
    /// Long options, separated by spaces.
    names: &'static str,
}

const fn content_free(
    command: &'static str,
    letters: &'static str,
    names: &'static str,
) -> ContentFreeCommand {
    ContentFreeCommand { command, letters, names }
}

/// Git commands that print no file contents. An option that is missing here costs an approval where
/// files are denied.
const CONTENT_FREE_COMMANDS: &[ContentFreeCommand] = &[
    content_free(
        "add",
        "nvfAuN",
        "--dry-run --verbose --force --all --update --intent-to-add --refresh",
    ),
    content_free(
        "branch",
        "advrfmMcCDilqtu",
        "--all --delete --verbose --remotes --force --move --copy --ignore-case --list --quiet \
         --track --no-track --set-upstream-to --unset-upstream --show-current --contains \
         --no-contains --merged --no-merged --sort --points-at --format --column --color --no-color",
    ),
    content_free("clean", "dfnqxX", "--force --dry-run --quiet"),
    content_free(
        "commit",
        "aqsnm",
        "--all --message --amend --no-edit --signoff --no-verify --quiet --allow-empty \
         --allow-empty-message --author --date --reset-author --fixup --squash --no-gpg-sign",
    ),
    content_free(
        "config",
        "lz",
        "--global --system --local --get --get-all --get-regexp --list --type --all",
    ),
    content_free(
        "fetch",
        "aftpnqv",
        "--all --append --depth --deepen --dry-run --force --prune --no-tags --tags --unshallow \
         --quiet --verbose --progress",
    ),
    content_free("init", "qb", "--quiet --bare --initial-branch"),
    content_free(
        "log",
        "nqrzsiEFP0123456789",
        "--oneline --max-count --skip --since --after --until --before --author --committer --grep \
         --all-match --invert-grep --merges --no-merges --first-parent --all --branches --tags \
         --remotes --reverse --graph --decorate --no-decorate --stat --shortstat --numstat \
         --dirstat --summary --name-only --name-status --no-patch --pretty --format --abbrev-commit \
         --no-abbrev-commit --abbrev --date --date-order --topo-order --author-date-order \
         --relative-date --left-right --cherry-mark --boundary --full-history --follow \
         --no-color --color --source --diff-filter --no-renames --find-renames --ancestry-path \
         --simplify-by-decoration",
    ),
    content_free(
        "ls-files",
        "zcdmoisu",
        "--cached --deleted --modified --others --ignored --stage --exclude-standard --directory \
         --unmerged --full-name --error-unmatch",
    ),
    content_free(
        "push",
        "fndquv",
        "--all --tags --follow-tags --atomic --dry-run --force --force-with-lease --delete --prune \
         --quiet --verbose --progress --set-upstream --no-verify --porcelain",
    ),
    content_free("remote", "v", "--verbose"),
    content_free("reset", "qN", "--soft --mixed --hard --merge --keep --quiet"),
    content_free("restore", "WSqs", "--source --worktree --staged --quiet"),
    content_free(
        "rev-parse",
        "q",
        "--verify --quiet --short --abbrev-ref --symbolic --symbolic-full-name --all --branches \
         --tags --remotes --show-toplevel --show-prefix --show-cdup --git-dir --git-common-dir \
         --absolute-git-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository \
         --git-path",
    ),
    content_free("rm", "fnrq", "--force --dry-run --cached --ignore-unmatch --quiet"),
    content_free("shortlog", "nsec", "--numbered --summary --email --since --until --all"),
    content_free(
        "status",
        "sbzu",
        "--short --branch --show-stash --porcelain --long --untracked-files --ignored --column \
         --ahead-behind --no-ahead-behind --renames --no-renames",
    ),
    content_free(
        "switch",
        "dfqtcC",
        "--create --force-create --detach --force --quiet --track --orphan",
    ),
    content_free(
        "tag",
        "afdlinm",
        "--annotate --force --delete --list --message --sort --contains --no-contains --merged \
         --no-merged --points-at --format --column",
    ),
];

/// Commands that change no file of the work tree.
const WORK_TREE_KEEPING_COMMANDS: &[&str] = &[
    "add",
    "commit",
    "config",
    "fetch",
    "push",
    "remote",
    "tag",
    "shortlog",
    "rev-list",
    "cat-file",
    "ls-tree",
    "ls-remote",
    "for-each-ref",
    "show-ref",
    "merge-base",
    "name-rev",
    "reflog",
    "gc",
    "fsck",
    "count-objects",
    "version",
    "help",
    "var",
    "init",
    "notes",
];

/// Commands that leave the files of the work tree unchanged.
const READ_ONLY_COMMANDS: &[&str] = &[
    "blame",
    "branch",
    "describe",
    "diff",
    "grep",
    "log",
    "ls-files",
    "rev-parse",
    "shortlog",
    "show",
    "status",
];

pub(crate) fn record_git_files(rest: &[ShellWord], found: &mut CommandAnalysis<'_>) {
    let command = rest.first().map_or("", |word| word.text.as_str());
    let words: Vec<ShellWord> =
        [ShellWord::plain("git")].into_iter().chain(rest.iter().cloned()).collect();
    let keeps_files = (READ_ONLY_COMMANDS.contains(&command)
        || WORK_TREE_KEEPING_COMMANDS.contains(&command))
        && has_harmless_options(&found.to_simple_command(&words));
    for word in rest.iter().skip(1) {
        match keeps_files {
            true => record_read_mention(word, found),
            false => record_mention(word, found),
        }
        if word.is_option() {
            embedded_paths::record_mentions(word, found);
        }
        // `HEAD:file` names a file of a revision, and `:file` one of the index.
        if let Some((_, path)) = word.text.rsplit_once(':').filter(|(_, path)| !path.is_empty()) {
            record_named_file(&ShellWord { text: path.to_owned(), kind: word.kind }, found);
        }
    }
    if command == "config" && sets_config(rest) {
        found.add_protected_reach(".git/config");
    }
    if !is_content_free(command, rest) {
        // Its words do not show which files of which revision it prints.
        found.add_scan("/", PathAccess::Read);
    }
    if !READ_ONLY_COMMANDS.contains(&command) {
        found.mark_unknown_files();
    }
    if !READ_ONLY_COMMANDS.contains(&command) && !WORK_TREE_KEEPING_COMMANDS.contains(&command) {
        found.add_scan("/", PathAccess::Write);
    }
}

fn is_content_free(command: &str, rest: &[ShellWord]) -> bool {
    let Some(known) = CONTENT_FREE_COMMANDS.iter().find(|known| known.command == command) else {
        return false;
    };
    let is_quiet = |word: &ShellWord| {
        let name = word.text.split_once('=').map_or(word.text.as_str(), |(name, _)| name);
        let letters = word.text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        !word.is_option()
            || word.text == "--"
            || known.names.split_ascii_whitespace().any(|known| known == name)
            || letters.is_some_and(|letters| known.allows_letters(letters))
    };
    rest.iter().skip(1).all(is_quiet)
}

impl ContentFreeCommand {
    /// Returns whether all short options are allowed. After the letter of a message the rest of a
    /// bundle is its text.
    fn allows_letters(&self, letters: &str) -> bool {
        let bundle = match self.letters.contains('m') {
            true => letters.split_once('m').map_or(letters, |(before, _)| before),
            false => letters,
        };
        bundle.chars().all(|letter| self.letters.contains(letter))
    }
}

/// Returns whether `git config` may change something: it does unless it plainly reads.
fn sets_config(rest: &[ShellWord]) -> bool {
    let asks = |word: &ShellWord| {
        let text = word.text.as_str();
        text.starts_with("--get") || matches!(text, "--list" | "-l" | "get" | "list")
    };
    let operands = rest.iter().skip(1).filter(|word| !word.is_option()).count();
    let changes = |word: &ShellWord| {
        let text = word.text.as_str();
        ["--add", "--unset", "--rep", "--rem", "--ren", "--edit", "-e"]
            .iter()
            .any(|known| text.starts_with(known))
    };
    let edits = rest.iter().any(|word| word.text == "edit");
    edits || rest.iter().any(changes) || (operands != 1 && !rest.get(1).is_some_and(asks))
}
