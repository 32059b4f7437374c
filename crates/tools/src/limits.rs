//! The bounds of the tools, each with its name.

/// How long a call may run unless it says otherwise.
pub const TIMEOUT_MS: u64 = 120_000;
/// The longest time a command may ask for.
pub const MAX_TIMEOUT_MS: u64 = 600_000;

/// The longest command, in bytes. The kernel takes no single argument above 128 KiB.
pub const MAX_COMMAND_BYTES: usize = 100 * 1024;
/// Steps a parser may take over one command.
pub const PARSE_STEPS: usize = 10_000;
/// How deep the parts of a command may lie within each other.
pub const MAX_NESTING: usize = 200;
/// How often a command may hand another one to a shell: `sh -c 'sh -c …'`.
pub const MAX_SHELLS: usize = 4;
/// How many programs may stand in front of the one that is meant: `nice nohup timeout 5 …`.
pub const MAX_WRAPPERS: usize = 10;
/// Simple commands in one command.
pub const MAX_COMMANDS: usize = 500;
/// Words of a text that is looked through: each of them may name a file.
pub const MAX_WORDS: usize = 5_000;
/// Signs that mean something to a shell, in one command.
pub const MAX_SIGNS: usize = 3_000;
/// Here-documents in one command.
pub const MAX_HERE: usize = 32;
/// Words looked at of a command that stands behind another one which cannot be followed.
pub const MAX_GUESSED_WORDS: usize = 64;
/// Paths that one command may name.
pub const MAX_PATHS: usize = 2_000;
/// Folders in which a shell may be after some `cd`.
pub const MAX_FOLDERS: usize = 8;
/// Names looked at to find out what a pattern stands for, or what a folder holds.
pub const MAX_PATTERN_ENTRIES: usize = 10_000;
/// The same for all patterns of a command together.
pub const MAX_PATTERN_ENTRIES_IN_ALL: usize = 50_000;
/// Parts of the words of a command that are looked at as names of files.
pub const MAX_NAME_PIECES: usize = 2_000;
/// Doubts kept about one command; more would say nothing new.
pub const MAX_DOUBTS: usize = 8;
/// Bytes kept from the beginning of a command's output.
pub const HEAD_BYTES: usize = 128 * 1024;
/// Bytes kept from the end of a command's output.
pub const TAIL_BYTES: usize = 128 * 1024;
/// Characters of output shown with a command that failed.
pub const FAILED_OUTPUT_CHARS: u64 = 30_000;
/// Bytes of output from which on the whole of it is kept in a file: more than a model is shown.
pub const SPILL_BYTES: usize = 24 * 1024;
/// Bytes of output kept in a file: as many as can be paged through.
pub const MAX_OUTPUT_BYTES: u64 = MAX_SCAN_BYTES;
/// Files of output kept for one conversation; the oldest go.
pub const MAX_OUTPUT_FILES: usize = 50;
/// Bytes of output kept in all files of one conversation; the oldest files go.
pub const MAX_OUTPUT_TOTAL_BYTES: u64 = 2 * MAX_OUTPUT_BYTES;
/// Commands that one conversation may have in the background.
pub const MAX_BACKGROUND: usize = 16;
/// How long a command in the background may run unless it says otherwise.
pub const BACKGROUND_MS: u64 = 6 * 60 * 60 * 1_000;
/// Bytes of a background command's output shown at once.
pub const POLLED_BYTES: u64 = 24 * 1024;
/// Processes of one user at once, where the kernel counts them.
pub const MAX_PROCESSES: u64 = 16_384;
/// Files that a process may have open unless it asks for more.
pub const OPEN_FILES: u64 = 4_096;
/// How long output is awaited after the command itself has ended: a daemon may hold the pipe.
pub const DRAIN_MS: u64 = 200;

/// How long processes have between being asked to end and being made to.
pub const GRACE_MS: u64 = 2_000;
/// How long processes that were made to end are awaited before they count as leaked.
pub const KILL_WAIT_MS: u64 = 1_000;
/// How often it is looked whether processes are gone.
pub const POLL_MS: u64 = 20;
/// How long ending a command may take over all, after its time is up.
pub const ENDING_MS: u64 = 2 * (GRACE_MS + KILL_WAIT_MS);

