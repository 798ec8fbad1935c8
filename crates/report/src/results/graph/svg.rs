//! Drawing a graph: layers from top to bottom, and curves between them.
//!
//! Edges that lead back to where a walk from the start came from are put aside; of the rest the longest way to a node says which layer
//! it is in, so that they all lead down. Nodes of a layer are ordered by where their predecessors are. What leads back is drawn around
//! the left side, dashed; what skips layers, around the right one.

use std::fmt::Write as _;

use parallax_analysis::sequence::Role;

use super::{Shown, names, place};

const WIDTH: f64 = 250.0;
const HEIGHT: f64 = 44.0;
const ACROSS: f64 = 30.0;
const DOWN: f64 = 60.0;
/// Above and below, and on both sides, where curves go round.
const MARGIN: f64 = 20.0;
const SIDE: f64 = 120.0;
/// Characters of code that fit into a box.
const ROOM: usize = 32;

/// Where nodes are: the start is the last one.
struct Drawing {
    layer: Vec<usize>,
    x: Vec<f64>,
    width: f64,
    height: f64,
}

/// Per node (the start is the last one), what it leads to without going back.
fn forward(next: &[Vec<usize>], first: &[usize]) -> Vec<Vec<usize>> {
    let count = next.len();
    let mut kept: Vec<Vec<usize>> = vec![Vec::new(); count + 1];
    let (mut seen, mut open) = (vec![false; count + 1], vec![false; count + 1]);
    for root in std::iter::once(count).chain(0..count) {
        if seen[root] {
            continue;
        }
        (seen[root], open[root]) = (true, true);
        let mut work = vec![(root, 0)];
        while let Some((node, at)) = work.pop() {
            let list = if node == count { first } else { &next[node] };
            let Some(to) = list.get(at).copied() else {
                open[node] = false;
                continue;
            };
            work.push((node, at + 1));
            if open[to] {
                continue;
            }
            kept[node].push(to);
            if !seen[to] {
                (seen[to], open[to]) = (true, true);
                work.push((to, 0));
            }
        }
    }
    kept
}

fn lay_out(next: &[Vec<usize>], first: &[usize]) -> Drawing {
    let count = next.len();
    let down = forward(next, first);
    let mut layer = vec![1; count + 1];
    layer[count] = 0;
    // Without cycles as many rounds as there are layers are enough.
    let mut changed = true;
    while changed {
        changed = false;
        for (node, list) in down.iter().enumerate() {
            for to in list {
                if layer[*to] <= layer[node] {
                    layer[*to] = layer[node] + 1;
                    changed = true;
                }
            }
        }
    }
    let layers = layer.iter().max().map_or(0, |last| last + 1);
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); layers];
    for (node, layer) in layer.iter().enumerate() {
        rows[*layer].push(node);
    }
    let mut x = vec![0.0; count + 1];
    let widest = rows.iter().map(Vec::len).max().unwrap_or(1) as f64;
    let width = 2.0 * SIDE + widest * (WIDTH + ACROSS) - ACROSS;
    for row in &mut rows {
        let weight = |node: usize, x: &[f64]| {
            let above =
                (0..count).filter(|from| next[*from].contains(&node) && layer[*from] < layer[node]);
            let above: Vec<f64> = above.map(|from| x[from]).collect();
            let sum: f64 = above.iter().sum();
            if above.is_empty() {
                width / 2.0
            } else {
                sum / above.len() as f64
            }
        };
        let mut weighed: Vec<(f64, usize)> =
            row.iter().map(|node| (weight(*node, &x), *node)).collect();
        weighed.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        let length = weighed.len() as f64 * (WIDTH + ACROSS) - ACROSS;
        for (place, (_, node)) in weighed.into_iter().enumerate() {
            x[node] = (width - length) / 2.0 + place as f64 * (WIDTH + ACROSS) + WIDTH / 2.0;
        }
    }
    Drawing {
        layer,
        x,
        width,
        height: 2.0 * MARGIN + layers as f64 * (HEIGHT + DOWN) - DOWN,
    }
}

impl Drawing {
    fn top(&self, node: usize) -> f64 {
        MARGIN + self.layer[node] as f64 * (HEIGHT + DOWN)
    }

