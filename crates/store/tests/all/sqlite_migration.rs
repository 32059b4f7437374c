//! A file that an older version made is brought to the newest schema, and nothing in it is lost.

use rusqlite::Connection;
use windlass_core::log::ids::{RunId, UnixMillis};
use windlass_core::stop::RunState;
use windlass_runtime::ports::{RetentionCutoffs, Store};

use crate::kit::running_job::RunningJob;
use crate::kit::{file, folder, lane, open};

/// The schema of version 102, which is never changed.
const SCHEMA_102: [&str; 2] = [
    include_str!("../../src/sqlite/schema/101_tables.sql"),
    include_str!("../../src/sqlite/schema/102_documents.sql"),
];

/// A lane in the middle of a run, with raw responses in a table of their own.
const ROWS_102: &str = "
    INSERT INTO lane (no, id, epoch, owner, head, active_run) VALUES (7, 'a', 3, NULL, 4, 'RUN');
    INSERT INTO run (no, run_id, lane_no, state, active, tool_rounds, model_calls, tool_calls,
        input_tokens, output_tokens, cache_read, cache_write, at, usd_micros)
        VALUES (5, 'RUN', 7, 'running', 1, 1, 1, 1, 0, 0, 0, 0, 3, 20);
    INSERT INTO entry (lane_no, seq, epoch, at, body, run_no)
        VALUES (7, 1, 3, 1, '{\"1\":1}', NULL), (7, 2, 3, 2, '{\"2\":2}', 5),
               (7, 3, 3, 3, '{\"3\":3}', NULL), (7, 4, 3, 4, '{\"4\":4}', NULL);
    INSERT INTO raw_response (lane_no, seq, run_id, at, body, response)
        VALUES (7, 2, 'RUN', 2, '{\"id\":2}', 'two'), (7, 4, 'RUN', 4, '{\"id\":4}', NULL);
    INSERT INTO agent_loop_trace (job_id, iter, tool_calls) VALUES ('RUN', 1, '[]');";

#[tokio::test]
async fn a_file_of_version_102_continues() {
    let folder = folder();
    let mut job = RunningJob::new("a", 4, 4);
    {
        let raw = Connection::open(file(&folder)).unwrap();
        raw.pragma_update(None, "journal_mode", "WAL").unwrap();
        SCHEMA_102.iter().for_each(|step| raw.execute_batch(step).unwrap());
        raw.execute_batch(&ROWS_102.replace("RUN", job.run.as_str())).unwrap();
        raw.pragma_update(None, "application_id", 0x574e_444c).unwrap();
        raw.pragma_update(None, "user_version", 102).unwrap();
    }
    let store = open(&folder);
    assert_eq!(store.read_log(lane("a"), 0, 9).await.unwrap().len(), 4);
    let responses = store.read_raw_responses(lane("a"), 0, 9).await.unwrap();
    let found: Vec<_> = responses
        .iter()
        .map(|row| (row.seq, row.run.as_ref(), row.body.text(), row.response.as_deref()))
        .collect();
    let run = Some(&job.run);
    assert_eq!(found, [(2, run, "{\"id\":2}", Some("two")), (4, run, "{\"id\":4}", None)]);
    let shown = store.list_runs(None, 9).await.unwrap().remove(0);
    assert_eq!((shown.state, shown.at.0, shown.usd_micros), (RunState::Running, 3, Some(20)));
    let claim = store.claim_lane(lane("a"), "w".into(), None).await.unwrap();
    assert_eq!((claim.epoch, claim.head), (4, 4));
    for _ in 0..3 {
        store.append(job.turn()).await.unwrap();
    }
    store.append(job.end()).await.unwrap();
    let ends = store.list_trace_ends(UnixMillis(0), 9).await.unwrap();
    assert_eq!((ends[0].run.clone(), ends[0].iterations), (RunId::clone(&job.run), 4));
    let old = RetentionCutoffs { raw_before: UnixMillis(4), trace_before: UnixMillis(0), limit: 9 };
    assert_eq!(store.forget_old_rows(old).await.unwrap().raw, 1);
    let left = store.read_raw_responses(lane("a"), 0, 9).await.unwrap();
    assert_eq!(left.iter().map(|row| row.seq).collect::<Vec<_>>(), [4, 5, 7, 9]);
    store.check().await.unwrap();
}
