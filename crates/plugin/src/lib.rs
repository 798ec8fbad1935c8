//! The pass plug-in that clang loads with `-fpass-plugin=`.
//!
//! It runs once per module, at the very start of the optimisation pipeline, when
//! the module is exactly what the front end made. What it does there is told by the environment
//! (see [`parallax_record::request`]); without a request it does nothing.
//!
//! Nothing here may unwind into clang or end it: capture is a by-product of somebody's build,
//! and a defect of ours must not break that build. So a failed capture is a
//! message on standard error and an ordinary compile. A failed *variant*, on the other hand, is an
//! error of that compile: nobody wants a traced program that is not.

mod capture;
mod checked;
mod module;

use llvm_sys::prelude::LLVMModuleRef;
use parallax_instrument::Mode;
use parallax_record::request::{ENVIRONMENT, Request};
use std::ffi::{CString, c_char};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// LLVM's `PassPluginLibraryInfo`.
#[repr(C)]
pub struct PluginInfo {
    api_version: u32,
    name: *const c_char,
    version: *const c_char,
    register: unsafe extern "C" fn(*mut PassBuilder),
}

/// LLVM's `PassBuilder`, seen only by the C++ part.
#[repr(C)]
pub struct PassBuilder {
    opaque: [u8; 0],
}

unsafe extern "C" {
    fn parallax_register(builder: *mut PassBuilder);
}

/// `LLVM_PLUGIN_API_VERSION` of LLVM 19.
const PLUGIN_API_VERSION: u32 = 1;

/// The symbol that clang looks for.
#[unsafe(no_mangle)]
pub extern "C" fn llvmGetPassPluginInfo() -> PluginInfo {
    PluginInfo {
        api_version: PLUGIN_API_VERSION,
        name: c"parallax".as_ptr(),
        version: concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast(),
        register: parallax_register,
    }
}

/// Called by the pass. Returns null or an error message that the C++ part gives
/// back to [`parallax_release_message`].
///
/// # Safety
/// `module` must be the module under compilation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn parallax_run(module: LLVMModuleRef) -> *mut c_char {
    let Some(request) = std::env::var(ENVIRONMENT)
        .ok()
        .and_then(|v| Request::from_value(&v))
    else {
        return std::ptr::null_mut();
    };
    let capturing = matches!(request, Request::Capture { .. });
    // The panic hook prints a location and a hint at RUST_BACKTRACE: noise in a build log.
    std::panic::set_hook(Box::new(|_| {}));
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        // Safety: the caller's promise.
        unsafe { run(module, request) }
    }))
    .unwrap_or_else(|panic| {
        let what = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied());
        Err(format!("internal error: {}", what.unwrap_or("unknown")))
    });
    match outcome {
        Ok(()) => std::ptr::null_mut(),
        Err(message) if capturing => {
            // Standard error may be closed: then there is nobody to tell.
            let _ = writeln!(std::io::stderr(), "parallax-cc: not captured: {message}");
            std::ptr::null_mut()
        }
        Err(message) => CString::new(format!("parallax: {}", message.replace('\0', " ")))
            .map_or(std::ptr::null_mut(), CString::into_raw),
    }
}

/// Releases what [`parallax_run`] returned.
///
/// # Safety
/// `message` must come from [`parallax_run`] and be released once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn parallax_release_message(message: *mut c_char) {
    // Safety: made by `CString::into_raw` above.
    drop(unsafe { CString::from_raw(message) });
}

/// # Safety
/// `module` must be a valid module that nobody else uses during the call.
unsafe fn run(module: LLVMModuleRef, request: Request) -> Result<(), String> {
    // Safety (all arms): the caller's promise.
    match request {
        Request::Capture { descriptor } => unsafe { capture::capture(module, descriptor) },
        Request::Traced => unsafe { instrument(module, Mode::Traced) },
        Request::Covered => unsafe { instrument(module, Mode::Covered) },
        Request::Checked => {
            unsafe { checked::mark(module) };
            Ok(())
        }
    }
}

/// # Safety
/// As for [`run`].
unsafe fn instrument(module: LLVMModuleRef, mode: Mode) -> Result<(), String> {
    // Safety: the caller's promise.
    unsafe {
        module::allow_optimisation(module);
        let records =
            parallax_instrument::instrument(module, mode).map_err(|error| error.to_string())?;
        module::embed(module, &records);
    }
    Ok(())
}
