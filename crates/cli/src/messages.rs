//! Every sentence that people read. Code that decides has none: core, runtime and stores return codes
//! and data. One file per kind of thing that is presented.

pub(crate) mod action;
mod agents;
mod answer_choices;
mod call;
mod call_text;
mod core_codes;
#[cfg(feature = "acp")]
mod editor;
mod error;
pub(crate) mod local_command;
pub(crate) mod lookup;
mod manual;
mod mcp;
mod model;
mod model_question;
mod model_text;
mod names;
mod plugin;
mod question;
mod record;
pub(crate) mod report;
pub(crate) mod rewind;
pub(crate) mod sandbox;
pub(crate) mod scripted;
#[cfg(feature = "server")]
mod server;
mod shell_word;
mod state;
mod status;
mod stop;
mod task_list;
#[cfg(feature = "server")]
mod tokens;
mod tool_request;
mod trust;

pub(crate) use agents::{
    AGENTS_ARE_TEXT, NO_AGENTS, WORKTREES_NEED_TRUST, agent_error, agent_line, agent_lines,
    background_agents_left, hidden_agent_line, waiting_for_background_agents,
};
pub(crate) use answer_choices::{
    choice_help, choice_line, invalid_choice, page_footer, question_for_terminal,
    question_with_answers,
};
pub(crate) use call::call_summary;
pub(crate) use call_text::{
    blocks_text, call_line, call_text, call_without_result, error_message, first_line,
    format_tool_use, result_text, running_calls, sub_agent_finished,
};
pub(crate) use core_codes::{abandon_cause, accepted_answers, answer_words, command_rejection};
#[cfg(feature = "acp")]
pub(crate) use editor::{CANCEL_IN_EDITOR, CLEAR_IN_EDITOR, mcp_servers_not_connected};
pub(crate) use error::{
    NO_MATCHING_RUNS, NO_RUNS, command_after_options, not_behind, not_detached, similar_command,
    store_missing, unknown_agent, unknown_agent_model, unknown_command, unknown_store_scheme,
};
pub(crate) use manual::{manual_sections, see_also_section};
pub(crate) use mcp::{
    NO_MCP_SERVERS, mcp_approvals_reset, mcp_logged_in, mcp_logged_out, mcp_login_failed,
    mcp_login_without_url, mcp_open_in_browser, mcp_server_added, mcp_server_details,
    mcp_server_failed, mcp_server_in_several, mcp_server_line, mcp_server_pending,
    mcp_server_removed, mcp_server_unknown, mcp_server_untrusted, mcp_tools_withheld,
};
pub(crate) use model::{
    NO_MODEL_CHOSEN, NO_TOKEN_COUNTER, blank_stop_sequence, control_without_effect,
    end_marker_instruction, invalid_escape, invalid_output_limit,
};
pub(crate) use model_question::{
    ModelQuestion, join_answers, parse_model_questions, resolve_answer_text,
};
pub(crate) use model_text::{
    INIT_PROMPT, agent_system_prompt, attached_file, attached_folder, attached_resource,
    memory_context, mentioned_agent, styled_system_prompt, system_prompt,
};
pub(crate) use names::{record_tag, recovery_step_name, stored_name, within};
pub(crate) use plugin::{
    INSTALL_PLUGIN, NO_PLUGINS, plugin_grants, plugin_installed, plugin_line,
    plugin_needs_approval, plugin_removed, plugin_switched,
};
pub(crate) use question::{
    QuestionView, answer_consequence, answer_phrase, answer_source, command_folder, how_to_answer,
    permission_update, question_details, question_text, question_with_details,
};
pub(crate) use record::{
    MessageContext, MessageStyle, RecordMessage, RecordSource, RetryNote, SectionTopic,
    record_message,
};
#[cfg(feature = "server")]
pub(crate) use server::{
    NO_SERVER_KNOWN, no_server_responds, not_a_host, not_an_address, open_this_page,
    serve_without_tls, serve_without_token, server_started,
};
pub(crate) use shell_word::{option_word, shell_word};
pub(crate) use state::{
    ABOUT_TO_BE_DRIVEN, DECIDING, DRIVEN, WAITING_IN_QUEUE, calls_running, model_call_running,
    open_question, phase_phrase, review_running, state_phrase, stop_requested, waiting_for_retry,
};
#[cfg(feature = "otel")]
pub(crate) use status::no_traces_sent;
pub(crate) use status::{
    ABORTING, ANSWERS_NEEDED_HINT, AnswerDeadline, CANCELLING, INTERRUPTED_RUNS_HINT, NOT_A_CHOICE,
    PROMPT_QUEUED, QUEUED_BEHIND_QUESTION, RUNNING_QUEUED_PROMPT, RUNS_WILL_BE_TAKEN,
    STDIN_TIMED_OUT, TEXT_DISCARDED, WELCOME, WORKER_STOPPING, answer_deadline,
    answer_output_failed, hook_message, made_private, model_unreachable, not_attached,
    nothing_remembered, output_error, output_failed, protocol_version, redact_password,
    store_status, unknown_flag_ignored, untrusted_command_fields, warning, worker_started,
};
pub(crate) use stop::{
    also_stopped_because, continue_command, final_message, handoff_lines, next_step, not_finished,
    stop_line, stopped, stopped_because, suspect_answer,
};
pub(crate) use task_list::task_lines;
#[cfg(feature = "server")]
pub(crate) use tokens::{
    NO_TOKENS, no_such_token, not_a_tenant, tenant_limited, token_created, token_line,
    token_revoked,
};
pub(crate) use trust::{
    TRUST_CHOICES, TRUST_CHOICES_HELP, folder_name, folder_untrusted, grant_lines,
    too_much_to_trust, trust_question,
};
pub(crate) use windlass::messages::{form_problem, stop_reason};
