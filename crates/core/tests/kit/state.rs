//! The rest of a folded state as stable text: the state behind decisions.

use std::fmt::Write as _;

use windlass_core::permission::SessionPermissions;
use windlass_core::run::active_run::{ActiveModel, Run};
use windlass_core::run::conversation::Conversation;

/// Returns the digest. Names and numbers are spelled here, so that a new field of a type does not
/// change the digest of an old log.
pub(crate) fn judgement_digest(c: &Conversation) -> String {
    let mut out = String::from("judgement:\n");
    let spent = c.spent;
    let _ = writeln!(out, "spent: {} tokens {} micro-dollars", spent.tokens, spent.usd_micros);
    let tokens = c.meter.estimate(c.request_bytes());
    let _ = writeln!(out, "counted to: {}\nestimate: {tokens}", c.active_time_counted_to.0);
    let _ = writeln!(out, "counsels: {}\ndigest: {}", c.review_count, json(&c.journal_digest));
    let journal = (c.journal.version(), c.shown_journal_version, c.journal.render());
    let rules: Vec<_> = c.grants.iter().map(|grant| &grant.rule).collect();
    let _ = writeln!(out, "journal: {}\ngrants: {}", json(&journal), json(&rules));
    let asked =
        c.compaction_request == windlass_core::run::conversation::CompactionRequest::Requested;
    let _ = writeln!(out, "parent: {}\nwants room: {asked}", json(&c.parent));
    let strays: Vec<String> =
        c.orphans.iter().map(|stray| format!("{}-{}", stray.call, stray.part)).collect();
    let _ = writeln!(out, "strays: {}\nthinker: {}", strays.join(" "), json(&c.thinking_model));
    session_changes(&mut out, c);
    c.run.iter().for_each(|run| of_run(&mut out, run));
    for end in c.last_run_end.iter() {
        let spent = (end.spent.tokens, end.spent.usd_micros, end.active_ms);
        let _ = writeln!(
            out,
            "end: {} {} {}",
            json(&spent),
            json(&end.suspect_reason),
            json(&end.structured_output)
        );
        if let Some(deferred) = &end.deferred_tool_use {
            let _ = writeln!(out, "deferred: {}", deferred.id);
        }
    }
    out
}

/// What changed for the rest of the conversation; nothing if nothing did.
fn session_changes(out: &mut String, c: &Conversation) {
    let changed = &c.session_permissions;
    if *changed != SessionPermissions::default() {
        let mode = changed.mode.map(|over| (over.mode, over.replaced));
        let lists = json(&(&changed.deny, &changed.ask, &changed.folders));
        let _ = writeln!(out, "session permissions: {lists} {}", json(&mode));
    }
    if let Some(over) = &c.model_override {
        let _ = writeln!(out, "model: {} for {}", json(&over.change), over.replaced_model);
    }
}

fn of_run(out: &mut String, run: &Run) {
    let used = run.recoveries;
    let spent = (run.spent.tokens, run.spent.usd_micros, run.budget_extensions, run.active_ms);
    let _ = writeln!(out, "run spent: {}\nprompts: {}", json(&spent), run.user_message_count);
    let ladder = (used.compactions, used.prunes, used.total, used.last_compaction, used.last_prune);
    let _ = writeln!(out, "ladder: {}\nlevel: {}", json(&ladder), json(&run.loop_guard.level()));
    let counted = (run.counters.retries, run.counters.rejections, run.counters.output_retries);
    let _ =
        writeln!(out, "counted: {}\nstructured: {}", json(&counted), json(&run.structured_output));
    let up = run.reached_time_limit.map(|up| (up.limit, up.at.0));
    let fell_back = run.active_model != ActiveModel::Primary;
    let _ = writeln!(out, "time up: {}\nfell back: {fell_back}", json(&up));
    let down = run.provider_down_since.map(|at| at.0);
    let memories = run.memories.len();
    let _ = writeln!(out, "down since: {}\nmemories: {memories}", json(&down));
}

fn json<T: serde::Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap()
}
