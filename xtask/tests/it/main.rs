//! The program from the outside: its refusals, its output, and its guarantees about both.

mod browser;
mod program;

mod alea31;
mod answers;
mod bad_input;
mod border;
mod by_hand;
mod check;
mod circles;
mod command_line;
mod determinism;
mod documented;
mod doubt;
mod exec;
mod experiment;
mod explain;
mod faults;
mod figures;
mod hier_grid;
mod metaloras;
mod metasched;
mod predictions;
mod print;
mod provenance;
mod pyss_conservative;
mod readme;
mod real_logs;
mod reproduced;
mod resume;
mod simulated;
mod slurm;
mod star;
mod swift_gap;
mod whole;
mod workload;
