# Checks of arguments. Each returns the value in the form that C takes, or stops. All of them run
# before any long work starts.

cost_names <- c("sqeuclidean", "euclidean", "manhattan", "cosine")

# The kernels work in base 2 with the exponent in a double: a path's cost in units of gamma ln 2
# must stay well inside what a double counts exactly in steps (design: 2^1000).
largest_exponent <- 2^1000
# In single precision one over gamma, in units of the costs, is a single too. The costs themselves
# may have any size: kernels work on points (softdtw_cost(): on costs) of a size near 1.
largest_exponent_single <- 2^90

# Sums of up to three values are formed from results (divergences), hence the factor.
largest_value <- .Machine$double.xmax / 4

# More threads than any machine has cores: beyond this the thread library aborts the R process.
most_threads <- 1024L

# scalars -------------------------------------------------------------------------------------

is_number <- function(x) {
  is.numeric(x) && !is.object(x) && length(x) == 1L && !is.na(x)
}

is_whole <- function(x) is_number(x) && is.finite(x) && x == round(x)

# What was given instead, short enough for a message.
show_value <- function(x) {
  if (!is.atomic(x) || is.null(x) || is.object(x) || !is.null(dim(x))) {
    return(describe(x))
  }
  if (length(x) != 1L) {
    return(sprintf("a %s vector of length %d", mode(x), length(x)))
  }
  if (is.character(x)) sprintf("\"%s\"", x) else format(x, digits = 7L)
}

stop_argument <- function(arg, right, value) {
  stop_softdtw("argument", sprintf("`%s` must be %s, not %s.", arg, right, show_value(value)),
    argument = arg
  )
}

check_gamma <- function(gamma, arg = "gamma") {
  if (!is_number(gamma) || !is.finite(gamma) || gamma < 0) {
    stop_argument(arg, "one finite number, 0 (hard DTW) or larger", gamma)
  }
  if (gamma > 0 && gamma < .Machine$double.xmin) {
    stop_argument(arg, sprintf("0 or at least %.4g", .Machine$double.xmin), gamma)
  }
  as.double(gamma)
}

check_whole <- function(x, arg, from, to = Inf) {
  if (!is_whole(x) || x < from || x > to) {
    range <- if (is.finite(to)) {
      sprintf("from %s to %s", big_number(from), big_number(to))
    } else {
      sprintf(">= %s", big_number(from))
    }
    stop_argument(arg, paste("one whole number", range), x)
  }
  x
}

# -1 says "no window" to C. A window as wide as the shorter series allows every cell, so a huge one
# is cut to keep products of lengths inside 64 bits.
check_window <- function(window) {
  if (is.null(window)) {
    return(-1)
  }
  if (!is_whole(window) || window < 0) {
    stop_argument("window", "NULL (none) or one whole number of time steps >= 0", window)
  }
  min(as.double(window), .Machine$integer.max)
}

check_threads <- function(threads) {
  if (is.null(threads)) {
    return(.Call(ffi_threads, NULL))
  }
  if (!is_whole(threads) || threads < 1 || threads > most_threads) {
    right <- sprintf("NULL or one whole number from 1 to %d", most_threads)
    stop_argument("threads", right, threads)
  }
  as.integer(threads)
}

check_flag <- function(x, arg) {
  if (!is.logical(x) || length(x) != 1L || is.na(x)) {
    stop_argument(arg, "TRUE or FALSE", x)
  }
  x
}

# The default of such an argument is the vector of its choices, whose first is meant.
check_choice <- function(value, choices, arg) {
  if (identical(value, choices)) {
    return(choices[1L])
  }
  found <- if (is.character(value) && length(value) == 1L) pmatch(value, choices) else NA
  if (is.na(found)) {
    right <- paste0("one of ", paste0("\"", choices, "\"", collapse = ", "))
    if (arg == "cost" && is.matrix(value)) {
      right <- paste0(right, " (softdtw_cost() takes a matrix)")
    }
    stop_argument(arg, right, value)
  }
  choices[found]
}

check_cost <- function(cost) check_choice(cost, cost_names, "cost")

check_type <- function(type, choices = c("softdtw", "divergence")) {
  check_choice(type, choices, "type")
}

check_na <- function(na) check_choice(na, c("error", "omit", "interpolate"), "na")

check_dots <- function(...) {
  if (...length() == 0L) {
    return(invisible())
  }
  given <- names(list(...))
  given <- given[nzchar(given)]
  stop_softdtw("argument", if (length(given)) {
    sprintf("Unknown argument%s: %s.", if (length(given) > 1L) "s" else "", ticked(given))
  } else {
    "An unnamed argument too many was given."
  })
}

ticked <- function(x) paste0("`", x, "`", collapse = ", ")

# options handed to C ------------------------------------------------------------------------

