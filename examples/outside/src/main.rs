//! Gridproof with an additional policy and paper: `my-lab simulate --policy easy,my-sjf …`, `my-lab reproduce my-paper`.

mod mualem_feitelson;
mod my_paper;
mod my_sjf;
#[cfg(test)]
mod tests;

use mualem_feitelson::MualemFeitelson;
use my_paper::MyPaper;
use my_sjf::MySjf;

fn main() -> std::process::ExitCode {
    gridproof::Lab::standard()
        .policy("my-sjf", "shortest job first, backfilled", || Box::new(MySjf::default()))
        .paper::<MyPaper>()
        .paper::<MualemFeitelson>()
        .main()
}
