.onUnload <- function(libpath) { # nocov start
  .Call(ffi_forget)
  library.dynam.unload("softdtw", libpath)
} # nocov end
