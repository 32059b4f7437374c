//! The statements that are built from the list of columns.

use super::{CONTINUE_RUN, WRITE_RUN};

/// Returns the text with single blanks.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_run_that_continues_leaves_the_index_of_active_runs_alone() {
    let expected = "UPDATE run SET resume_available = 0, state = ?2, cause = ?4, other_causes = ?5,
        text = ?6, tool_rounds = ?7, model_calls = ?8, tool_calls = ?9, input_tokens = ?10,
        output_tokens = ?11, cache_read = ?12, cache_write = ?13, at = ?14, usd_micros = ?15,
        prompt = coalesce(?16, run.prompt), folder = coalesce(?17, run.folder),
        agent = coalesce(?18, run.agent), profile = coalesce(?19, run.profile),
        model = coalesce(?20, run.model), cancel_requested = max(run.cancel_requested, ?21),
        resume_policy = coalesce(?22, run.resume_policy)
        WHERE run_id = ?1 AND active = ?3 AND lane_no = ?23";
    assert_eq!(one_line(&CONTINUE_RUN), one_line(expected));
}

#[test]
fn a_run_is_inserted_or_merged_into_its_earlier_row() {
    let expected = "INSERT INTO run (run_id, state, active, cause, other_causes, text,
        tool_rounds, model_calls, tool_calls, input_tokens, output_tokens, cache_read, cache_write,
        at, usd_micros, prompt, folder, agent, profile, model, cancel_requested, resume_policy, lane_no)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,
        ?19, ?20, ?21, ?22, ?23)
        ON CONFLICT (run_id) DO UPDATE SET resume_available = 0, state = excluded.state,
        active = excluded.active, cause = excluded.cause, other_causes = excluded.other_causes,
        text = excluded.text, tool_rounds = excluded.tool_rounds,
        model_calls = excluded.model_calls, tool_calls = excluded.tool_calls,
        input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens,
        cache_read = excluded.cache_read, cache_write = excluded.cache_write, at = excluded.at,
        usd_micros = excluded.usd_micros, prompt = coalesce(excluded.prompt, run.prompt),
        folder = coalesce(excluded.folder, run.folder),
        agent = coalesce(excluded.agent, run.agent),
        profile = coalesce(excluded.profile, run.profile),
        model = coalesce(excluded.model, run.model),
        cancel_requested = max(run.cancel_requested, excluded.cancel_requested),
        resume_policy = coalesce(excluded.resume_policy, run.resume_policy)
        WHERE run.lane_no = excluded.lane_no";
    assert_eq!(one_line(&WRITE_RUN), one_line(expected));
}
