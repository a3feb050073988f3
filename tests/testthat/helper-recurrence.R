# The recurrence as a plain loop, and the coefficients of fixtures/make-recurrence.py.

loop_recurrence <- function(a, b, x0 = 0, reverse = FALSE) {
  n <- max(length(a), length(b))
  a <- rep_len(a, n)
  b <- rep_len(b, n)
  x <- double(n)
  last <- x0
  for (t in if (reverse) rev(seq_len(n)) else seq_len(n)) {
    x[t] <- last <- a[t] * last + b[t]
  }
  x
}

# Where the processor's blocks all take the loop, it gives the loop's very bits; the shorter ones of
# a device need not.
expect_loop <- function(object, want) {
  if (test_backend == "cuda") {
    expect_within(object, want, 1e-12 * abs(want))
  } else {
    expect_identical(object, want)
  }
}

# By columns, for a matrix.
loop_columns <- function(a, b, x0, reverse = FALSE) {
  vapply(seq_len(ncol(a)), \(k) loop_recurrence(a[, k], b[, k], x0[k], reverse), double(nrow(a)))
}

# z as list(log, sign)
logged <- function(z) list(log = log(abs(z)), sign = sign(z))

unlogged <- function(x) x$sign * exp(x$log)

reference_fraction <- function(t, factor, modulus) (t * factor) %% modulus / 2^20

reference_coefficients <- function(case, steps) {
  t <- as.double(seq_len(steps))
  u <- \() reference_fraction(t, 40503, 1048573)
  b <- \() reference_fraction(t, 30011, 1048571) - 0.5
  switch(case,
    smoothing = list(a = 1 - u() / 64, b = b()),
    signed = list(a = 2 * u() - 1, b = b()),
    wandering = list(a = 1 + (u() - 0.5) / 8, b = b()),
    growth = list(
      a = list(log = ((t * 409) %% 1021 - 500) / 64, sign = ifelse(t %% 7 == 0, -1, 1)),
      b = list(log = ((t * 211) %% 1021 - 500) / 64, sign = ifelse(t %% 5 == 0, -1, 1))
    )
  )
}

# Derivative of `f` by each element of x, by differences of fourth order.
differences <- function(f, x, step = 1e-3) {
  vapply(seq_along(x), \(i) {
    move <- \(by) {
      x[i] <- x[i] + by * step
      f(x)
    }
    (8 * (move(1) - move(-1)) - (move(2) - move(-2))) / (12 * step)
  }, 1)
}
