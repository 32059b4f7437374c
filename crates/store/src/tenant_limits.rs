//! Limits of tenants as columns, alike in both databases.

use windlass_runtime::ports::{StoreError, TenantLimits};

use crate::column_values;

/// The limits as columns: queued prompts, active runs, micro-dollars of a day.
pub(crate) fn limit_columns(limits: &TenantLimits) -> [Option<i64>; 3] {
    [limits.queued_prompts, limits.active_runs, limits.usd_micros_per_day]
        .map(|limit| limit.map(column_values::saturating_column))
}

/// The limits in columns, in the order of [`limit_columns`].
pub(crate) fn parse_limits(columns: [Option<i64>; 3]) -> TenantLimits {
    let [queued_prompts, active_runs, usd_micros_per_day] =
        columns.map(|limit| limit.map(i64::cast_unsigned));
    TenantLimits { queued_prompts, active_runs, usd_micros_per_day }
}

/// The error for a prompt over the limit of waiting ones.
pub(crate) fn queue_limit_error(limit: u64) -> StoreError {
    let message = format!(
        "the tenant has {limit} prompts that wait already, which is its limit; send this one again \
         when some have been taken"
    );
    StoreError::LimitReached { message }
}
