//! The task list of `TodoWriteTool`, for people.

use serde::Deserialize;
use windlass::core::message::raw_json::RawJson;
use windlass::tools::{TodoItem, TodoStatus};

use crate::terminal::escape_invisible;
use crate::terminal::number_format::count_noun;

#[derive(Deserialize)]
struct TaskList {
    todos: Vec<TodoItem>,
}

fn parse_tasks(input: &RawJson) -> Option<Vec<TodoItem>> {
    input.read::<TaskList>().ok().map(|list| list.todos)
}

/// The progress of the list.
pub(crate) fn task_summary(input: &RawJson) -> Option<String> {
    let tasks = parse_tasks(input)?;
    let done = tasks.iter().filter(|task| task.status == TodoStatus::Completed).count();
    Some(format!("{done} of {} done", count_noun(tasks.len() as u64, "task")))
}

/// The lines of the list: done, in progress, and pending tasks.
pub(crate) fn task_lines(input: &RawJson) -> Vec<String> {
    let line = |task: &TodoItem| {
        let mark = match task.status {
            TodoStatus::Completed => '☒',
            TodoStatus::InProgress => '▸',
            TodoStatus::Pending => '☐',
        };
        let active = task.active_form.as_deref().filter(|_| task.status == TodoStatus::InProgress);
        let text = escape_invisible(active.unwrap_or(&task.content).trim()).replace('\n', " ");
        format!("    {mark} {text}")
    };
    parse_tasks(input).unwrap_or_default().iter().map(line).collect()
}
