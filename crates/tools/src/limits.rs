//! The limits of the tools, as named constants.

/// Default timeout of a call.
pub const DEFAULT_TIMEOUT_MS: u64 = 120_000;
/// Maximum timeout of a command.
pub const MAX_TIMEOUT_MS: u64 = 600_000;

/// Maximum timeout of a command tool.
pub const MAX_COMMAND_TOOL_TIMEOUT_MS: u64 = 6 * 60 * 60 * 1_000;
/// Default number of characters of a command tool's output that the model sees.
pub const MAX_PROGRAM_OUTPUT_CHARS: u64 = 200_000;

/// Maximum length of a command, in bytes. The kernel accepts no single argument above 128 KiB.
pub const MAX_COMMAND_BYTES: usize = 100 * 1024;
/// Maximum number of parser steps for one command.
pub const MAX_PARSE_STEPS: usize = 10_000;
/// Maximum nesting depth of a command.
pub const MAX_NESTING: usize = 200;
/// Maximum depth of shells within shells: `sh -c 'sh -c …'`.
pub const MAX_SHELL_DEPTH: usize = 4;
/// Maximum number of wrapper programs before a command: `nice nohup timeout 5 …`.
pub const MAX_WRAPPERS: usize = 10;
/// Maximum number of simple commands in one command.
pub const MAX_COMMANDS: usize = 500;
/// Maximum number of words of a text that are checked: each of them may name a file.
pub const MAX_WORDS: usize = 5_000;
/// Maximum number of shell operators in one command.
pub const MAX_OPERATORS: usize = 3_000;
/// Maximum number of here-documents in one command.
pub const MAX_HERE_DOCUMENTS: usize = 32;
/// Maximum number of words that are checked of a command behind a wrapper that cannot be analysed.
pub const MAX_GUESSED_WORDS: usize = 64;
/// Maximum number of paths that one command may name.
pub const MAX_PATHS: usize = 2_000;
/// Maximum number of folders in which a shell may be after some `cd`.
pub const MAX_FOLDERS: usize = 8;
/// Maximum number of directory entries that are read to expand a pattern, or to check a folder.
pub const MAX_PATTERN_ENTRIES: usize = 10_000;
/// Maximum number of directory entries that are read for all patterns of a command together.
pub const MAX_PATTERN_ENTRIES_IN_ALL: usize = 50_000;
/// Maximum number of parts of a command's words that are checked as file names.
pub const MAX_NAME_PIECES: usize = 2_000;
/// Maximum number of notes about unsupported parts of one command; more would say nothing new.
pub const MAX_UNSUPPORTED_NOTES: usize = 8;
/// Bytes kept from the beginning of a command's output.
pub const HEAD_BYTES: usize = 128 * 1024;
/// Bytes kept from the end of a command's output.
pub const TAIL_BYTES: usize = 128 * 1024;
/// Maximum number of characters of output shown with a command that failed.
pub const MAX_FAILED_OUTPUT_CHARS: u64 = 30_000;
/// Bytes of output above which all of it is kept in a file: more than a model is shown.
pub const OUTPUT_FILE_THRESHOLD_BYTES: usize = 24 * 1024;
/// Maximum number of bytes of output kept in a file: as many as can be paged through.
pub const MAX_OUTPUT_BYTES: u64 = MAX_SCAN_BYTES;
/// Maximum number of output files of one conversation; the oldest are evicted.
pub const MAX_OUTPUT_FILES: usize = 50;
/// Maximum number of bytes in all output files of one conversation; the oldest are evicted.
pub const MAX_OUTPUT_TOTAL_BYTES: u64 = 2 * MAX_OUTPUT_BYTES;
/// Maximum number of background commands of one conversation.
pub const MAX_BACKGROUND_COMMANDS: usize = 16;

/// Ended background commands of a conversation whose output can still be read.
pub const MAX_ENDED_COMMANDS: usize = 64;
/// Default timeout of a background command.
pub const DEFAULT_BACKGROUND_TIMEOUT_MS: u64 = 6 * 60 * 60 * 1_000;
/// Maximum number of bytes of a background command's output shown at once.
pub const MAX_POLLED_BYTES: u64 = 24 * 1024;
/// Maximum number of processes of one user, where the kernel counts them.
pub const MAX_PROCESSES: u64 = 16_384;
/// Maximum number of open files of a process, unless it raises the limit.
pub const MAX_OPEN_FILES: u64 = 4_096;
/// How long output is awaited after the command itself has ended: a daemon may hold the pipe.
pub const OUTPUT_DRAIN_MS: u64 = 200;

/// How long processes have between SIGTERM and SIGKILL.
pub const TERMINATION_GRACE_MS: u64 = 2_000;
/// How long killed processes are awaited before they count as leaked.
pub const KILL_WAIT_MS: u64 = 1_000;
/// How often it is checked whether processes have ended.
pub const PROCESS_POLL_MS: u64 = 20;
/// How long ending a command may take overall, after its timeout.
pub const MAX_TERMINATION_MS: u64 = 2 * (TERMINATION_GRACE_MS + KILL_WAIT_MS);

