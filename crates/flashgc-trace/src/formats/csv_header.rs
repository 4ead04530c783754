//! Whether the first row of a text file names its columns.

use super::Format;
use super::csv::{default_format, next_field};
use super::csv_spec::{Column, CsvSpec, Delimiter, Header};
use crate::error::FieldError;
use crate::fields::Fields;

/// Whether this first row is a header.
pub(super) fn is_header(spec: &CsvSpec, line: &[u8], delimiter: Delimiter) -> bool {
    match spec.header {
        Header::Yes => return true,
        Header::No => return false,
        Header::Auto => {}
    }
    let mut fields = Fields::new(line);
    for column in &spec.columns {
        let Some(field) = next_field(&mut fields, delimiter) else { return false };
        let numeric = matches!(column, Column::Time(_) | Column::Offset(_) | Column::Size(_));
        if numeric && !field.bytes.first().is_some_and(u8::is_ascii_alphabetic) {
            return false;
        }
    }
    true
}

/// The error of a first row, which may be a header of other columns.
pub(super) fn of_first_row(
    spec: &CsvSpec,
    line: &[u8],
    delimiter: Delimiter,
    error: FieldError,
) -> FieldError {
    let mut fields = Fields::new(line);
    let mut are_words = true;
    while let Some(field) = next_field(&mut fields, delimiter) {
        are_words &= field.bytes.first().is_some_and(u8::is_ascii_alphabetic);
    }
    if !are_words || spec.header == Header::No {
        return error;
    }
    if Format::Csv(spec.clone()) == default_format() {
        return error.help(
            "if this line names the columns, name them in the format as well, as in `--format \
             \"csv:time:us, op, offset, size\"`; `csv` alone means `csv:time:ns, device, op, \
             offset, size`",
        );
    }
    error.help("if this line names the columns, add `; header=yes` to the format")
}
