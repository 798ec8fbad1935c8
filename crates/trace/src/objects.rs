//! Memory objects that a traced program declared as input, read from its trace.

use parallax_abi::Op;
use parallax_abi::trace::SourceKind;

use crate::trace::Trace;
use parallax_scenario::{Bytes, Object};

/// The objects that the program declared as input in a traced run, with the contents that it was given. An object is
/// as large as the highest byte that the trace has of it.
pub fn objects_of(trace: &Trace) -> Vec<Object> {
    let mut objects: Vec<Object> = Vec::new();
    let mut of_source: Vec<Option<usize>> = Vec::new();
    for index in 0..trace.source_count() {
        let source = trace
            .source(index)
            .filter(|source| source.kind == SourceKind::Object);
        of_source.push(source.map(|source| {
            let at = source.index as usize;
            // The trace is not trusted: so many objects there cannot be.
            if at < trace.source_count() as usize && objects.len() <= at {
                objects.resize(at + 1, Object::default());
            }
            if let Some(object) = objects.get_mut(at) {
                object.name = source.name.into();
            }
            at
        }));
    }
    if objects.is_empty() {
        return objects;
    }
    for (_, node) in trace.nodes() {
        if node.op != Op::Input as u8 {
            continue;
        }
        let offset = u64::from(node.b) | u64::from(node.c) << 32;
        let object = of_source.get(node.a as usize).copied().flatten();
        let object = object.and_then(|at| objects.get_mut(at));
        if let (Some(object), Ok(offset)) = (object, usize::try_from(offset)) {
            let bytes: &mut Bytes = &mut object.bytes;
            // Nodes of one object come in ascending order; a damaged trace may name any offset.
            if offset > bytes.len() + trace.node_count() as usize {
                continue;
            }
            if bytes.len() <= offset {
                bytes.resize(offset + 1, 0);
            }
            bytes[offset] = node.lo as u8;
        }
    }
    objects
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;

    #[test]
    fn a_traced_run_tells_which_objects_there_are() {
        let sample = Sample::new();
        let argument = sample.source(SourceKind::Argument, 1);
        let second = sample.source(SourceKind::Object, 1);
        let first = sample.source(SourceKind::Object, 0);
        for (source, offset, byte) in [
            (argument, 0, 9),
            (second, 0, 1),
            (second, 2, 3),
            (first, 0, 5),
        ] {
            sample.node(Op::Input, 8, &[source, offset], byte);
        }
        let bytes = |object: &Object| object.bytes.0.clone();
        let objects = objects_of(&sample.finish());
        assert_eq!(
            objects.iter().map(bytes).collect::<Vec<_>>(),
            [vec![5], vec![1, 0, 3]]
        );
        let damaged = Sample::new();
        damaged.source(SourceKind::Object, u32::MAX);
        assert_eq!(objects_of(&damaged.finish()), []);
    }
}
