#' Expected alignment
#'
#' Which points of two series go together: E, an n x m matrix whose entry (i, j) is the probability
#' that a path passes through (i, j), where each path weighs exp(-cost / gamma). It is the
#' gradient of [softdtw()] with respect to the matrix of costs. With `gamma = 0` it is 1 on the one
#' best path and 0 elsewhere (ties: diagonal first, then the step in `x`, then in `y`).
#'
#' The entries lie between 0 and 1. A row's sum is the expected number of points of `y` that this
#' point of `x` is matched with, at least 1; both corners are 1.
#'
#' @param x,y One series each: a numeric vector, a matrix (time x dimension), `ts`, `zoo`, `xts`, or
#'   a set of one.
#' @inheritParams softdtw
#'
#' @returns A list of class `softdtw_alignment`:
#'   * `value`: the soft-DTW value, in the unit of the cost;
#'   * `alignment`: E, a matrix with a row for each time step of `x` and a column for each of `y`
#'     (`NA` at steps that `na = "omit"` left out);
#'   * `x`, `y`: the series (class `softdtw_series`), absent from `softdtw_cost()`;
#'   * `gamma`, `cost`, `window`: as given (`cost` is `"matrix"` from `softdtw_cost()`).
#'
#' @seealso [softdtw_cost()] for any other cost,
#'   [plot()][plot.softdtw_alignment] and the other methods.
#'
#' @inheritSection softdtw-package Errors
#' @inherit softdtw references
#'
#' @examples
#' softdtw_threads(2)
#' x <- c(0, 0, 1, 2, 1, 0)
#' y <- c(0, 1, 2, 2, 1, 0, 0)
#' a <- softdtw_alignment(x, y, gamma = 0.1)
#' a
#' round(as.matrix(a), 2)
#' plot(a)
#' @export
softdtw_alignment <- function(x, y, gamma = 1,
                              cost = c("sqeuclidean", "euclidean", "manhattan", "cosine"),
                              window = NULL, na = c("error", "omit", "interpolate"),
                              backend = getOption("softdtw.backend", "auto"),
                              precision = c("double", "single"), threads = NULL,
                              progress = getOption("softdtw.progress", FALSE)) {
  cost <- check_cost(cost)
  opts <- new_options(gamma, cost, window, threads, progress, backend, precision)
  x <- check_lone(as_one(x, "x", na), "x")
  y <- check_lone(as_one(y, "y", na), "y")
  check_pair(x, y, opts, matched = TRUE)
  check_alignment_memory(x$lengths, y$lengths)
  opts <- choose_for_pairs(opts, x, y)
  found <- .Call(ffi_alignment, x, y, opts)
  new_alignment(found$value, fill_alignment(found$alignment, x, y), opts$gamma, cost, window, x, y)
}

check_lone <- function(x, arg) {
  if (length(x) != 1L) {
    stop_softdtw("count", sprintf(
      "`%s` must be one series, not a set of %s: an alignment is of one pair.",
      arg, big_number(length(x))
    ), counts = length(x))
  }
  x
}

check_alignment_memory <- function(n, m) {
  check_memory(
    as.double(n) * m, sprintf("An alignment of %s x %s", big_number(n), big_number(m)),
    "softdtw_grad() needs no matrix."
  )
}

new_alignment <- function(value, alignment, gamma, cost, window, x = NULL, y = NULL) {
  structure(
    list(
      value = value, alignment = alignment, gamma = gamma, cost = cost, window = window,
      x = x, y = y
    ),
    class = "softdtw_alignment"
  )
}

# Rows and columns of NA at the steps that were left out.
fill_alignment <- function(alignment, x, y) {
  rows <- x$kept$steps[[1L]]
  columns <- y$kept$steps[[1L]]
  if (is.null(rows) && is.null(columns)) {
    return(alignment)
  }
  n <- if (is.null(rows)) nrow(alignment) else x$kept$full[1L]
  m <- if (is.null(columns)) ncol(alignment) else y$kept$full[1L]
  whole <- matrix(NA_real_, n, m)
  whole[
    if (is.null(rows)) seq_len(n) else rows,
    if (is.null(columns)) seq_len(m) else columns
  ] <- alignment
  whole
}

