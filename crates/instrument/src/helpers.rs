//! The inline part of the runtime: small functions in IR that the optimiser
//! inlines everywhere.
//!
//! The pass only inserts straight-line calls to these; each looks at labels or at the
//! presence table and calls into the runtime only when there is something to
//! do. Written as text because that is the most readable form of IR; numbers come from
//! `abi`.

use llvm_sys::LLVMLinkage;
use llvm_sys::core::*;
use llvm_sys::ir_reader::LLVMParseIRInContext;
use llvm_sys::linker::LLVMLinkModules2;
use parallax_abi::entry::{ALL, Entry, Type, symbol};
use parallax_abi::layout::{PRESENCE_BASE, PRESENCE_SHIFT};
use parallax_abi::tls::{CALLEE_OFFSET, TLS_BYTES, TLS_SYMBOL};

use crate::InstrumentError;
use crate::ir::take_message;
use crate::module::Module;

/// Helpers that call an entry point exactly when one of their labels is not 0.
/// `(helper, entry, labels, result)`: `labels` are the positions of label parameters.
const GUARDED: &[(&str, Entry, &[usize])] = {
    use parallax_abi::entry::*;
    &[
        ("plx.unary", UNARY, &[1]),
        ("plx.binary", BINARY, &[1, 2]),
        ("plx.binary_wide", BINARY_WIDE, &[1, 2]),
        ("plx.ite", ITE, &[1, 2, 3]),
        ("plx.branch", BRANCH, &[0]),
        ("plx.select", SELECT, &[0]),
        ("plx.switch", SWITCH, &[0]),
        ("plx.address", ADDRESS, &[1, 3]),
        ("plx.range", RANGE, &[1, 3]),
        ("plx.concretize", CONCRETIZE, &[0]),
        ("plx.output", OUTPUT, &[0]),
        ("plx.give_up", GIVE_UP, &[0]),
    ]
};

/// Adds the helpers and the declarations of the runtime to the module.
pub fn link_into(module: &Module) -> Result<(), InstrumentError> {
    let mut text = format!(
        "target datalayout = \"{}\"\ntarget triple = \"{}\"\n",
        module.data_layout_text(),
        module.target_text()
    );
    text.push_str(&helpers());
    let text = std::ffi::CString::new(text).expect("no NUL in IR text");
    unsafe {
        let buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(
            text.as_ptr(),
            text.as_bytes().len(),
            c"helpers".as_ptr(),
        );
        let mut parsed = std::ptr::null_mut();
        let mut message = std::ptr::null_mut();
        if LLVMParseIRInContext(module.context, buffer, &mut parsed, &mut message) != 0 {
            return Err(InstrumentError::Helpers(take_message(message)));
        }
        if LLVMLinkModules2(module.raw, parsed) != 0 {
            return Err(InstrumentError::Helpers("they cannot be linked in".into()));
        }
    }
    // Linking drops unused private functions, so they become private only now; declarations
    // that no helper uses were dropped too.
    for function in module.functions() {
        if function.name().starts_with("plx.") {
            function.set_linkage(LLVMLinkage::LLVMInternalLinkage);
        }
    }
    for entry in ALL {
        let parameters: Vec<_> = entry
            .parameters
            .iter()
            .map(|ty| type_in(module, *ty))
            .collect();
        module.declare(
            entry.name,
            module.function_type(type_in(module, entry.result), &parameters),
        );
    }
    Ok(())
}

fn type_in(module: &Module, ty: Type) -> crate::ir::Type {
    match ty {
        Type::Void => module.void,
        Type::U32 => module.i32,
        Type::U64 => module.i64,
        Type::Pointer => module.ptr,
    }
}

fn type_name(ty: Type) -> &'static str {
    match ty {
        Type::Void => "void",
        Type::U32 => "i32",
        Type::U64 => "i64",
        Type::Pointer => "ptr",
    }
}

fn parameters(entry: &Entry) -> String {
    let list: Vec<String> = entry
        .parameters
        .iter()
        .enumerate()
        .map(|(index, ty)| format!("{} %p{index}", type_name(*ty)))
        .collect();
    list.join(", ")
}

fn helpers() -> String {
    let mut text = format!(
        "@{TLS_SYMBOL} = external thread_local(initialexec) global [{TLS_BYTES} x i8], align 16\n\
         @{} = external global i32, align 4\n",
        symbol::WATCHING
    );
    for entry in ALL {
        let list: Vec<&str> = entry.parameters.iter().map(|ty| type_name(*ty)).collect();
        text.push_str(&format!(
            "declare {} @{}({}) #1\n",
            type_name(entry.result),
            entry.name,
            list.join(", ")
        ));
    }
    for (name, entry, labels) in GUARDED {
        text.push_str(&guarded(name, entry, labels));
    }
    text.push_str(
        &MEMORY
            .replace("SHIFT", &PRESENCE_SHIFT.to_string())
            .replace("BASE", &(PRESENCE_BASE as i64).to_string())
            .replace("WATCHING", &format!("@{}", symbol::WATCHING)),
    );
    text.push_str(
        &PROTOCOL
            .replace("TLS", &format!("@{TLS_SYMBOL}"))
            .replace("CALLEE", &CALLEE_OFFSET.to_string()),
    );
    text.push_str(
        "attributes #0 = { alwaysinline nounwind }\n\
         attributes #1 = { nounwind cold }\n\
         !0 = !{!\"branch_weights\", i32 1, i32 2000}\n",
    );
    text
}

