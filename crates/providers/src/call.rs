//! One model call over HTTP: plan, options, attempt, limits and notices.

pub(crate) mod call_attempt;
pub(crate) mod call_notice;
pub(crate) mod call_options;
pub(crate) mod call_timer;
pub(crate) mod conversation_state;
pub(crate) mod endpoint;
pub(crate) mod learned_limits;
#[cfg(test)]
mod learned_limits_tests;
pub(crate) mod rate_limiter;
pub(crate) mod raw_response;
pub(crate) mod remote_model;
pub(crate) mod request_plan;
pub(crate) mod thinking_plan;
