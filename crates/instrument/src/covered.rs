//! Counting: every block and both sides of every branch.
//!
//! A module finds its counters through a pointer that a constructor sets (see `abi::cover`):
//! shared memory when somebody observes, a private array otherwise. The order of counters
//! is the order of the site table, so nothing else needs to be stored. A counter that is watched also calls the
//! runtime, which logs the order: one comparison for each count, and no build of its own.

use llvm_sys::core::*;
use llvm_sys::{LLVMIntPredicate, LLVMLinkage};

use crate::InstrumentError;
use crate::ir::{Builder, LLVMOpcode, Value};
use crate::module::Module;

/// Name of the function that hands out counters.
const REGISTER: &str = "__plx_cover";

/// Name of the function that logs what watched counters count.
const FOLLOW: &str = "__plx_follow";

/// Name of the inline function that counts.
const COUNT: &str = "plx.count";

/// Adds counters; `id` names the module's site table.
pub fn cover(module: &Module, id: u64) -> Result<(), InstrumentError> {
    let counters = Value(unsafe {
        let global = LLVMAddGlobal(module.raw, module.ptr.0, c"plx.counters".as_ptr());
        LLVMSetLinkage(global, LLVMLinkage::LLVMInternalLinkage);
        global
    });
    let builder = module.builder();
    let mut next = 0;
    let functions = module.functions();
    let helper = helper(module, &builder);
    for function in functions {
        if function.is_declaration() {
            continue;
        }
        // A function compiled without optimisation would count slowly.
        function.remove_attribute("optnone");
        let countable = !function.has_attribute("naked");
        for block in function.blocks() {
            let terminator = block.terminator();
            let is_branch =
                terminator.opcode() == LLVMOpcode::LLVMBr && terminator.is_conditional();
            if countable && let Some(start) = start_of(block.first_after_phis()) {
                builder.before(start);
                count(module, &builder, helper, counters, module.n64(next));
                if is_branch {
                    builder.before(terminator);
                    let side = builder.resize(terminator.operand(0), module.i64);
                    let index = builder.binary(LLVMOpcode::LLVMAdd, side, module.n64(next + 1));
                    count(module, &builder, helper, counters, index);
                }
            }
            next += if is_branch { 3 } else { 1 };
        }
    }
    unsafe {
        let array = module.array(module.i32, next);
        let private = LLVMAddGlobal(module.raw, array.0, c"plx.uncounted".as_ptr());
        LLVMSetInitializer(private, array.null().0);
        LLVMSetLinkage(private, LLVMLinkage::LLVMInternalLinkage);
        LLVMSetInitializer(counters.0, private);
    }
    register(module, counters, id, next);
    crate::verify(module)
}

/// Where code can be inserted: exception pads must stay first in their block.
fn start_of(first: Value) -> Option<Value> {
    use LLVMOpcode::*;
    match first.opcode() {
        LLVMLandingPad | LLVMCleanupPad | LLVMCatchPad => first.next(),
        LLVMCatchSwitch => None,
        _ => Some(first),
    }
}

fn count(module: &Module, builder: &Builder, helper: Value, counters: Value, index: Value) {
    let base = builder.load(module.ptr, counters);
    let offset = builder.binary(LLVMOpcode::LLVMMul, index, module.n64(4));
    let counter = builder.offset(module.i8, base, offset);
    builder.call(helper.function_type(), helper, &[counter]);
}

/// Counts at an address. A function of its own, so that what is inserted stays without branches; it is inlined everywhere.
fn helper(module: &Module, builder: &Builder) -> Value {
    let ty = module.function_type(module.void, &[module.ptr]);
    let follow = module.declare(FOLLOW, ty);
    for attribute in ["nounwind", "cold"] {
        follow.add_attribute(attribute);
    }
    let helper = module.declare(COUNT, ty);
    helper.set_linkage(LLVMLinkage::LLVMInternalLinkage);
    for attribute in ["alwaysinline", "nounwind"] {
        helper.add_attribute(attribute);
    }
    let [entry, watched, done] = ["", "watched", "done"].map(|name| helper.append_block(name));
    let counter = helper.parameters()[0];
    builder.at_end(entry);
    let old = builder.load(module.i32, counter);
    let new = builder.binary(LLVMOpcode::LLVMAdd, old, module.n32(1));
    let store = builder.store(new, counter);
    // Otherwise a loop counts in a register and stores when it is left, which a crash, a time-out
    // or another thread's `exit` inside of it prevents: code that ran would seem not to have.
    unsafe { LLVMSetVolatile(store.0, 1) };
    let is_watched = builder.compare(LLVMIntPredicate::LLVMIntSLT, old, module.n32(0));
    builder.unlikely(is_watched, watched, done);
    builder.at_end(watched);
    builder.call(follow.function_type(), follow, &[counter]);
    builder.branch(done);
    builder.at_end(done);
    builder.ret(None);
    helper
}

fn register(module: &Module, counters: Value, id: u64, count: u64) {
    let register = module.declare(
        REGISTER,
        module.function_type(module.void, &[module.i64, module.ptr, module.i64]),
    );
    module.add_constructor_calling(register, &[module.n64(id), counters, module.n64(count)]);
}
