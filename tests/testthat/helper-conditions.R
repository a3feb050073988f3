# Snapshots of errors: each call with the class and the message of its error. Written out here, as
# the form in which expect_snapshot() shows errors differs between versions of testthat.

expect_error_snapshot <- function(block) {
  calls <- as.list(substitute(block))[-1L]
  errors <- lapply(calls, error_of, env = parent.frame())
  silent <- vapply(errors, is.null, NA)
  expect_identical(vapply(calls[silent], deparse1, ""), character(), label = "calls without error")
  report <- unlist(Map(describe_error, calls[!silent], errors[!silent]))
  expect_snapshot(writeLines(report))
}

error_of <- function(call, env) {
  tryCatch(
    {
      eval(call, env)
      NULL
    },
    error = identity
  )
}

describe_error <- function(call, error) {
  c(paste(">", deparse1(call)), paste0("<", class(error)[1L], "> ", conditionMessage(error)), "")
}