fn guarded(name: &str, entry: &Entry, labels: &[usize]) -> String {
    let result = type_name(entry.result);
    let mut text = format!("define {result} @{name}({}) #0 {{\n", parameters(entry));
    let mut any = format!("%p{}", labels[0]);
    for (step, label) in labels[1..].iter().enumerate() {
        text.push_str(&format!("  %or{step} = or i32 {any}, %p{label}\n"));
        any = format!("%or{step}");
    }
    text.push_str(&format!(
        "  %some = icmp ne i32 {any}, 0\n  br i1 %some, label %slow, label %out, !prof !0\nslow:\n"
    ));
    let arguments = parameters(entry);
    if result == "void" {
        text.push_str(&format!(
            "  call void @{}({arguments})\n  br label %out\nout:\n  ret void\n}}\n",
            entry.name
        ));
    } else {
        text.push_str(&format!(
            "  %new = call {result} @{}({arguments})\n  br label %out\nout:\n  \
             %r = phi {result} [ 0, %0 ], [ %new, %slow ]\n  ret {result} %r\n}}\n",
            entry.name
        ));
    }
    text
}

/// Presence checks and label memory. Nothing may be looked at for an empty range: its pointer may
/// be anything. So a size of 0 counts as large, and the runtime does nothing.
const MEMORY: &str = r"
define i1 @plx.present(ptr %a) #0 {
  %i = ptrtoint ptr %a to i64
  %s = lshr i64 %i, SHIFT
  %p = add i64 %s, BASE
  %q = inttoptr i64 %p to ptr
  %b = load i8, ptr %q, align 1
  %n = icmp ne i8 %b, 0
  ret i1 %n
}

define i32 @plx.load(ptr %a, i64 %size, i64 %site) #0 {
  %some = call i1 @plx.present(ptr %a)
  br i1 %some, label %slow, label %out, !prof !0
slow:
  %l = call i32 @__plx_load(ptr %a, i64 %size, i64 %site)
  br label %out
out:
  %r = phi i32 [ 0, %0 ], [ %l, %slow ]
  ret i32 %r
}

define i32 @plx.load_at(i32 %la, ptr %a, i64 %size, i64 %site) #0 {
  %sym = icmp ne i32 %la, 0
  br i1 %sym, label %slow, label %plain, !prof !0
slow:
  %l = call i32 @__plx_symbolic_load(i32 %la, ptr %a, i64 %size, i64 %site)
  br label %out
plain:
  call void @plx.access(i64 %site)
  %m = call i32 @plx.load(ptr %a, i64 %size, i64 %site)
  br label %out
out:
  %r = phi i32 [ %l, %slow ], [ %m, %plain ]
  ret i32 %r
}

define void @plx.format(ptr %a, i64 %site) #0 {
  %some = call i1 @plx.present(ptr %a)
  br i1 %some, label %slow, label %out, !prof !0
slow:
  call void @__plx_format(ptr %a, i64 %site)
  br label %out
out:
  ret void
}

define void @plx.access(i64 %site) #0 {
  %w = load i32, ptr WATCHING, align 4
  %on = icmp ne i32 %w, 0
  br i1 %on, label %slow, label %out, !prof !0
slow:
  call void @__plx_access(i64 %site)
  br label %out
out:
  ret void
}

define void @plx.symbolic_store(i32 %la, ptr %a, i64 %size, i64 %site) #0 {
  %sym = icmp ne i32 %la, 0
  br i1 %sym, label %slow, label %plain, !prof !0
slow:
  call void @__plx_symbolic_store(i32 %la, ptr %a, i64 %size, i64 %site)
  br label %out
plain:
  call void @plx.access(i64 %site)
  br label %out
out:
  ret void
}

define i32 @plx.peek(ptr %a, i64 %size) #0 {
  %some = call i1 @plx.present(ptr %a)
  br i1 %some, label %slow, label %out, !prof !0
slow:
  %l = call i32 @__plx_peek(ptr %a, i64 %size)
  br label %out
out:
  %r = phi i32 [ 0, %0 ], [ %l, %slow ]
  ret i32 %r
}

define void @plx.store(ptr %a, i64 %size, i32 %label) #0 {
  %some = call i1 @plx.present(ptr %a)
  %sym = icmp ne i32 %label, 0
  %any = or i1 %some, %sym
  br i1 %any, label %slow, label %out, !prof !0