    fn edge(&self, from: usize, to: usize) -> String {
        let (x, y) = (self.x[from], self.top(from) + HEIGHT);
        let (u, v) = (self.x[to], self.top(to));
        if self.layer[to] == self.layer[from] + 1 {
            let middle = (v - y) / 2.0;
            return format!(
                "<path class=\"edge\" d=\"M{x:.0} {y:.0} C{x:.0} {:.0} {u:.0} {:.0} {u:.0} {v:.0}\"/>\n",
                y + middle,
                v - middle,
            );
        }
        // Around the boxes in between.
        let far = 30.0 + 12.0 * self.layer[to].abs_diff(self.layer[from]) as f64;
        let (class, begin, end, side) = match self.layer[to] > self.layer[from] {
            true => {
                let (begin, end) = (x + WIDTH / 2.0, u + WIDTH / 2.0);
                ("edge", begin, end, begin.max(end) + far)
            }
            false => {
                let (begin, end) = (x - WIDTH / 2.0, u - WIDTH / 2.0);
                ("edge back", begin, end, begin.min(end) - far)
            }
        };
        // An edge to the box itself needs two places to end.
        let (y, v) = (y - HEIGHT / 3.0, v + HEIGHT / 3.0);
        format!(
            "<path class=\"{class}\" d=\"M{begin:.0} {y:.0} C{side:.0} {y:.0} {side:.0} {v:.0} {end:.0} {v:.0}\"/>\n"
        )
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

pub fn render(shown: &Shown<'_>) -> String {
    let graph = &shown.graph;
    let names = names(shown);
    let drawing = lay_out(&graph.next, &graph.first);
    let start = graph.nodes.len();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0}\" height=\"{1:.0}\" viewBox=\"0 0 {0:.0} {1:.0}\">\n\
         <style>\n\
         svg {{ background: white }}\n\
         text {{ font: 12px monospace; fill: #1a1a1a }}\n\
         .name {{ font-weight: bold }}\n\
         .box {{ stroke: #444; fill: white }}\n\
         .change {{ fill: #d9d9d9 }}\n\
         .interaction {{ fill: #ffe2b8 }}\n\
         .output {{ stroke-dasharray: 4 3 }}\n\
         .edge {{ fill: none; stroke: #444; marker-end: url(#tip) }}\n\
         .back {{ stroke: #888; stroke-dasharray: 5 4 }}\n\
         </style>\n\
         <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\">\
         <path d=\"M0 0 L8 4 L0 8 z\" fill=\"#444\"/></marker></defs>\n",
        drawing.width, drawing.height,
    );
    for to in &graph.first {
        svg.push_str(&drawing.edge(start, *to));
    }
    for (from, next) in graph.next.iter().enumerate() {
        for to in next {
            svg.push_str(&drawing.edge(from, *to));
        }
    }
    let (x, y) = (drawing.x[start], drawing.top(start) + HEIGHT - 8.0);
    let _ = writeln!(
        svg,
        "<circle cx=\"{x:.0}\" cy=\"{y:.0}\" r=\"7\" fill=\"#444\"/>"
    );
    for (at, node) in graph.nodes.iter().enumerate() {
        let class = match node.role {
            Role::Change(_) => "change",
            Role::Interaction(_) => "interaction",
            Role::Output => "output",
        };
        let whole = &shown.places[at].text;
        let mut code: String = whole.chars().take(ROOM).collect();
        if code.len() < whole.len() {
            code.pop();
            code.push('…');
        }
        let rounded = if class == "interaction" { 12 } else { 2 };
        let (left, top) = (drawing.x[at] - WIDTH / 2.0, drawing.top(at));
        let _ = writeln!(
            svg,
            "<g><title>{}</title><rect class=\"box {class}\" x=\"{left:.0}\" y=\"{top:.0}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"{rounded}\"/>\
             <text x=\"{:.0}\" y=\"{:.0}\"><tspan class=\"name\">{}</tspan>  {}</text>\
             <text x=\"{:.0}\" y=\"{:.0}\">{}</text></g>",
            escaped(whole),
            left + 8.0,
            top + 17.0,
            names[at],
            escaped(&place(shown, at)),
            left + 8.0,
            top + 34.0,
            escaped(&code),
        );
    }
    svg.push_str("</svg>\n");
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_never_touch_and_lie_inside() {
        let next = [vec![1, 2, 3], vec![3, 0], vec![4], vec![], vec![2]];
        let drawing = lay_out(&next, &[0]);
        for one in 0..5 {
            assert!(
                drawing.x[one] - WIDTH / 2.0 >= 0.0
                    && drawing.x[one] + WIDTH / 2.0 <= drawing.width
            );
            assert!(drawing.top(one) + HEIGHT <= drawing.height);
            for other in 0..one {
                let same_layer = drawing.layer[one] == drawing.layer[other];
                assert!(!same_layer || (drawing.x[one] - drawing.x[other]).abs() >= WIDTH);
            }
        }
        assert_eq!(drawing.layer, [1, 2, 2, 3, 3, 0]);
    }
}
