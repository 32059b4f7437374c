//! The rest of a folded state as stable text: what the judgement keeps.

use std::fmt::Write as _;

use windlass_core::conversation::Conversation;
use windlass_core::run::{InUse, Run};

/// Names and numbers spelled here, so that a new field of a type changes nothing of what was said.
pub(crate) fn judgement_digest(c: &Conversation) -> String {
    let mut out = String::from("judgement:\n");
    let spent = c.spent;
    let _ = writeln!(out, "spent: {} tokens {} micro-dollars", spent.tokens, spent.usd_micros);
    let tokens = c.meter.estimate(c.request_bytes());
    let _ = writeln!(out, "counted to: {}\nestimate: {tokens}", c.counted_to.0);
    let _ = writeln!(out, "counsels: {}\ndigest: {}", c.counsels, json(&c.digest));
    let journal = (c.journal.version(), c.journal_shown, c.journal.render());
    let rules: Vec<_> = c.grants.iter().map(|grant| &grant.rule).collect();
    let _ = writeln!(out, "journal: {}\ngrants: {}", json(&journal), json(&rules));
    let asked = c.compaction == windlass_core::conversation::Asked::Yes;
    let _ = writeln!(out, "parent: {}\nwants room: {asked}", json(&c.parent));
    let strays: Vec<String> =
        c.strays.iter().map(|stray| format!("{}-{}", stray.call, stray.part)).collect();
    let _ = writeln!(out, "strays: {}\nthinker: {}", strays.join(" "), json(&c.thinker));
    c.run.iter().for_each(|run| of_run(&mut out, run));
    for end in c.last_end.iter() {
        let spent = (end.spent.tokens, end.spent.usd_micros, end.active_ms);
        let _ =
            writeln!(out, "end: {} {} {}", json(&spent), json(&end.suspect), json(&end.structured));
    }
    out
}

fn of_run(out: &mut String, run: &Run) {
    let used = run.recoveries;
    let spent = (run.spent.tokens, run.spent.usd_micros, run.extensions, run.active_ms);
    let _ = writeln!(out, "run spent: {}\nprompts: {}", json(&spent), run.prompts);
    let ladder = (used.compactions, used.prunes, used.total, used.last_compaction, used.last_prune);
    let _ = writeln!(out, "ladder: {}\nlevel: {}", json(&ladder), json(&run.guard.level()));
    let counted = (run.counters.retries, run.counters.rejections, run.counters.output_retries);
    let _ = writeln!(out, "counted: {}\nstructured: {}", json(&counted), json(&run.structured));
    let up = run.time_up.map(|up| (up.limit, up.at.0));
    let fell_back = run.model == InUse::Fallback;
    let _ = writeln!(out, "time up: {}\nfell back: {fell_back}", json(&up));
    let down = run.down_since.map(|at| at.0);
    let memories = run.memories.len();
    let _ = writeln!(out, "down since: {}\nmemories: {memories}", json(&down));
}

fn json<T: serde::Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap()
}