/// Maximum number of links followed to resolve a path, as in the kernel.
pub const MAX_LINKS: usize = 40;
/// Maximum length of a path in bytes, as in the kernel.
pub const MAX_PATH_BYTES: usize = 4_096;
/// Maximum size of a file that contains the path of another one.
pub const MAX_POINTER_BYTES: u64 = 8_192;
/// Maximum number of bytes read of one file of git's configuration.
pub const MAX_GIT_CONFIG_BYTES: u64 = 256 * 1024;
/// Maximum number of files read of git's configuration.
pub const MAX_GIT_CONFIG_FILES: usize = 32;
/// Maximum number of bytes of one page of a file: a page is shown whole, so that the next one
/// begins where it ends.
pub const MAX_PAGE_BYTES: usize = OUTPUT_FILE_THRESHOLD_BYTES;
/// Default number of lines of one page of a file.
pub const DEFAULT_PAGE_LINES: u64 = 2_000;
/// Maximum number of bytes shown of one line.
pub const MAX_LINE_BYTES: usize = 4 * 1024;
/// Maximum number of bytes scanned to find a page; a page deeper in the file is not read.
pub const MAX_SCAN_BYTES: u64 = 256 * 1024 * 1024;
/// Bytes at the beginning of a file in which a NUL makes it binary.
pub const BINARY_PROBE_BYTES: usize = 8 * 1024;

/// Maximum size of a note in the tool state.
pub const MAX_NOTE_BYTES: u64 = 1024 * 1024;
/// Maximum number of files recorded as read, for each of 256 buckets of a conversation; the oldest
/// are evicted.
pub const MAX_READ_FILES_PER_BUCKET: usize = 64;
/// Maximum size of a file that is recorded as read and can be edited.
pub const MAX_EDIT_BYTES: u64 = 16 * 1024 * 1024;
/// Maximum number of contents that the file history of a conversation keeps; the oldest are evicted.
pub const MAX_HISTORY_BLOBS: usize = 2_000;
/// Maximum bytes of these contents.
pub const MAX_HISTORY_BYTES: u64 = 512 * 1024 * 1024;
/// Maximum size of the journal of changes of a conversation. Later changes are not noted.
pub const MAX_JOURNAL_BYTES: u64 = 32 * 1024 * 1024;
/// Lines of context shown around an edit.
pub const EDIT_CONTEXT_LINES: usize = 3;
/// Maximum number of lines shown of an edit.
pub const MAX_EDIT_SHOWN_LINES: usize = 40;
/// Lines of context around a change in a patch.
pub const PATCH_CONTEXT_LINES: usize = 3;
/// Maximum size of a patch that is recorded with a change.
pub const MAX_PATCH_BYTES: usize = 32 * 1024;
/// How long the shortest diff is searched for; after that any diff will do.
pub const DIFF_TIMEOUT_MS: u64 = 200;
/// Maximum size of an image, as model providers accept it in base64.
pub const MAX_IMAGE_BYTES: u64 = 3 * 1024 * 1024 + 512 * 1024;
/// Maximum size of a PDF file.
pub const MAX_PDF_BYTES: u64 = 32 * 1024 * 1024;
/// Maximum decompressed size of any part of a PDF file.
pub const MAX_DECOMPRESSED_BYTES: usize = 16 * 1024 * 1024;
/// Maximum number of pages of a PDF file in one call.
pub const MAX_PDF_PAGES: u32 = 20;
/// Maximum size of a notebook.
pub const MAX_NOTEBOOK_BYTES: u64 = 16 * 1024 * 1024;
/// Maximum number of bytes shown of one output of a notebook's cell.
pub const MAX_CELL_OUTPUT_BYTES: usize = 16 * 1024;

/// How long a search may take before it returns what it has found.
pub const SEARCH_TIMEOUT_MS: u64 = 60_000;
/// Maximum number of files and folders that a search visits.
pub const MAX_WALKED_ENTRIES: usize = 1_000_000;
/// Maximum number of files among which a search by name finds the newest.
pub const MAX_SEARCH_CANDIDATES: usize = 20_000;
/// Maximum number of files returned by one search by name.
pub const MAX_GLOB_RESULTS: usize = 100;
/// Default number of lines or files that a content search returns.
pub const DEFAULT_GREP_LINES: usize = 250;
/// Maximum number of bytes that a search returns.
pub const MAX_SEARCH_RESULT_BYTES: usize = 128 * 1024;
/// Maximum number of bytes shown of a matching line.
pub const MAX_RESULT_LINE_BYTES: usize = 1_000;
/// Maximum length of a pattern in bytes.
pub const MAX_PATTERN_BYTES: usize = 10_000;
/// Maximum size of a compiled pattern in bytes.
pub const MAX_MATCHER_BYTES: usize = 10 * 1024 * 1024;
/// Maximum number of bytes held of one file while it is searched.
pub const MAX_SEARCH_HEAP_BYTES: usize = 16 * 1024 * 1024;
/// Maximum number of lines of context around a matching line.
pub const MAX_CONTEXT_LINES: u64 = 100;

/// Maximum number of names shown of an attached folder.
pub const MAX_LISTED_NAMES: usize = 200;

/// Maximum number of tasks in a list.
pub const MAX_TODOS: usize = 100;
/// Maximum number of characters of a task.
pub const MAX_TODO_CHARS: usize = 500;
/// Maximum number of questions in one call.
pub const MAX_QUESTIONS: usize = 4;
/// Maximum number of options of one question.
pub const MAX_CHOICES: usize = 8;
/// Maximum number of characters of a call's one-line summary.
pub const MAX_SUMMARY_CHARS: usize = 200;

/// Maximum number of bytes read of one memory file.
pub const MAX_MEMORY_BYTES: u64 = 64 * 1024;
/// Maximum number of folders of one call in which memory files are looked for.
pub const MAX_MEMORY_FOLDERS: usize = 64;
/// Maximum number of problems with memory files that this process remembers having reported.
pub const MAX_REPORTED_PROBLEMS: usize = 10_000;
