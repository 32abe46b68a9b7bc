//! From metrics of one replication to judged claims: quantities over design points, tables, rules and verdicts.

pub mod claim;
pub mod metric;
pub mod quantity;
pub mod table;
