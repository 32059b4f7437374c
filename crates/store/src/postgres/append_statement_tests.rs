//! The parts of the statement that are built from lists of columns.

use super::{SqlParameters, checkpoints_part, runs_part};

/// Returns the text with single blanks, without the table of parameters.
fn one_line(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match (text.find("unnest("), text.find(" JOIN fenced")) {
        (Some(from), Some(to)) => format!("{}GIVEN{}", &text[..from], &text[to..]),
        _ => text,
    }
}

#[test]
fn a_run_is_inserted_or_merged_into_its_earlier_row() {
    let expected = "runs AS ( INSERT INTO run (lane_no, run_id, state, active, cause, other_causes,
        text, tool_rounds, model_calls, tool_calls, input_tokens, output_tokens, cache_read,
        cache_write, at, usd_micros, prompt, folder, agent, profile, model, cancel_requested,
        resume_policy)
        SELECT f.no, r.run_id, r.state, r.active, r.cause, r.other_causes, r.text, r.tool_rounds,
        r.model_calls, r.tool_calls, r.input_tokens, r.output_tokens, r.cache_read, r.cache_write,
        r.at, r.usd_micros, r.prompt, r.folder, r.agent, r.profile, r.model, r.cancel_requested,
        r.resume_policy FROM GIVEN JOIN fenced f ON f.ord = r.ord ORDER BY r.pos
        ON CONFLICT (run_id) DO UPDATE SET resume_available = false, state = excluded.state,
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
        cancel_requested = run.cancel_requested OR excluded.cancel_requested,
        resume_policy = coalesce(excluded.resume_policy, run.resume_policy)
        WHERE run.lane_no = excluded.lane_no RETURNING run.no)";
    assert_eq!(one_line(&runs_part(&mut SqlParameters::default())), one_line(expected));
}

#[test]
fn a_checkpoint_replaces_the_earlier_one_of_its_entry() {
    let expected = "checkpoints AS ( INSERT INTO checkpoint (lane_no, seq, run_id, kind, iteration,
        message_cursor, persisted_messages, prompt_hash, completed_calls)
        SELECT f.no, c.seq, c.run_id, c.kind, c.iteration, c.message_cursor, c.persisted_messages,
        c.prompt_hash, c.completed_calls FROM GIVEN JOIN fenced f ON f.ord = c.ord
        ON CONFLICT (lane_no, seq) DO UPDATE SET run_id = excluded.run_id, kind = excluded.kind,
        iteration = excluded.iteration, message_cursor = excluded.message_cursor,
        persisted_messages = excluded.persisted_messages, prompt_hash = excluded.prompt_hash,
        completed_calls = excluded.completed_calls)";
    assert_eq!(one_line(&checkpoints_part(&mut SqlParameters::default())), one_line(expected));
}
