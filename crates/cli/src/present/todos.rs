//! The list of tasks that `TodoWrite` keeps, as people read it.

use serde::Deserialize;
use windlass::core::raw::Raw;
use windlass::tools::{Status, Todo};

use super::escape::visible;
use crate::look::numbers::counted;

#[derive(Deserialize)]
struct TaskList {
    todos: Vec<Todo>,
}

fn read(input: &Raw) -> Option<Vec<Todo>> {
    input.read::<TaskList>().ok().map(|list| list.todos)
}

/// How far the list is.
pub(super) fn task_summary(input: &Raw) -> Option<String> {
    let tasks = read(input)?;
    let done = tasks.iter().filter(|task| task.status == Status::Completed).count();
    Some(format!("{done} of {} done", counted(tasks.len() as u64, "task")))
}

/// The list: what is done, what is being done, what is to be done.
pub(crate) fn task_lines(input: &Raw) -> Vec<String> {
    let line = |task: &Todo| {
        let mark = match task.status {
            Status::Completed => '☒',
            Status::InProgress => '▸',
            Status::Pending => '☐',
        };
        let active = task.active_form.as_deref().filter(|_| task.status == Status::InProgress);
        let text = visible(active.unwrap_or(&task.content).trim()).replace('\n', " ");
        format!("    {mark} {text}")
    };
    read(input).unwrap_or_default().iter().map(line).collect()
}
