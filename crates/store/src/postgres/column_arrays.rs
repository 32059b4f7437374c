//! Rows as column arrays (`unnest`): a batch of any size is the same statement.

use tokio_postgres::types::Type;

use super::connection::SqlValue;

/// A type that a column may hold.
pub(super) trait ColumnType {
    /// The array's type, and its name in SQL.
    const ARRAY: (Type, &'static str);
}

impl ColumnType for i64 {
    const ARRAY: (Type, &'static str) = (Type::INT8_ARRAY, "bigint[]");
}

impl ColumnType for bool {
    const ARRAY: (Type, &'static str) = (Type::BOOL_ARRAY, "boolean[]");
}

impl ColumnType for std::borrow::Cow<'_, str> {
    const ARRAY: (Type, &'static str) = (Type::TEXT_ARRAY, "text[]");
}

impl ColumnType for &[u8] {
    const ARRAY: (Type, &'static str) = (Type::BYTEA_ARRAY, "bytea[]");
}

impl<T: ColumnType> ColumnType for Option<T> {
    const ARRAY: (Type, &'static str) = T::ARRAY;
}

/// A kind of row that is sent as one array per column.
pub(super) trait ColumnArrays {
    /// Returns the names and types of the columns, in order.
    fn column_types() -> Vec<(&'static str, (Type, &'static str))>;
    /// Returns the arrays, in the order of `column_types`.
    fn values(&self) -> Vec<SqlValue<'_>>;
}

/// Declares a kind of row: a struct with one `Vec` per column.
macro_rules! columns {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Default)]
        pub(super) struct $name<'r> {
            _rows: std::marker::PhantomData<&'r ()>,
            $(pub(super) $field: Vec<$type>),*
        }

        impl<'r> $crate::postgres::column_arrays::ColumnArrays for $name<'r> {
            fn column_types() -> Vec<(&'static str, (tokio_postgres::types::Type, &'static str))> {
                vec![$((stringify!($field), <$type as $crate::postgres::column_arrays::ColumnType>::ARRAY)),*]
            }

            fn values(&self) -> Vec<$crate::postgres::connection::SqlValue<'_>> {
                vec![$(&self.$field),*]
            }
        }
    };
}
pub(super) use columns;

/// Numbers the parameters of a statement as kinds of rows are added.
#[derive(Debug, Default)]
pub(super) struct SqlParameters {
    pub(super) types: Vec<Type>,
}

impl SqlParameters {
    /// Returns a table of the form `unnest($1::bigint[], $2::text[]) AS name (a, b)`.
    pub(super) fn unnest_table<C: ColumnArrays>(&mut self, name: &str) -> String {
        let mut arrays = Vec::new();
        let mut names = Vec::new();
        for (field, (array, spelled)) in C::column_types() {
            self.types.push(array);
            arrays.push(format!("${}::{spelled}", self.types.len()));
            names.push(field.trim_start_matches("r#"));
        }
        format!("unnest({}) AS {name} ({})", arrays.join(", "), names.join(", "))
    }
}
