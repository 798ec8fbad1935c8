//! Expressions as prefix text, cut off at a depth that a line can hold.

use parallax_abi::Op;
use parallax_engine::trace::Trace;
use parallax_expr::value;

const DEPTH: u32 = 12;

pub fn show(trace: &Trace, label: u32) -> String {
    let mut text = String::new();
    write(trace, label, 0, &mut text);
    text
}

fn write(trace: &Trace, label: u32, depth: u32, text: &mut String) {
    let Some((node, op)) = trace
        .node(label)
        .and_then(|node| Some((node, Op::from_byte(node.op)?)))
    else {
        text.push('?');
        return;
    };
    match op {
        Op::Const => text.push_str(&value(node).to_string()),
        Op::Input => {
            let source = trace.source(node.a).map_or("?".into(), |s| s.to_string());
            let offset = u64::from(node.b) | u64::from(node.c) << 32;
            text.push_str(&format!("{source}[{offset}]"));
        }
        Op::Object => text.push_str(&format!("&object{}", node.a)),
        _ if depth == DEPTH => text.push('…'),
        _ => {
            text.push_str(&format!("{op:?}{}(", node.width).to_lowercase());
            for (at, operand) in [node.a, node.b, node.c][..op.arity()].iter().enumerate() {
                if at > 0 {
                    text.push_str(", ");
                }
                write(trace, *operand, depth + 1, text);
            }
            text.push(')');
        }
    }
}