/// Links followed to find out where a path leads, as many as the kernel follows.
pub const MAX_LINKS: usize = 40;
/// Bytes of a path, as the kernel takes them.
pub const MAX_PATH_BYTES: usize = 4_096;
/// Bytes of a file that only says where another one is.
pub const MAX_POINTER_BYTES: u64 = 8_192;
/// Bytes read of one file of git's configuration.
pub const MAX_GIT_CONFIG_BYTES: u64 = 256 * 1024;
/// Files of git's configuration that are read.
pub const MAX_GIT_CONFIG_FILES: usize = 32;
/// Bytes of one page of a file: a page is to be shown whole, so that the next one begins where it
/// ends.
pub const MAX_PAGE_BYTES: usize = SPILL_BYTES;
/// Lines of one page of a file, unless the call says otherwise.
pub const PAGE_LINES: u64 = 2_000;
/// Bytes shown of one line.
pub const MAX_LINE_BYTES: usize = 4 * 1024;
/// Bytes looked through to find a page; a file in which it lies deeper is not read by lines.
pub const MAX_SCAN_BYTES: u64 = 256 * 1024 * 1024;
/// Bytes at the beginning of a file in which a NUL makes it binary.
pub const PROBE_BYTES: usize = 8 * 1024;

/// Bytes of a note that tools keep for a conversation.
pub const MAX_NOTE_BYTES: u64 = 1024 * 1024;
/// Files remembered as read, for each of 256 parts of a conversation's notes; the oldest go.
pub const MAX_SEEN: usize = 64;
/// Bytes of a file that is remembered as read and can be edited.
pub const MAX_EDIT_BYTES: u64 = 16 * 1024 * 1024;
/// Lines shown around an edit.
pub const EDIT_CONTEXT_LINES: usize = 3;
/// Lines shown of an edit at most.
pub const EDIT_SHOWN_LINES: usize = 40;
/// Lines that stand around a change in a patch.
pub const PATCH_CONTEXT_LINES: usize = 3;
/// Bytes of a patch that is recorded with a change.
pub const MAX_PATCH_BYTES: usize = 32 * 1024;
/// How long the shortest way from one text to the other is looked for; after that any way counts.
pub const PATCH_MS: u64 = 200;
/// Bytes of a picture, as model providers take them once they are spelled in letters.
pub const MAX_IMAGE_BYTES: u64 = 3 * 1024 * 1024 + 512 * 1024;
/// Bytes of a PDF file that is read.
pub const MAX_PDF_BYTES: u64 = 32 * 1024 * 1024;
/// Bytes to which any part of a PDF file may unpack.
pub const MAX_UNPACKED_BYTES: usize = 16 * 1024 * 1024;
/// Pages of a PDF file in one call.
pub const MAX_PDF_PAGES: u32 = 20;
/// Bytes of a notebook.
pub const MAX_NOTEBOOK_BYTES: u64 = 16 * 1024 * 1024;
/// Bytes shown of one output of a notebook's cell.
pub const MAX_CELL_OUTPUT_BYTES: usize = 16 * 1024;

/// How long a search may take before it says what it has.
pub const SEARCH_MS: u64 = 60_000;
/// Files and folders a search passes by.
pub const MAX_WALKED: usize = 1_000_000;
/// Files a search by name keeps to find the newest among.
pub const MAX_NAMES: usize = 20_000;
/// Files named by one search by name.
pub const GLOB_FILES: usize = 100;
/// Lines or files that a search in contents brings, unless the call says otherwise.
pub const GREP_LINES: usize = 250;
/// Bytes that a search brings at most.
pub const MAX_FOUND_BYTES: usize = 128 * 1024;
/// Bytes shown of a line that was found.
pub const MAX_FOUND_LINE_BYTES: usize = 1_000;
/// Bytes of a pattern.
pub const MAX_PATTERN_BYTES: usize = 10_000;
/// Bytes that a compiled pattern may take.
pub const MAX_MATCHER_BYTES: usize = 10 * 1024 * 1024;
/// Bytes held of one file while it is searched.
pub const MAX_SEARCH_HEAP_BYTES: usize = 16 * 1024 * 1024;
/// Lines of context around a line that was found.
pub const MAX_CONTEXT_LINES: u64 = 100;

/// Names shown of a folder that somebody attached to a prompt.
pub const MAX_LISTED: usize = 200;

/// Tasks in a list.
pub const MAX_TODOS: usize = 100;
/// Characters of a task.
pub const MAX_TODO_CHARS: usize = 500;
/// Questions in one call to a person.
pub const MAX_QUESTIONS: usize = 4;
/// Choices offered with one question.
pub const MAX_CHOICES: usize = 8;
/// Characters of a call's one-line summary.
pub const SUMMARY_CHARS: usize = 200;

/// Bytes read of one memory file.
pub const MAX_MEMORY_BYTES: u64 = 64 * 1024;
/// Folders of one call in which memory files are looked for.
pub const MAX_MEMORY_FOLDERS: usize = 64;
/// Memory files this process remembers to have told; more are asked of the store.
pub const MAX_MEMORY_FILES: usize = 10_000;
/// How long a call waits until its conversation has read a memory file that it found.
pub const MEMORY_READ_MS: u64 = 1_000;
