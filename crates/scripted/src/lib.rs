//! The scripted model: an offline model that answers from a text file.
//!
//! [`Script`] is the language, [`ScriptedModel`] plays it over the model port, and [`server`]
//! over HTTP in the wire formats of Anthropic and OpenAI. Nothing here reads a file or the clock
//! by itself; the same script and the same conversation always give the same answer.
//!
//! # The language
//!
//! A script is a list of rules. A rule is a `when` line with conditions, and below it the lines of
//! the answer. **The first rule whose conditions all hold answers**; a rule with `once` or `times`
//! steps aside when it is used up. If no rule fits, the model says so in a plain text.
//!
//! One statement to a line, `#` starts a comment, indentation is yours to choose.
//!
//! ```
//! use windlass_scripted::{AnswerStep, RequestView, RuleUses, Script, ToolResultView};
//!
//! let script = Script::parse(r#"
//! ## fix.script: look, repair, report.
//!
//! when user contains "hello" and results 0
//!   say "Hi there."
//!
//! when user matches "fix *" and results 0      # a prompt, not results coming back
//!   think "I should look first."
//!   call Read {"file_path": "a.txt"}
//!   call Bash {"command": "ls # all of it"}
//!
//! when error of Bash
//!   say "The shell said: ${result}"
//!
//! when result of Read contains "42" and tools include Write
//!   say """
//!     Found it.
//!     Writing it down.
//!     """
//!   call Write as toolu_note {
//!     "file_path": "note.txt",
//!     "content": "you asked: ${user}"
//!   }
//!   usage in 120 out 30
//!
//! when result of Write
//!   delay 200ms
//!   say "Done."
//!
//! when user is "break" and ask 3+
//!   once                                       # then the rules below get their turn
//!   fail 529 retry-after 2
//!
//! when user is "break"
//!   pace 20ms
//!   say "This sentence never comes to its"
//!   cut inside
//! "#)?;
//!
//! let mut uses = RuleUses::default();
//! let prompt = RequestView { ask: 1, last_user_text: "fix a.txt", ..RequestView::default() };
//! let answer = script.answer(&mut uses, &prompt);
//! assert_eq!(answer.stop.reason, "tool_use");
//! assert_eq!(answer.steps.len(), 3);
//!
//! let results = [ToolResultView { tool: "Read", text: "it is 42", is_error: false }];
//! let back = RequestView { ask: 2, results: &results, tools: &["Read", "Write"], ..prompt };
//! let answer = script.answer(&mut uses, &back);
//! assert_eq!(answer.steps.first(), Some(&AnswerStep::Say("Found it.\nWriting it down.".to_owned())));
//! # Ok::<(), windlass_scripted::ScriptError>(())
//! ```
//!
//! ## Conditions
//!
//! Joined by `and`, each may be turned around with `not`.
//!
//! | condition | holds when |
//! |---|---|
//! | `any` | always |
//! | `user is "…"`, `user contains "…"`, `user matches "…"` | the latest text of the user is that, has it inside, or fits the pattern (`*` any characters, `?` one) |
//! | `results 2`, `results 1+` | that many tool results came back last; 0 means that a prompt did |
//! | `result`, `result of Read`, `result of Read contains "…"`, `result is "…"` | some tool result in the last message is like that |
//! | `error`, `error of Bash`, `error contains "…"` | the same, among the results that are errors |
//! | `ask 3`, `ask 3+` | it is the third request, or the third or a later one |
//! | `tools include Bash` | the tool is on offer |
//!
//! The user's text stays the same while tool results come back, so a rule that answers a prompt
//! with calls wants `and results 0`, or it answers its own results with the same calls again.
//!
//! ## Steps
//!
//! | step | what happens |
//! |---|---|
//! | `say "…"`, `think "…"` | a text or a thinking block |
//! | `call Read {…}`, `call Read as toolu_x {…}`, `call List` | a tool call; any JSON value, over several lines if you like; none means `{}`; the id is `toolu_<ask>_<n>` unless given |
//! | `raw {…}` | a content block verbatim, known or not |
//! | `delay 200ms` | a pause (`ms`, `s`, `m`) |
//! | `pace 20ms` | from here on, a pause between streamed pieces |
//! | `truncate call Write {"content": "abc` | a call that breaks off; the rest of the line is taken as it is, `#` too; only an ending may follow |
//!
//! An answer has at most one ending, after its steps. Without one it stops with `tool_use` after
//! calls, `max_tokens` after a truncated call, `end_turn` otherwise.
//!
//! | ending | what happens |
//! |---|---|
//! | `stop max_tokens`, `stop refusal`, `stop any_word` | the model stops for that reason |
//! | `stop stop_sequence "\nUser:"` | it stops at that sequence |
//! | `cut` | the connection drops here, without a stop |
//! | `cut inside` | the connection drops in the middle of the block directly above |
//! | `fail 429`, `fail 429 retry-after 2 "slow down"` | the request fails with that status; after a block, as an error inside the stream |
//! | `fail timeout`, `fail connect` | nothing more comes; the connection cannot be made. Both are told at once: a `delay` before them is the wait |
//!
//! Settings stand anywhere in the rule:
//!
//! | setting | meaning |
//! |---|---|
//! | `once`, `times 2` | how often the rule may answer; without it, always |
//! | `usage in 120 out 30 cache_read 5 cache_write 7` | the bill; what is left out is derived from the text, four characters to a token |
//!
//! ## Texts
//!
//! `"…"` with JSON escapes, or a block: `"""`, the lines of the text, and `"""` on a line of its
//! own. A block is taken as it is, less the indentation of its closing quotes. Odd tool names go in
//! quotes too: `call "my tool"`.
//!
//! In `say`, `think`, `call` and `truncate call`, `${user}` becomes the latest text of the user,
//! `${result}` the text of the first tool result, `${ask}` the number of the request; inside JSON
//! they are escaped. Write `$${` for a plain `${`, as in `{"command": "echo $${HOME}"}`.
//!
//! ## Scripts that survive a restart
//!
//! `once` and `times` count in the memory of one process ([`RuleUses`]). A conversation resumed in a
//! new process starts counting afresh, and a rule that was used up answers again. Scripts for
//! crash tests therefore choose by what the conversation itself holds: `user`, `result`,
//! `results` and `ask`.

mod answer_player;
mod conditions;
pub mod limits;
mod request_view;
mod rule_builder;
mod rule_matching;
mod script;
mod script_cursor;
mod script_error;
mod script_parser;
mod scripted_answer;
mod scripted_model;
pub mod server;
mod steps;
mod template;
mod text_block;
mod wildcard;

#[cfg(test)]
mod fixture_tests;
#[cfg(test)]
mod request_view_tests;
#[cfg(test)]
mod rule_matching_tests;
#[cfg(test)]
mod script_parser_tests;
#[cfg(test)]
mod scripted_model_tests;

pub use rule_matching::RuleUses;
pub use script::{Rule, Script};
pub use script_error::{ScriptError, ScriptProblem};
pub use scripted_answer::{
    AnswerStep, RequestView, ScriptedAnswer, ScriptedFault, ScriptedStop, ScriptedUsage,
    ToolResultView,
};
pub use scripted_model::ScriptedModel;