#' Soft-DTW from a matrix of costs
#'
#' Value and expected alignment for costs that the user supplies, where none of the costs that
#' [softdtw()] offers is the right one.
#'
#' The derivative of the value with respect to a parameter of the costs is `sum(E * dcost)`, where
#' `dcost` is the matrix of derivatives of the costs.
#'
#' @param cost Numeric matrix, n x m: the cost of point i of one series against point j of the
#'   other. Finite, of any sign.
#' @inheritParams softdtw
#'
#' @returns A list of class `softdtw_alignment` as [softdtw_alignment()] returns it, without the
#'   series: `value` in the unit of the costs, and `alignment`, the matrix E (n x m, with the
#'   dimension names of `cost`), which is the gradient of the value with respect to `cost`.
#'
#' @inheritSection softdtw-package Errors
#' @inherit softdtw references
#'
#' @examples
#' softdtw_threads(2)
#' x <- c(0, 0, 1, 2, 1, 0)
#' y <- c(0, 1, 2, 2, 1, 0, 0)
#' a <- softdtw_cost(abs(outer(x, y, "-"))^1.5, gamma = 0.1)
#' a$value
#' round(a$alignment, 2)
#' @export
softdtw_cost <- function(cost, gamma = 1, window = NULL,
                         backend = getOption("softdtw.backend", "auto"),
                         precision = c("double", "single"), threads = NULL,
                         progress = getOption("softdtw.progress", FALSE)) {
  opts <- new_options(gamma, "sqeuclidean", window, threads, progress, backend, precision)
  labels <- check_cost_matrix(cost)
  D <- matrix(as.double(cost), nrow(cost))
  n <- nrow(D)
  m <- ncol(D)
  if (opts$window == 0 && n != m && min(n, m) > 1L) {
    stop_softdtw("window", sprintf(
      paste(
        "`window` = 0 leaves no path between unequal lengths: `cost` is %d x %d.",
        "Use a window of at least 1."
      ), n, m
    ))
  }
  check_total(max(abs(range(D))) * (as.double(n) + m), as.double(n) + m, opts,
    "The entries of `cost`"
  )
  check_alignment_memory(n, m)
  opts <- choose_backend(opts, length(D), length(D))
  unit <- if (opts$single) unit_of_costs(D, opts$gamma) else 1
  scaled <- opts
  scaled$gamma <- opts$gamma / unit
  found <- .Call(ffi_cost, if (unit == 1) D else D / unit, scaled)
  dimnames(found$alignment) <- labels
  new_alignment(unit * found$value, found$alignment, opts$gamma, "matrix", window)
}

# Singles end at 2^-126 and 2^128. Costs that may leave them are taken in units of a power of two,
# which changes no digit; C does so with points. What is far below gamma need not be kept.
unit_of_costs <- function(D, gamma, ease = 2^16) {
  largest <- max(abs(range(D)), gamma * 2^-100)
  if (largest == 0 || (largest >= 1 / ease && largest <= ease)) 1 else 2^floor(log2(largest))
}

check_cost_matrix <- function(cost) {
  if (!is.matrix(cost) || is.object(cost) || !is_numeric_like(cost)) {
    if (!is.matrix(cost) || length(cost) > 0L) {
      stop_softdtw("type", sprintf(
        "`cost` must be a numeric matrix (points of one series x points of the other), not %s.",
        describe(cost)
      ), argument = "cost")
    }
  }
  if (length(cost) == 0L) {
    stop_softdtw("empty", sprintf(
      "`cost` is empty: %d x %d, and at least one row and column are needed.",
      nrow(cost), ncol(cost)
    ), argument = "cost")
  }
  if (!all(is.finite(range(cost)))) {
    at <- match(FALSE, is.finite(cost))
    row <- (at - 1) %% nrow(cost) + 1
    column <- (at - 1) %/% nrow(cost) + 1
    stop_softdtw(if (is.na(cost[at])) "missing" else "infinite", sprintf(
      "`cost` has a value that is not finite (%s) in row %s, column %s.",
      cost[at], big_number(row), big_number(column)
    ), argument = "cost", position = c(row, column))
  }
  dimnames(cost)
}

# methods --------------------------------------------------------------------------------------

