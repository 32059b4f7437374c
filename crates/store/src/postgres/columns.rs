//! Many rows of one kind as arrays, one per column: a batch of any size is the same statement.

use tokio_postgres::types::Type;

use super::link::Value;

/// What a column may hold.
pub(super) trait Column {
    /// The array's type, and how SQL names it.
    const ARRAY: (Type, &'static str);
}

impl Column for i64 {
    const ARRAY: (Type, &'static str) = (Type::INT8_ARRAY, "bigint[]");
}

impl Column for bool {
    const ARRAY: (Type, &'static str) = (Type::BOOL_ARRAY, "boolean[]");
}

impl Column for std::borrow::Cow<'_, str> {
    const ARRAY: (Type, &'static str) = (Type::TEXT_ARRAY, "text[]");
}

impl Column for &[u8] {
    const ARRAY: (Type, &'static str) = (Type::BYTEA_ARRAY, "bytea[]");
}

impl<T: Column> Column for Option<T> {
    const ARRAY: (Type, &'static str) = T::ARRAY;
}

/// A kind of row that is sent as arrays.
pub(super) trait Columns {
    /// Names and types, in order.
    fn shape() -> Vec<(&'static str, (Type, &'static str))>;
    /// The arrays, in the same order.
    fn values(&self) -> Vec<Value<'_>>;
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

        impl<'r> $crate::postgres::columns::Columns for $name<'r> {
            fn shape() -> Vec<(&'static str, (tokio_postgres::types::Type, &'static str))> {
                vec![$((stringify!($field), <$type as $crate::postgres::columns::Column>::ARRAY)),*]
            }

            fn values(&self) -> Vec<$crate::postgres::link::Value<'_>> {
                vec![$(&self.$field),*]
            }
        }
    };
}
pub(super) use columns;

/// Gives each kind of row its place among a statement's values.
#[derive(Debug, Default)]
pub(super) struct Places {
    pub(super) types: Vec<Type>,
}

impl Places {
    /// `unnest($1::bigint[], $2::text[]) AS name (a, b)`.
    pub(super) fn table<C: Columns>(&mut self, name: &str) -> String {
        let mut arrays = Vec::new();
        let mut names = Vec::new();
        for (field, (array, spelled)) in C::shape() {
            self.types.push(array);
            arrays.push(format!("${}::{spelled}", self.types.len()));
            names.push(field.trim_start_matches("r#"));
        }
        format!("unnest({}) AS {name} ({})", arrays.join(", "), names.join(", "))
    }
}
