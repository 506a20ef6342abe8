//! Writes the same run in every format, and says how fast: `cargo run --release --example formats -- FOLDER`.

use std::time::Instant;

use results::{Column, ResultError, sink_for};

fn main() -> Result<(), ResultError> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let mut columns: Vec<_> = (0..900).map(|i| Column::new(format!("x[{i}]")).unit("V").description("state")).collect();
    columns.extend((0..50).map(|i| Column::new(format!("alias[{i}]")).alias(i, i % 2 == 1)));
    columns.extend((0..50).map(|i| Column::new(format!("p[{i}]")).parameter()));
    let mut values = vec![1.25; 950];
    for ending in ["csv", "mat", "parquet"] {
        let path = format!("{folder}/formats.{ending}");
        let begin = Instant::now();
        let mut sink = sink_for(path.as_ref())?;
        sink.begin(&columns)?;
        for row in 0..5000 {
            let time = f64::from(row) * 1e-3;
            values[..900].iter_mut().enumerate().for_each(|(i, value)| *value = (time * (i + 1) as f64).sin());
            sink.row(time, &values)?;
        }
        sink.finish()?;
        let seconds = begin.elapsed().as_secs_f64();
        let size = std::fs::metadata(&path).map_or(0, |facts| facts.len()) as f64 / 1e6;
        println!("{path}: {size:.0} MB in {seconds:.2} s, {:.0} MB/s", size / seconds);
    }
    Ok(())
}