#' Methods for expected alignments
#'
#' `plot()` draws the shares as a heat map with the series on its margins: `x` below, with time from
#' left to right, and `y` on the left, with time from bottom to top. Several dimensions are drawn as
#' several lines. `summary()` reads off the path of largest shares. `as.matrix()` gives E itself and
#' `as.data.frame()` its entries in long form.
#'
#' @param x,object A `softdtw_alignment`.
#' @param xlab,ylab Labels of the time axes; `NULL` for "Time of x" and "Time of y", or "Row" and
#'   "Column" of a matrix of costs.
#' @param main Title, `""` for none.
#' @param row.names,optional Unused; the generic asks for them.
#' @param min_share Entries below it are left out of the data frame.
#' @param ... Unused.
#'
#' @returns `print()` and `plot()`: `x`, invisibly. `as.matrix()`: the matrix E. `as.data.frame()`:
#'   a data frame with the columns `i` and `j` (time steps of `x` and `y`) and `share`. `summary()`:
#'   a list of class `summary.softdtw_alignment` with `value`, `size`, `path` (a data frame as
#'   above) and `expected_length`, the sum of E, which is the expected number of cells on a path.
#'
#' @examples
#' softdtw_threads(2)
#' a <- softdtw_alignment(c(0, 0, 1, 2, 1, 0), c(0, 1, 2, 2, 1, 0, 0), gamma = 0.1)
#' summary(a)
#' head(as.data.frame(a, min_share = 0.01))
#' plot(a)
#' @name softdtw_alignment-methods
NULL

#' @rdname softdtw_alignment-methods
#' @export
print.softdtw_alignment <- function(x, ...) {
  cat(alignment_title(x), "\n", sep = "")
  cat(sprintf(
    "%d x %d time steps, value %s\n", nrow(x$alignment), ncol(x$alignment),
    format(x$value, digits = 6L)
  ))
  invisible(x)
}

alignment_title <- function(x) {
  window <- if (!is.null(x$window)) sprintf(", window = %s", big_number(x$window)) else ""
  cost <- if (x$cost %in% c("sqeuclidean", "matrix")) "" else sprintf(", cost = %s", x$cost)
  if (x$gamma == 0) {
    return(paste0("DTW alignment (gamma = 0", cost, window, ")"))
  }
  sprintf("Soft-DTW alignment (gamma = %s%s%s)", format(x$gamma, digits = 4L), cost, window)
}

#' @rdname softdtw_alignment-methods
#' @export
summary.softdtw_alignment <- function(object, ...) {
  E <- object$alignment
  rows <- which(rowSums(!is.na(E)) > 0)
  columns <- which(colSums(!is.na(E)) > 0)
  E <- E[rows, columns, drop = FALSE]
  path <- largest_path(E)
  structure(
    list(
      title = alignment_title(object),
      value = object$value,
      size = dim(object$alignment),
      path = data.frame(i = rows[path[, 1L]], j = columns[path[, 2L]], share = E[path]),
      expected_length = sum(E)
    ),
    class = "summary.softdtw_alignment"
  )
}

# The cells with the largest share met from the far corner back: a reading of E as one path.
largest_path <- function(E) {
  i <- nrow(E)
  j <- ncol(E)
  cells <- matrix(0L, i + j - 1L, 2L)
  last <- nrow(cells)
  cells[last, ] <- c(i, j)
  while (i > 1L || j > 1L) {
    ahead <- rbind(c(i - 1L, j - 1L), c(i - 1L, j), c(i, j - 1L))
    ahead <- ahead[ahead[, 1L] > 0L & ahead[, 2L] > 0L, , drop = FALSE]
    step <- ahead[which.max(E[ahead]), ]
    i <- step[1L]
    j <- step[2L]
    last <- last - 1L
    cells[last, ] <- step
  }
  cells[last:nrow(cells), , drop = FALSE]
}

#' @rdname softdtw_alignment-methods
#' @export
print.summary.softdtw_alignment <- function(x, ...) {
  cat(x$title, "\n", sep = "")
  cat(sprintf("Time steps:            %d x %d\n", x$size[1L], x$size[2L]))
  cat(sprintf("Value:                 %s\n", format(x$value, digits = 6L)))
  cat(sprintf("Expected path length:  %s\n", format(x$expected_length, digits = 4L)))
  cat(sprintf(
    "Path of largest shares: %d cells, shares %s to %s\n", nrow(x$path),
    format(min(x$path$share), digits = 2L), format(max(x$path$share), digits = 2L)
  ))
  invisible(x)
}

#' @rdname softdtw_alignment-methods
#' @export
as.matrix.softdtw_alignment <- function(x, ...) x$alignment

#' @rdname softdtw_alignment-methods
#' @export
as.data.frame.softdtw_alignment <- function(x, row.names = NULL, optional = FALSE, ...,
                                            min_share = 0) {
  check_dots(...)
  E <- x$alignment
  at <- which(!is.na(E) & E >= min_share)
  data.frame(
    i = as.integer((at - 1) %% nrow(E) + 1),
    j = as.integer((at - 1) %/% nrow(E) + 1),
    share = E[at]
  )
}

