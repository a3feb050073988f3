# Values to 60 digits from fixtures/make-reference.py, which shares no code with the package.

read_numbers <- function(text) as.double(strsplit(text, " ", fixed = TRUE)[[1]])

read_reference <- function(file) {
  utils::read.csv(
    test_path("fixtures", file),
    colClasses = "character", check.names = FALSE
  )
}

# one row of reference.csv as a problem with its answers
reference_case <- function(row) {
  d <- as.integer(row$d)
  scale <- 2^as.double(row$scale)
  shape <- function(text) {
    m <- matrix(read_numbers(text), ncol = d, byrow = TRUE)
    if (d == 1L) m[, 1] else m
  }
  x <- scale * shape(row$x)
  y <- scale * shape(row$y)
  list(
    note = row$note, x = x, y = y, gamma = as.double(row$gamma), cost = row$cost,
    window = if (nzchar(row$window)) as.double(row$window),
    n = NROW(x), m = NROW(y), d = d,
    value = as.double(row$value), divergence = as.double(row$divergence),
    E = matrix(read_numbers(row$E), NROW(x), byrow = TRUE),
    grad_x = shape(row$grad_x), grad_y = shape(row$grad_y)
  )
}

test_that("stored values, alignments, gradients and divergences come out", {
  rows <- read_reference("reference.csv")
  for (k in seq_len(nrow(rows))) {
    r <- reference_case(rows[k, ])
    got <- softdtw_grad(r$x, r$y, gamma = r$gamma, cost = r$cost, window = r$window)
    shares <- shares_of(r$x, r$y, gamma = r$gamma, cost = r$cost, window = r$window)
    tol <- share_tolerance(r$E, r$value, r$gamma, r$cost)
    slope <- largest_slope(r$x, r$y, r$cost)
    expect_within(
      got$value, r$value, value_tolerance(r$value, r$gamma, r$n, r$m, r$cost, 2e-15), r$note
    )
    expect_within(shares, r$E, tol, r$note)
    expect_within(got$grad_x, r$grad_x, slope * rep(rowSums(tol), r$d), r$note)
    expect_within(got$grad_y, r$grad_y, slope * rep(colSums(tol), r$d), r$note)
    expect_within(
      softdtw(r$x, r$y, gamma = r$gamma, cost = r$cost, window = r$window, type = "divergence"),
      r$divergence,
      value_tolerance(abs(r$value) + 2 * abs(r$divergence), r$gamma, r$n, r$m, r$cost, 1e-14),
      r$note
    )
  }
})

test_that("the plain-R reference agrees with the stored values too", {
  rows <- read_reference("reference.csv")
  for (k in seq_len(nrow(rows))) {
    r <- reference_case(rows[k, ])
    want <- ref_full(r$x, r$y, r$gamma, r$cost, r$window)
    expect_within(
      want$value, r$value, value_tolerance(r$value, r$gamma, r$n, r$m, r$cost), r$note
    )
    expect_within(want$E, r$E, table_tolerance(r$E, r$value, r$gamma, r$cost), r$note)
  }
})

# n x d numbers between -1 and 1, as wave() in make-reference.py
zigzag <- function(n, d, a = 37, b = 29, mod = 101) {
  s <- outer(seq_len(n) * a, (seq_len(d) - 1) * b, `+`)
  x <- (s %% mod - mod %/% 2) / 64
  if (d == 1) x[, 1] else x
}

test_that("long series come out, one pair alone and inside a set", {
  rows <- read_reference("reference-long.csv")
  for (k in seq_len(nrow(rows))) {
    r <- rows[k, ]
    n <- as.integer(r$n)
    m <- as.integer(r$m)
    d <- as.integer(r$d)
    x <- zigzag(n, d)
    y <- zigzag(m, d, 29, 31, 97)
    gamma <- as.double(r$gamma)
    window <- if (nzchar(r$window)) as.double(r$window)
    value <- as.double(r$value)
    got <- softdtw_grad(x, y, gamma = gamma, window = window)
    row <- function(g, i) if (d == 1) g[i] else g[i, ]
    tol <- value_tolerance(value, gamma, n, m, factor = 1e-15)
    expect_within(got$value, value, tol, "value")
    expect_within(softdtw(x, y, gamma = gamma, window = window), value, tol, "value only")
    expect_within(row(got$grad_x, 1), read_numbers(r$grad_x_first), 1e-12, "first of x")
    expect_within(row(got$grad_x, n %/% 2L), read_numbers(r$grad_x_middle), 1e-12, "middle of x")
    expect_within(row(got$grad_y, m), read_numbers(r$grad_y_last), 1e-12, "last of y")
    expect_identical(softdtw_matrix(list(y, x), list(x), gamma = gamma, window = window)[2, 1],
      softdtw(x, x, gamma = gamma, window = window))
  }
})
