.onUnload <- function(libpath) { # nocov start
  library.dynam.unload("softdtw", libpath)
} # nocov end