new_options <- function(gamma = 1, cost = cost_names, window = NULL, threads = NULL,
                        progress = FALSE, backend = "auto", precision = "double",
                        label = "soft-DTW") {
  c(list(
    gamma = check_gamma(gamma),
    cost = match(check_cost(cost), cost_names) - 1L,
    window = check_window(window),
    threads = check_threads(threads),
    isa = check_isa(getOption("softdtw.isa")),
    progress = new_progress(progress, label)
  ), backend_options(backend, precision))
}

check_isa <- function(isa) {
  if (is.null(isa)) {
    return(NULL)
  }
  usable <- .Call(ffi_info)$isas
  if (!is.character(isa) || length(isa) != 1L || !isa %in% usable) {
    stop_argument(
      "options(softdtw.isa)",
      paste("NULL or one that this processor has:", paste0("\"", usable, "\"", collapse = ", ")),
      isa
    )
  }
  isa
}

# The same options with the bar off, for side calls whose share of the work is small.
without_progress <- function(opts) {
  opts["progress"] <- list(NULL)
  opts
}

# A function(fraction) that draws a bar on stderr, or NULL. The bar is opened at the first call,
# so a call that fails early or ends at once shows nothing.
new_progress <- function(progress = getOption("softdtw.progress", FALSE), label = "soft-DTW") {
  if (!check_flag(progress, "progress")) {
    return(NULL)
  }
  bar <- NULL
  function(fraction) {
    if (is.null(bar)) {
      cat(label, "\n", sep = "", file = stderr())
      bar <<- utils::txtProgressBar(style = 3L, file = stderr())
    }
    utils::setTxtProgressBar(bar, fraction)
    if (fraction >= 1) {
      close(bar)
      bar <<- NULL
    }
    invisible()
  }
}

# pairs of sets --------------------------------------------------------------------------------

# Sets pair one against one, one against many, or number by number.
check_counts <- function(x, y, arg_x = "x", arg_y = "y") {
  n <- length(x$lengths)
  m <- length(y$lengths)
  if (n != m && n != 1L && m != 1L) {
    stop_softdtw("count", sprintf(
      paste(
        "`%s` holds %s and `%s` holds %s: sets pair number by number, so the counts must be",
        "equal or one of them 1 (softdtw_matrix() compares all with all)."
      ),
      arg_x, plural(n, "series", "series"), arg_y, big_number(m)
    ), counts = c(n, m))
  }
  max(n, m)
}

# `matched`: the pairs are number by number (or one against many), not all with all.
check_pair <- function(x, y, opts, arg_x = "x", arg_y = "y", matched = FALSE,
                       type = "softdtw") {
  check_dimensions(x, y, arg_x, arg_y)
  check_path(x, y, opts$window, arg_x, arg_y, matched)
  check_range(x, y, opts, arg_x, arg_y)
  if (type == "divergence") {
    check_range(x, x, opts, arg_x, arg_x)
    check_range(y, y, opts, arg_y, arg_y)
  }
  if (cost_names[opts$cost + 1L] == "cosine") {
    check_directions(x, arg_x)
    check_directions(y, arg_y)
  }
  invisible()
}

check_dimensions <- function(x, y, arg_x, arg_y) {
  if (x$d != y$d) {
    stop_softdtw("dimension", sprintf(
      "`%s` and `%s` must have the same number of dimensions (columns): `%s` has %d, `%s` has %d.",
      arg_x, arg_y, arg_x, x$d, arg_y, y$d
    ), dimensions = c(x$d, y$d))
  }
  if (is_reordered(x$dim_names, y$dim_names)) {
    stop_softdtw("dimension", sprintf(
      "`%s` and `%s` have the same dimensions in another order: %s and %s.",
      arg_x, arg_y, paste(x$dim_names, collapse = ", "), paste(y$dim_names, collapse = ", ")
    ))
  }
}

# The same column names in another order are a mistake that would go unseen; other names are not.
is_reordered <- function(a, b) {
  !is.null(a) && !is.null(b) && !identical(a, b) && !anyDuplicated(a) && setequal(a, b)
}

# A window of 0 is the line through the corners: a path only between equal lengths or from a
# single step.
check_path <- function(x, y, window, arg_x, arg_y, matched) {
  if (window != 0) {
    return(invisible())
  }
  blocked <- if (matched) {
    blocked_match(x$lengths, y$lengths)
  } else {
    blocked_cross(x$lengths, y$lengths)
  }
  if (length(blocked)) {
    where <- c(series_of(arg_x, blocked[1L], x), series_of(arg_y, blocked[2L], y))
    stop_softdtw("window", sprintf(
      paste(
        "`window` = 0 leaves no path between series of unequal lengths: %s has %s and %s has %s.",
        "Use a window of at least 1."
      ),
      where[1L], plural(x$lengths[blocked[1L]], "step"),
      where[2L], plural(y$lengths[blocked[2L]], "step")
    ))
  }
}

# "series 3 of `x`", or "`x`" where that is one series.
series_of <- function(arg, i, set) {
  of <- if (!isTRUE(set$single)) paste(short_name(i, set$names), "of ")
  sprintf("%s`%s`", if (is.null(of)) "" else of, arg)
}

