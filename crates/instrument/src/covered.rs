//! Counting: every block and both sides of every branch.
//!
//! A module finds its counters through a pointer that a constructor sets (see `abi::cover`):
//! shared memory when somebody observes, a private array otherwise. The order of counters
//! is the order of the site table, so nothing else needs to be stored.

use llvm_sys::LLVMLinkage;
use llvm_sys::core::*;

use crate::InstrumentError;
use crate::ir::{Builder, LLVMOpcode, Value};
use crate::module::Module;

/// Name of the function that hands out counters.
const REGISTER: &str = "__plx_cover";

/// Adds counters; `id` names the module's site table.
pub fn cover(module: &Module, id: u64) -> Result<(), InstrumentError> {
    let counters = Value(unsafe {
        let global = LLVMAddGlobal(module.raw, module.ptr.0, c"plx.counters".as_ptr());
        LLVMSetLinkage(global, LLVMLinkage::LLVMInternalLinkage);
        global
    });
    let builder = module.builder();
    let mut next = 0;
    for function in module.functions() {
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
                count(module, &builder, counters, module.n64(next));
                if is_branch {
                    builder.before(terminator);
                    let side = builder.resize(terminator.operand(0), module.i64);
                    let index = builder.binary(LLVMOpcode::LLVMAdd, side, module.n64(next + 1));
                    count(module, &builder, counters, index);
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

fn count(module: &Module, builder: &Builder, counters: Value, index: Value) {
    let base = builder.load(module.ptr, counters);
    let offset = builder.binary(LLVMOpcode::LLVMMul, index, module.n64(4));
    let counter = builder.offset(module.i8, base, offset);
    let old = builder.load(module.i32, counter);
    let new = builder.binary(LLVMOpcode::LLVMAdd, old, module.n32(1));
    let store = builder.store(new, counter);
    // Otherwise a loop counts in a register and stores when it is left, which a crash, a time-out
    // or another thread's `exit` inside of it prevents: code that ran would seem not to have.
    unsafe { LLVMSetVolatile(store.0, 1) };
}

fn register(module: &Module, counters: Value, id: u64, count: u64) {
    let register = module.declare(
        REGISTER,
        module.function_type(module.void, &[module.i64, module.ptr, module.i64]),
    );
    module.add_constructor_calling(register, &[module.n64(id), counters, module.n64(count)]);
}
