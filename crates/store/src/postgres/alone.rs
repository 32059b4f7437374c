//! One append in a transaction of its own: for mail to other lanes, and to learn why one was refused.

use windlass_core::project::Row;
use windlass_runtime::ports::StoreError;

use super::batch::{self, Guard, Landed};
use super::link::Link;
use super::mail;
use super::prepare::Prepared;
use super::trouble::Trouble;
use crate::valid::refusal;

pub(super) async fn write(link: &mut Link, appends: &[&Prepared]) -> Result<Landed, Trouble> {
    let mut all = Landed::default();
    for (ord, prepared) in (0..).zip(appends) {
        if !one(link, prepared).await?.passed.is_empty() {
            all.passed.insert(ord);
        }
    }
    Ok(all)
}

async fn one(link: &mut Link, prepared: &Prepared) -> Result<Landed, Trouble> {
    link.batch("BEGIN").await?;
    match inside(link, prepared).await {
        Ok(landed) => link.batch("COMMIT").await.map(|()| landed),
        // A connection that is gone takes its transaction with it.
        Err(lost @ Trouble::Lost(_)) => Err(lost),
        Err(trouble) => link.batch("ROLLBACK").await.and(Err(trouble)),
    }
}

async fn inside(link: &mut Link, prepared: &Prepared) -> Result<Landed, Trouble> {
    let append = &prepared.append;
    let landed = match batch::write(link, Guard::Outside, &[prepared]).await {
        Err(trouble) if trouble.is_conflict_on("run_active") => {
            return Err(Trouble::Refused(refusal::second_active_run(&append.lane)));
        }
        other => other?,
    };
    if landed.passed.is_empty() {
        return Ok(landed);
    }
    if landed.marks != append.mail_read.len().cast_signed() as i64 {
        return Err(Trouble::Refused(not_waiting(link, prepared).await?));
    }
    if landed.runs != prepared.runs() {
        return Err(Trouble::Refused(foreign_run(prepared)));
    }
    for (to, letter) in &prepared.letters {
        mail::deliver(link, to, letter, Some(&append.lane)).await?;
    }
    Ok(landed)
}

/// Looked at once more from outside, because in here the others are marked already.
async fn not_waiting(link: &mut Link, prepared: &Prepared) -> Result<StoreError, Trouble> {
    let append = &prepared.append;
    link.batch("ROLLBACK; BEGIN").await?;
    let mail = mail::first_not_waiting(link, &append.lane, &append.mail_read).await?;
    Ok(refusal::mail_not_waiting(&append.lane, mail.unwrap_or_default()))
}

fn foreign_run(prepared: &Prepared) -> StoreError {
    let mut runs = prepared.append.rows.iter().rev().filter_map(|row| match row {
        Row::Run(run) => Some(&run.run),
        Row::Trace(_) | Row::ToolResult(_) | Row::Checkpoint(_) | Row::Event(_) | Row::Raw(_) => {
            None
        }
    });
    let run = runs.next().cloned().unwrap_or_else(|| "".into());
    refusal::foreign_run(&prepared.append.lane, &run)
}