# plot -----------------------------------------------------------------------------------------

#' @rdname softdtw_alignment-methods
#' @export
plot.softdtw_alignment <- function(x, xlab = NULL, ylab = NULL, main = alignment_title(x), ...) {
  check_dots(...)
  has_series <- !is.null(x$x)
  xlab <- if (is.null(xlab)) if (has_series) "Time of x" else "Row" else xlab
  ylab <- if (is.null(ylab)) if (has_series) "Time of y" else "Column" else ylab
  rows <- alignment_axis(x$x, nrow(x$alignment))
  columns <- alignment_axis(x$y, ncol(x$alignment))
  old <- graphics::par(no.readonly = TRUE)
  on.exit({
    graphics::layout(1)
    graphics::par(old)
  })
  graphics::par(oma = c(0.2, 0.2, if (nzchar(main)) 2.2 else 0.5, 0.2), mgp = c(2.2, 0.6, 0),
    tcl = -0.3, las = 1L
  )
  if (has_series) {
    # y, heat map and scale over a free corner and x.
    graphics::layout(rbind(c(2, 1, 4), c(5, 3, 0)), widths = c(3.2, 7, 1.4), heights = c(7, 3))
    draw_shares(x$alignment, rows, columns, margins = c(0.4, 0.4, 0.2, 0.4))
    draw_margin(x$y, columns, ylab, upright = TRUE)
    draw_margin(x$x, rows, xlab, upright = FALSE)
    draw_share_scale(c(0.4, 0.6, 0.2, 2.8))
    draw_dimension_key(x$x)
  } else {
    graphics::layout(rbind(1:2), widths = c(7, 1.4))
    draw_shares(x$alignment, rows, columns, margins = c(4, 4.2, 0.2, 0.4))
    draw_time_axis(rows, 1L)
    draw_time_axis(columns, 2L)
    graphics::title(xlab = xlab, ylab = ylab)
    draw_share_scale(c(4, 0.6, 0.2, 2.8))
  }
  graphics::mtext(main, side = 3L, line = 0.4, outer = TRUE, font = 2L)
  invisible(x)
}

# Where the n steps of one side lie: the series' own times where they rise, else 1..n; and the edges
# of the cells around them.
alignment_axis <- function(series, n) {
  times <- if (is.null(series)) seq_len(n) else index_times(index_of(series, 1L), n)
  at <- suppressWarnings(as.numeric(times))
  if (anyNA(at) || any(diff(at) <= 0)) {
    times <- at <- seq_len(n)
  }
  half <- diff(at) / 2
  ends <- if (n > 1L) c(half[1L], half[n - 1L]) else c(0.5, 0.5)
  list(times = times, at = at, edges = c(at[1L] - ends[1L], at[-n] + half, at[n] + ends[2L]))
}

# Steps of colour go with the root of a share, or else alignments blurred by a large gamma would be
# too pale to see; the scale beside the map shows which colour is which.
share_breaks <- (0:100 / 100)^2
share_colours <- function() c("white", grDevices::hcl.colors(99L, "Blues 3", rev = TRUE))

draw_shares <- function(E, rows, columns, margins) {
  graphics::par(mar = margins)
  small <- thin_shares(E, rows$edges, columns$edges)
  graphics::plot.new()
  graphics::plot.window(range(rows$edges), range(columns$edges), xaxs = "i", yaxs = "i")
  graphics::rect(min(rows$edges), min(columns$edges), max(rows$edges), max(columns$edges),
    col = "grey85", border = NA
  )
  graphics::image(small$x, small$y, small$E,
    breaks = share_breaks, col = share_colours(), add = TRUE,
    useRaster = is_regular(small$x) && is_regular(small$y) &&
      identical(grDevices::dev.capabilities("rasterImage")$rasterImage, "yes")
  )
  graphics::box()
}

# Cells of one size may be drawn as one picture, far smaller in a file than as many rectangles.
is_regular <- function(edges) {
  widths <- diff(edges)
  max(widths) - min(widths) <= 1e-6 * max(widths)
}

