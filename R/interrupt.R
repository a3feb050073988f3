# Called from C when the user has interrupted a computation: what R itself would have done, had the
# core not noticed first.
signal_interrupt <- function() {
  condition <- structure(
    class = c("interrupt", "condition"),
    list(message = "interrupted", call = NULL)
  )
  signalCondition(condition)
  invokeRestart("abort")
}
