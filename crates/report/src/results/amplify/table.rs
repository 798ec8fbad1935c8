//! Tables of columns that are as wide as they must be, or as there is room for.

use std::fmt::Write as _;

use crate::palette::Palette;
use crate::words::shorten;

/// A table with a heading. The last `flexible` columns share what the others leave of a line of `room` columns.
pub fn render(heading: &[&str], rows: &[Vec<String>], flexible: usize, room: usize) -> String {
    let heading: Vec<String> = heading.iter().map(|&name| name.to_owned()).collect();
    let mut widths = vec![0; heading.len()];
    for row in rows.iter().chain([&heading]) {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let fixed = heading.len() - flexible;
    let taken = widths[..fixed].iter().sum::<usize>() + 2 * heading.len();
    let left = room.saturating_sub(taken).max(40) / flexible.max(1);
    for width in &mut widths[fixed..] {
        *width = (*width).min(left);
    }
    let mut text = String::new();
    for (number, row) in [&heading].into_iter().chain(rows).enumerate() {
        let cells = row.iter().zip(&widths).enumerate();
        let cells = cells.map(|(column, (cell, &width))| {
            let cell = shorten(cell, width);
            // Numbers end below each other.
            let is_number = rows.iter().all(|row| is_number(&row[column]));
            match is_number {
                true => format!("{cell:>width$}"),
                false => format!("{cell:<width$}"),
            }
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        let line = line.trim_end();
        let line = match number {
            0 => Palette.dim(line),
            _ => line.to_owned(),
        };
        let _ = writeln!(text, "  {line}");
    }
    text
}

fn is_number(cell: &str) -> bool {
    !cell.is_empty() && cell.chars().all(|c| c.is_ascii_digit() || c == ',')
}