# No screen shows more than some hundred cells a side: larger blocks show their largest share, so
# that a thin path stays whole.
thin_shares <- function(E, x, y, most = 500L) {
  rows <- block_starts(nrow(E), most)
  columns <- block_starts(ncol(E), most)
  if (length(rows) < nrow(E) || length(columns) < ncol(E)) {
    last_row <- c(rows[-1L] - 1L, nrow(E))
    last_column <- c(columns[-1L] - 1L, ncol(E))
    E <- vapply(seq_along(columns), \(j) {
      strip <- do.call(pmax, c(lapply(columns[j]:last_column[j], \(k) E[, k]), na.rm = TRUE))
      vapply(seq_along(rows), \(i) largest_or_na(strip[rows[i]:last_row[i]]), 0)
    }, double(length(rows)))
    E <- matrix(E, length(rows))
  }
  # The exact 1 of both corners may come out a rounding above it.
  E[] <- pmin(E, 1)
  list(E = E, x = x[c(rows, length(x))], y = y[c(columns, length(y))])
}

block_starts <- function(n, most) {
  if (n <= most) seq_len(n) else unique(floor(seq(1, n + 1, length.out = most + 1L)[-(most + 1L)]))
}

largest_or_na <- function(v) if (all(is.na(v))) NA_real_ else max(v, na.rm = TRUE)

# One series beside the heat map, its times along the map's side.
draw_margin <- function(series, axis, label, upright) {
  values <- full_values(series)
  colours <- dimension_colours(series$d)
  along <- range(axis$edges)
  across <- grDevices::extendrange(range(values, na.rm = TRUE))
  graphics::par(mar = if (upright) c(0.4, 5.2, 0.2, 0.3) else c(4, 0.4, 0.3, 0.4))
  graphics::plot.new()
  # On the left the values grow away from the map, so that both series face it alike.
  if (upright) {
    graphics::plot.window(rev(across), along, xaxs = "i", yaxs = "i")
  } else {
    graphics::plot.window(along, across, xaxs = "i", yaxs = "i")
  }
  for (k in seq_len(series$d)) {
    if (upright) {
      draw_margin_line(values[, k], axis$at, colours[k])
    } else {
      draw_margin_line(axis$at, values[, k], colours[k])
    }
  }
  graphics::box(col = "grey60")
  draw_time_axis(axis, if (upright) 2L else 1L)
  graphics::mtext(label, side = if (upright) 2L else 1L, line = if (upright) 4 else 2.3,
    las = 0L, cex = 0.85
  )
  # The values' own axis stands in the free cell next to the panel.
  ticks <- pretty(values, 4L)
  graphics::axis(if (upright) 1L else 4L,
    at = ticks[ticks >= across[1L] & ticks <= across[2L]], cex.axis = 0.8, xpd = NA, col = "grey60"
  )
}

# Numbers of steps are whole; dates and date-times have an axis of their own kind.
draw_time_axis <- function(axis, side) {
  if (!is.integer(axis$times)) {
    return(graphics::Axis(axis$times, side = side))
  }
  at <- pretty(axis$at)
  graphics::axis(side, at = at[at == round(at) & at >= 1 & at <= length(axis$at)])
}

draw_margin_line <- function(x, y, colour) {
  graphics::lines(x, y, col = colour, lwd = 2)
  if (length(x) <= 40L) {
    graphics::points(x, y, col = colour, pch = 19, cex = 0.7)
  }
}

# T x d with NA at the steps that were left out.
full_values <- function(series) {
  m <- series_matrix(series, 1L)
  steps <- series$kept$steps[[1L]]
  if (is.null(steps)) {
    return(m)
  }
  whole <- matrix(NA_real_, series$kept$full[1L], series$d)
  whole[steps, ] <- m
  whole
}

dimension_colours <- function(d) {
  if (d <= 4L) {
    return(unname(plot_colours[c("bold", "other", "green", "yellow")][seq_len(d)]))
  }
  grDevices::hcl.colors(d, "Dark 3")
}

draw_share_scale <- function(margins) {
  graphics::par(mar = margins)
  graphics::plot.new()
  graphics::plot.window(c(0, 1), c(0, 1), xaxs = "i", yaxs = "i")
  middles <- (share_breaks[-1L] + share_breaks[-length(share_breaks)]) / 2
  graphics::image(c(0, 1), share_breaks, matrix(middles, 1L),
    breaks = share_breaks, col = share_colours(), add = TRUE
  )
  graphics::box()
  graphics::axis(4L)
  graphics::mtext("share", side = 3L, line = 0.1, cex = 0.7, las = 0L)
}

# The names of the dimensions, in the free corner.
draw_dimension_key <- function(series) {
  graphics::par(mar = c(0.2, 0.2, 0.2, 0.2))
  graphics::plot.new()
  if (series$d > 1L && series$d <= 8L) {
    graphics::legend("center", dim_labels(series),
      col = dimension_colours(series$d), lwd = 2, bty = "n", cex = 0.9
    )
  }
}
