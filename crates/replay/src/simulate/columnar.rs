//! `jobs.parquet`: the rows of `jobs.csv`, column by column.
//!
//! Memory does not grow with the log, except for an entry per row group in the end of the file. Nothing is compressed: the bytes are the
//! same on every processor.

use super::row::{Row, Seconds};
use parquet::column::writer::ColumnWriterImpl;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::io::{self, Write};
use std::mem;
use std::sync::Arc;

/// Rows of a group: about a megabyte for each of the longer columns.
const GROUP: usize = 1 << 16;
/// Bytes of processor lists at which a group ends early: these lists may be longer than all other columns.
const GROUP_LISTS: usize = 1 << 24;

/// The fields of a [`Row`], in their order.
const SCHEMA: &str = "message jobs {
    REQUIRED INT64 job;
    REQUIRED DOUBLE submit;
    OPTIONAL DOUBLE start;
    OPTIONAL DOUBLE finish;
    REQUIRED INT64 processors;
    OPTIONAL BYTE_ARRAY site (STRING);
    OPTIONAL INT64 user;
    OPTIONAL DOUBLE requested;
    REQUIRED DOUBLE run;
    OPTIONAL DOUBLE deadline;
    REQUIRED BYTE_ARRAY state (STRING);
    OPTIONAL BYTE_ARRAY allocated (STRING);
}";

/// Unit of a column; `None` for a column without one.
fn unit(column: &str) -> Option<&'static str> {
    match column {
        "submit" | "start" | "finish" | "deadline" => Some("s since the first submit"),
        "requested" | "run" => Some("s"),
        _ => None,
    }
}

/// Writes rows into a file.
pub(super) struct ParquetRows<W: Write + Send> {
    file: SerializedFileWriter<W>,
    group: RowGroup,
}

impl<W: Write + Send> ParquetRows<W> {
    pub(super) fn new(into: W) -> io::Result<Self> {
        Self::begin(into).map_err(plain)
    }

    fn begin(into: W) -> Result<Self> {
        let units = Row::COLUMNS
            .iter()
            .filter_map(|column| Some(KeyValue::new(format!("unit of {column}"), unit(column)?.to_owned())));
        let properties = WriterProperties::builder().set_key_value_metadata(Some(units.collect())).build();
        let schema = Arc::new(parse_message_type(SCHEMA)?);
        let file = SerializedFileWriter::new(into, schema, Arc::new(properties))?;
        Ok(Self { file, group: RowGroup::default() })
    }

    pub(super) fn push(&mut self, row: &Row<'_>) -> io::Result<()> {
        self.group.push(row)?;
        if self.group.is_full() { self.end_group().map_err(plain) } else { Ok(()) }
    }

    /// Completes the file and returns it.
    pub(super) fn finish(mut self) -> io::Result<W> {
        if !self.group.job.values.is_empty() {
            self.end_group().map_err(plain)?;
        }
        self.file.into_inner().map_err(plain)
    }

    fn end_group(&mut self) -> Result<()> {
        let mut into = self.file.next_row_group()?;
        mem::take(&mut self.group).write(&mut into)?;
        into.close()?;
        Ok(())
    }
}

/// Returns the disk's error, if it is one.
fn plain(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

/// Rows that are not written yet.
#[derive(Default)]
struct RowGroup {
    job: Column<Int64Type>,
    submit: Column<DoubleType>,
    start: Column<DoubleType>,
    finish: Column<DoubleType>,
    processors: Column<Int64Type>,
    site: Column<ByteArrayType>,
    user: Column<Int64Type>,
    requested: Column<DoubleType>,
    run: Column<DoubleType>,
    deadline: Column<DoubleType>,
    state: Column<ByteArrayType>,
    allocated: Column<ByteArrayType>,
    /// Bytes of the lists of processors.
    lists: usize,
}

impl RowGroup {
    fn is_full(&self) -> bool {
        self.job.values.len() >= GROUP || self.lists >= GROUP_LISTS
    }

    fn push(&mut self, row: &Row<'_>) -> io::Result<()> {
        let number = i64::try_from(row.job.number)
            .map_err(|_| io::Error::other(format!("job {}: the number is above {}", row.job.number, i64::MAX)))?;
        self.job.push(Some(number));
        self.submit.push(Some(row.submit.as_f64()));
        self.start.push(row.start.map(Seconds::as_f64));
        self.finish.push(row.finish.map(Seconds::as_f64));
        self.processors.push(Some(i64::from(row.processors)));
        self.site.push(row.site.map(ByteArray::from));
        self.user.push(row.user.and_then(|user| i64::try_from(user.number).ok()));
        self.requested.push(row.requested.map(Seconds::as_f64));
        self.run.push(Some(row.run.as_f64()));
        self.deadline.push(row.deadline.map(Seconds::as_f64));
        self.state.push(Some(ByteArray::from(row.state)));
        let allocated = row.allocated.map(|blocks| blocks.to_string());
        self.lists += allocated.as_ref().map_or(0, String::len);
        self.allocated.push(allocated.as_deref().map(ByteArray::from));
        Ok(())
    }

    /// Writes the columns in the order of [`SCHEMA`].
    fn write<W: Write + Send>(self, into: &mut SerializedRowGroupWriter<'_, W>) -> Result<()> {
        self.job.write(into)?;
        self.submit.write(into)?;
        self.start.write(into)?;
        self.finish.write(into)?;
        self.processors.write(into)?;
        self.site.write(into)?;
        self.user.write(into)?;
        self.requested.write(into)?;
        self.run.write(into)?;
        self.deadline.write(into)?;
        self.state.write(into)?;
        self.allocated.write(into)
    }
}

/// Values of one column.
struct Column<T: DataType> {
    values: Vec<T::T>,
    /// 1 for each value, 0 for each missing value.
    levels: Vec<i16>,
}

impl<T: DataType> Default for Column<T> {
    fn default() -> Self {
        Self { values: Vec::new(), levels: Vec::new() }
    }
}

impl<T: DataType> Column<T> {
    fn push(&mut self, value: Option<T::T>) {
        self.levels.push(i16::from(value.is_some()));
        self.values.extend(value);
    }

    fn write<W: Write + Send>(self, into: &mut SerializedRowGroupWriter<'_, W>) -> Result<()> {
        let mut column = into.next_column()?.expect("the schema has a column for each");
        let writer: &mut ColumnWriterImpl<'_, T> = column.typed();
        // The writer ignores the levels of a required column.
        writer.write_batch(&self.values, Some(&self.levels), None)?;
        column.close()
    }
}

#[cfg(test)]
mod tests;
