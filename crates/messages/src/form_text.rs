//! What is wrong with the values of a form, in words.

use windlass_core::call::input_form::{FormProblem, FormProblemKind};

/// Returns what is wrong with the values of a form: a clause that says what to do.
#[must_use]
pub fn form_problem(problem: &FormProblem) -> String {
    let field = problem.field.escape_debug();
    match problem.kind {
        FormProblemKind::Missing => {
            format!("`{field}` is missing; answer with text \"{field}=…\"")
        }
        FormProblemKind::UnknownField => {
            format!("the form has no field `{field}`; give `name=value`, separated by `;`")
        }
        FormProblemKind::NotANumber => format!("`{field}` must be a number"),
        FormProblemKind::NotAnInteger => format!("`{field}` must be a whole number"),
        FormProblemKind::NotYesOrNo => format!("`{field}` must be yes or no"),
        FormProblemKind::NotAChoice => format!("`{field}` must be one of the values of the form"),
        FormProblemKind::TooSmall => format!("`{field}` is below what the form allows"),
        FormProblemKind::TooLarge => format!("`{field}` is above what the form allows"),
    }
}