slow:
  call void @__plx_store(ptr %a, i64 %size, i32 %label)
  br label %out
out:
  ret void
}

define void @plx.offer(ptr %a, ptr %callee) #0 {
  %i = ptrtoint ptr %a to i64
  %user = icmp ult i64 %i, 140737488355328
  %safe = select i1 %user, ptr %a, ptr null
  %some = call i1 @plx.present(ptr %safe)
  br i1 %some, label %slow, label %out, !prof !0
slow:
  call void @__plx_offer(ptr %a, ptr %callee)
  br label %out
out:
  ret void
}

define i1 @plx.present_range(ptr %a, i64 %size) #0 {
  %e = getelementptr i8, ptr %a, i64 %size
  %l = getelementptr i8, ptr %e, i64 -1
  %p = call i1 @plx.present(ptr %a)
  %q = call i1 @plx.present(ptr %l)
  %r = or i1 %p, %q
  ret i1 %r
}

define i32 @plx.peek_range(ptr %a, i64 %size) #0 {
  %last = add i64 %size, -1
  %large = icmp ugt i64 %last, 255
  br i1 %large, label %slow, label %small
small:
  %some = call i1 @plx.present_range(ptr %a, i64 %size)
  br i1 %some, label %slow, label %out, !prof !0
slow:
  %l = call i32 @__plx_peek(ptr %a, i64 %size)
  br label %out
out:
  %r = phi i32 [ 0, %small ], [ %l, %slow ]
  ret i32 %r
}

define void @plx.clear(ptr %a, i64 %size) #0 {
  %last = add i64 %size, -1
  %large = icmp ugt i64 %last, 255
  br i1 %large, label %slow, label %small
small:
  %some = call i1 @plx.present_range(ptr %a, i64 %size)
  br i1 %some, label %slow, label %out, !prof !0
slow:
  call void @__plx_clear(ptr %a, i64 %size)
  br label %out
out:
  ret void
}

define void @plx.copy(ptr %to, ptr %from, i64 %size) #0 {
  %last = add i64 %size, -1
  %large = icmp ugt i64 %last, 255
  br i1 %large, label %slow, label %small
small:
  %p = call i1 @plx.present_range(ptr %to, i64 %size)
  %q = call i1 @plx.present_range(ptr %from, i64 %size)
  %some = or i1 %p, %q
  br i1 %some, label %slow, label %out, !prof !0
slow:
  call void @__plx_copy(ptr %to, ptr %from, i64 %size)
  br label %out
out:
  ret void
}

define void @plx.fill(ptr %a, i64 %size, i32 %label) #0 {
  %sym = icmp ne i32 %label, 0
  br i1 %sym, label %slow, label %plain, !prof !0
slow:
  call void @__plx_fill(ptr %a, i64 %size, i32 %label)
  br label %out
plain:
  call void @plx.clear(ptr %a, i64 %size)
  br label %out
out:
  ret void
}
";

/// The calling protocol.
const PROTOCOL: &str = r"
define void @plx.untaken(ptr %f, ptr %name, i64 %count, i64 %site) #0 {
  %p = call ptr @llvm.threadlocal.address.p0(ptr TLS)
  %q = getelementptr i8, ptr %p, i64 CALLEE
  %tag = load ptr, ptr %q, align 8
  %mine = icmp eq ptr %tag, %f
  br i1 %mine, label %slow, label %out, !prof !0
slow:
  call void @__plx_untaken(ptr %name, i64 %count, i64 %site)
  br label %out
out:
  ret void
}

define void @plx.byval(i1 %tagged, ptr %copy, ptr %source, i64 %size) #0 {
  br i1 %tagged, label %labelled, label %plain, !prof !0
labelled:
  call void @__plx_copy(ptr %copy, ptr %source, i64 %size)
  br label %out
plain:
  call void @plx.clear(ptr %copy, i64 %size)
  br label %out
out:
  ret void
}

define void @plx.loss(i32 %label, i32 %kind, ptr %name, i64 %site) #0 {
  %some = icmp ne i32 %label, 0
  br i1 %some, label %slow, label %out, !prof !0
slow:
  call void @__plx_loss(i32 %kind, ptr %name, i64 %site)
  br label %out
out:
  ret void
}

define void @plx.indirect(i32 %label, ptr %target, i64 %site, ptr %seen) #0 {
  %last = load ptr, ptr %seen, align 8
  %new = icmp ne ptr %last, %target
  %sym = icmp ne i32 %label, 0
  %any = or i1 %new, %sym
  br i1 %any, label %slow, label %out, !prof !0
slow:
  store ptr %target, ptr %seen, align 8
  call void @__plx_indirect_call(i32 %label, ptr %target, i64 %site)
  br label %out
out:
  ret void
}

declare nonnull ptr @llvm.threadlocal.address.p0(ptr nonnull)
";