# Number (in x, in y) of the first pair without a path, or nothing.
blocked_match <- function(n, m) {
  pairs <- max(length(n), length(m))
  i <- rep_len(seq_along(n), pairs)
  j <- rep_len(seq_along(m), pairs)
  first <- which(n[i] != m[j] & n[i] > 1L & m[j] > 1L)[1L]
  if (is.na(first)) NULL else c(i[first], j[first])
}

blocked_cross <- function(n, m) {
  i <- which(n > 1L)[1L]
  if (is.na(i)) {
    return(NULL)
  }
  j <- which(m > 1L & m != n[i])[1L]
  if (!is.na(j)) {
    return(c(i, j))
  }
  # All of y have one length (or one step); then some series of x must differ from it.
  j <- which(m > 1L)[1L]
  i <- which(n > 1L & n != m[j])[1L]
  if (is.na(i)) NULL else c(i, j)
}

# The largest cost of any cell, from each dimension's range alone: O(dimensions), no cell is looked
# at. Inf where it is no double.
largest_cost <- function(x, y, cost) {
  reach <- pmax(x$upper - y$lower, y$upper - x$lower)
  switch(cost,
    sqeuclidean = sum(reach^2),
    # The largest part is taken out first: C sees to it that no square overflows under the root.
    euclidean = if (max(reach) > 0) max(reach) * sqrt(sum((reach / max(reach))^2)) else 0,
    manhattan = sum(reach),
    # Half a squared distance of unit vectors.
    cosine = 2
  )
}

check_range <- function(x, y, opts, arg_x = "x", arg_y = "y") {
  steps <- as.double(max(x$lengths)) + max(y$lengths)
  total <- largest_cost(x, y, cost_names[opts$cost + 1L]) * steps
  between <- if (arg_x == arg_y) {
    sprintf("The values in `%s`", arg_x)
  } else {
    sprintf("The values in `%s` and `%s`", arg_x, arg_y)
  }
  check_total(total, steps, opts, between)
}

# `total` bounds the cost of any path. Names the smallest gamma that works, where one does.
check_total <- function(total, steps, opts, what) {
  gamma <- opts$gamma
  exponent <- if (isTRUE(opts$single)) largest_exponent_single else largest_exponent
  if (!(total <= largest_value)) {
    stop_softdtw("range", paste(
      what, "are too large: their costs overflow a double, at any `gamma`. Rescale them."
    ))
  }
  if (gamma * log(3) * steps > largest_value) {
    stop_softdtw("range", sprintf(
      "`gamma` = %s is too large for %s: the value would overflow. Use at most %.3g.",
      show_value(gamma), plural(steps, "time step"), largest_value / log(3) / steps
    ))
  }
  if (gamma > 0 && total > exponent * log(2) * gamma) {
    # Rounded up, so that the figure itself works.
    smallest <- total / (exponent * log(2)) * 1.001
    stop_softdtw("range", sprintf(
      paste(
        "%s are too large for `gamma` = %s: costs in units of gamma overflow.",
        "The smallest gamma that works here is %.4g (0 is hard DTW)."
      ),
      what, show_value(gamma), smallest
    ), smallest = smallest)
  }
  invisible()
}

# Slopes of a direction go with one over the length of the vector: below this they overflow.
smallest_vector <- 2^-1000

# "cosine" compares directions, which a zero vector does not have.
check_directions <- function(x, arg) {
  size <- abs(x$values)
  if (x$d > 1L) {
    dim(size) <- c(x$d, length(size) / x$d)
    size <- colSums(size)
  }
  step <- match(TRUE, size < smallest_vector)
  if (!is.na(step)) {
    at <- locate_step(x$lengths, step)
    what <- if (size[step] == 0) {
      c("a zero vector", "which has no direction")
    } else {
      c("too small a vector", "whose direction has no finite slope")
    }
    stop_softdtw("zero_vector", sprintf(
      "%s is %s at time step %s, %s for cost = \"cosine\".",
      name_series(arg, if (!isTRUE(x$single)) at$series, x$names), what[1L], big_number(at$time),
      what[2L]
    ), series = at$series, position = at$time)
  }
}

# memory ---------------------------------------------------------------------------------------

# Stops when a result of `count` numbers cannot fit this machine, before any work.
check_memory <- function(count, what, instead, bytes_each = 8) {
  memory <- .Call(ffi_memory)
  needed <- count * bytes_each
  if (!is.na(memory) && needed > memory) {
    stop_softdtw("memory", sprintf(
      "%s needs %s of memory, but this machine has %s. %s",
      what, gibibytes(needed), gibibytes(memory), instead
    ), needed = needed, memory = memory)
  }
  invisible()
}

gibibytes <- function(bytes) {
  size <- bytes / 2^30
  digits <- if (size < 10) 1L else 0L
  paste(formatC(size, format = "f", digits = digits, big.mark = ","), "GiB")
}
