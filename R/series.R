# The class softdtw_series: one checked, packed set of series, which every function works on and
# whose fields C reads by name. read.R turns the users' forms into parts, this file seals them (gaps
# and ranges, in one pass over all values) and has the methods.

# as_series ------------------------------------------------------------------------------------

#' Sets of series
#'
#' Reads any accepted form into one checked, packed set of series. All functions of the package do
#' so with their arguments; done once and kept, it saves the checks and the packing in later calls,
#' and it is the way to read a long data frame.
#'
#' @section Forms:
#' * A list: each element one series (numeric vector, matrix time x dimension, `ts`, `zoo`, `xts`).
#'   Its names name the series.
#' * A numeric matrix: **one series a row**, as in [stats::dist()]. `NA` up to the end of a row
#'   means that the series is shorter. (Only [softdtw()], [softdtw_grad()], [softdtw_alignment()]
#'   and `init =` read a bare matrix as one series, time x dimension.)
#' * An array (series, time, dimension), with `NA` in all dimensions up to the end for a shorter
#'   series.
#' * A long data frame, a row for each time step: name its columns in `id`, `time` and `values`. A
#'   tsibble knows them.
#' * A numeric vector, `ts`, `zoo` or `xts`: a set of one series. A multivariate `ts`, `zoo` or
#'   `xts` is one series of several dimensions.
#'
#' Never accepted are factors, characters, logicals, complex numbers, dates, `integer64` and other
#' classed numbers, infinite values, empty series, and series of differing numbers of dimensions.
#'
#' @param x Series in one of the forms below.
#' @param id Names of the columns that tell the series apart.
#' @param time Name of the column to sort each series by, or `NULL` where the rows are in order.
#'   Only the order counts: gaps in time are not seen.
#' @param values Names of the columns of numbers, one a dimension; by default all other columns.
#' @inheritParams softdtw
#' @param ... Nothing: an unknown argument is an error.
#'
#' @returns An object of class `softdtw_series`. It holds plain R data, so it can be saved.
#'   `length()` is the number of series; `x[i]` is a set again; `x[[i]]` and `as.list()` give the
#'   series back in the form they came in, with their class and times. See [its
#'   methods][softdtw_series-methods].
#'
#' @inheritSection softdtw-package Errors
#'
#' @examples
#' as_series(list(a = c(1, 2, 3), b = c(2, 3)))
#' as_series(rbind(c(1, 2, 3), c(2, 3, NA)))
#'
#' chicks <- as_series(ChickWeight, id = "Chick", time = "Time", values = "weight")
#' chicks
#' softdtw_threads(2)
#' softdtw_knn(chicks, query = chicks["8"], k = 2)
#' @export
as_series <- function(x, ...) {
  UseMethod("as_series")
}

#' @rdname as_series
#' @export
as_series.default <- function(x, na = c("error", "omit", "interpolate"), ...) {
  check_dots(...)
  as_set(x, "x", na)
}

#' @rdname as_series
#' @export
as_series.softdtw_series <- function(x, ...) {
  check_dots(...)
  x
}

#' @rdname as_series
#' @export
as_series.data.frame <- function(x, id = NULL, time = NULL, values = NULL,
                                 na = c("error", "omit", "interpolate"), ...) {
  check_dots(...)
  na <- check_na(na)
  seal_series(read_frame(x, "x", id, time, values), "x", na)
}

# Reads x as ONE series where it is a bare vector, matrix (time x dimension), ts, zoo or xts.
# Lists, arrays and softdtw_series are sets. `single` tells which it was: a set's results are lists.
as_one <- function(x, arg = "x", na = "error") {
  na <- check_na(na)
  if (inherits(x, "softdtw_series")) {
    return(check_not_empty(x, arg))
  }
  if (is.data.frame(x)) {
    return(seal_series(read_frame(x, arg), arg, na))
  }
  if (is_list_of_series(x)) {
    return(seal_series(read_list(x, arg), arg, na))
  }
  if (is_cube(x)) {
    return(seal_series(read_array(x, arg), arg, na))
  }
  part <- read_series(x, arg)
  part$single <- TRUE
  seal_series(part, arg, na)
}

# Reads x as a SET: a bare matrix holds one series a row.
as_set <- function(x, arg = "x", na = "error") {
  na <- check_na(na)
  if (is.matrix(x) && !is.object(x) && is_numeric_like(x)) {
    return(seal_series(read_rows(x, arg), arg, na))
  }
  set <- as_one(x, arg, na)
  set$single <- FALSE
  set
}

check_not_empty <- function(x, arg) {
  if (length(x$lengths) == 0L) {
    stop_no_series(arg)
  }
  x
}

stop_no_series <- function(arg, what = "") {
  stop_softdtw("empty", sprintf(
    "`%s` is empty%s: it holds no series, and at least one is needed.", arg, what
  ))
}

stop_frame <- function(arg) {
  stop_softdtw("type", sprintf(
    paste(
      "`%s` is a data frame (data.frame), which can be read in several ways. Use",
      "as_series(%s, id =, time =, values =) where it is long (a row for each time step), or",
      "as.matrix(%s) where it is a matrix of numbers."
    ), arg, arg, arg
  ))
}

# sealing: gaps and ranges ---------------------------------------------------------------------

# Builds the softdtw_series from a part: everything that is checked on values is checked here, in
# one pass over all of them.
seal_series <- function(part, arg, na) {
  empty <- match(0L, part$lengths)
  if (!is.na(empty)) {
    stop_softdtw("empty", sprintf(
      "%s is empty: it has no time steps (zero length or rows), and at least 1 is needed.",
      name_series(arg, if (!isTRUE(part$single)) empty, part$names)
    ), series = empty)
  }
  range <- dimension_range(part$values, part$d)
  if (!all(is.finite(range))) {
    part <- treat_gaps(part, arg, na)
    range <- dimension_range(part$values, part$d)
  }
  new_series(part, range)
}

new_series <- function(part, range = dimension_range(part$values, part$d)) {
  flat <- part$flat
  indices <- part$indices
  shared <- shared_index(indices)
  structure(
    list(
      values = part$values,
      lengths = as.integer(part$lengths),
      d = as.integer(part$d),
      names = part$names,
      dim_names = part$dim_names,
      kind = if (all(flat)) "vector" else "matrix",
      index = shared,
      kept = part$kept,
      lower = range[1L, ],
      upper = range[2L, ],
      single = isTRUE(part$single),
      flat = if (any(flat) && !all(flat)) flat,
      # Of series that differ, each keeps its own.
      indices = if (is.null(shared) && !all(vapply(indices, is.null, NA))) indices
    ),
    class = "softdtw_series"
  )
}

# 2 x d: the smallest and the largest value of each dimension, NA or Inf where it has such.
dimension_range <- function(values, d) {
  .Call(ffi_range, values, d)
}

# Which time steps have a missing value in any (or all) of their dimensions.
gap_steps <- function(values, d, rule = any) {
  missing <- is.na(values)
  if (d == 1L) {
    return(missing)
  }
  dim(missing) <- c(d, length(values) / d)
  counts <- colSums(missing)
  if (identical(rule, all)) counts == d else counts > 0
}

# Series and time of the `step`-th time step of the whole set.
locate_step <- function(lengths, step) {
  ends <- cumsum(as.double(lengths))
  i <- findInterval(step - 1, ends) + 1L
  list(series = i, time = step - ends[i] + lengths[i])
}

treat_gaps <- function(part, arg, na) {
  infinite <- match(TRUE, is.infinite(part$values))
  if (!is.na(infinite)) {
    stop_at_value("infinite", infinite, part, arg)
  }
  if (na == "error") {
    stop_at_value("missing", match(TRUE, is.na(part$values)), part, arg)
  }
  if (na == "omit") omit_steps(part, arg) else interpolate_gaps(part, arg)
}

stop_at_value <- function(class, at, part, arg) {
  d <- part$d
  where <- locate_step(part$lengths, (at - 1) %/% d + 1)
  value <- part$values[at]
  dimension <- (at - 1) %% d + 1
  all <- sum(if (class == "infinite") is.infinite(part$values) else is.na(part$values))
  what <- sprintf(
    "%s (%s)%s",
    if (class == "infinite") "a value that is not finite" else "a missing value", value,
    if (all > 1) sprintf(", the first of %s,", big_number(all)) else ""
  )
  hint <- if (class == "infinite") {
    "Values must be finite numbers."
  } else {
    "Fill the gap, or use na = \"omit\" or na = \"interpolate\"."
  }
  stop_softdtw(class, sprintf(
    "%s has %s at time step %s%s. %s",
    name_series(arg, if (!isTRUE(part$single)) where$series, part$names), what,
    big_number(where$time), name_dimension(dimension, part), hint
  ), series = where$series, position = where$time, dimension = dimension)
}

name_dimension <- function(k, part) {
  if (part$d == 1L) {
    return("")
  }
  name <- part$dim_names[k]
  sprintf(
    ", dimension %d%s", as.integer(k),
    if (length(name) && !is.na(name) && nzchar(name)) sprintf(" (\"%s\")", name) else ""
  )
}

stop_all_missing <- function(i, part, arg, dimension = NULL) {
  where <- name_series(arg, if (!isTRUE(part$single)) i, part$names)
  in_dimension <- if (is.null(dimension)) "" else name_dimension(dimension, part)
  stop_softdtw("missing", sprintf(
    "%s has only missing values (all NA)%s: there is nothing to compare.", where, in_dimension
  ), series = i)
}

# Drops every step with a missing value, and keeps which ones stay, for gradients.
omit_steps <- function(part, arg) {
  stay <- !gap_steps(part$values, part$d)
  of <- rep.int(seq_along(part$lengths), part$lengths)
  left <- tabulate(of[stay], length(part$lengths))
  if (any(left == 0L)) {
    i <- match(0L, left)
    stop_softdtw("missing", sprintf(
      paste(
        "%s has a missing value (NA) in every time step: na = \"omit\" leaves none, and at",
        "least 1 is needed."
      ), name_series(arg, if (!isTRUE(part$single)) i, part$names)
    ), series = i)
  }
  starts <- cumsum(as.double(part$lengths)) - part$lengths
  steps <- vector("list", length(left))
  for (i in which(left < part$lengths)) {
    steps[[i]] <- which(stay[starts[i] + seq_len(part$lengths[i])])
  }
  part$kept <- list(steps = steps, full = part$lengths)
  part$values <- part$values[rep(stay, each = part$d)]
  part$lengths <- left
  part
}

# Linear in time within each dimension; the nearest value is carried to the ends.
interpolate_gaps <- function(part, arg) {
  d <- part$d
  starts <- (cumsum(as.double(part$lengths)) - part$lengths) * d
  gaps <- which(gap_steps(part$values, d))
  for (i in unique(locate_step(part$lengths, gaps)$series)) {
    for (k in seq_len(d)) {
      at <- starts[i] + k + d * (seq_len(part$lengths[i]) - 1)
      filled <- fill_gaps(part$values[at])
      if (is.null(filled)) {
        stop_all_missing(i, part, arg, if (d > 1L) k)
      }
      part$values[at] <- filled
    }
  }
  part
}

fill_gaps <- function(v) {
  present <- which(!is.na(v))
  if (length(present) == 0L) {
    return(NULL)
  }
  if (length(present) == 1L) {
    return(rep.int(v[present], length(v)))
  }
  v[-present] <- stats::approx(present, v[present], xout = seq_along(v)[-present], rule = 2L)$y
  v
}

# methods --------------------------------------------------------------------------------------

#' Methods for sets of series
#'
#' A `softdtw_series` behaves like a list of series: subscripts by number, name or logical vector,
#' `length()`, `names()`, `c()` and `as.list()`. It is not changed in place.
#'
#' `plot()` draws all series over time, a panel for each dimension; many series are drawn pale.
#' Where all series have times of one kind (`ts`, dates, ...), those are on the time axis.
#'
#' @param x,object A `softdtw_series`.
#' @param i Numbers, names or a logical vector; one number or name in `x[[i]]`.
#' @param value Names of the series, or `NULL`.
#' @param n Number of series to print.
#' @param dims Dimensions to draw (numbers or names), `NULL` for all.
#' @param most Largest number of series to draw; evenly spaced ones of a larger set.
#' @param main,xlab,ylab Title and labels of the axes.
#' @param ... For `c()`: sets of series, in any form that [as_series()] reads. Elsewhere unused.
#'
#' @returns `x[i]` and `c()`: a `softdtw_series`. `x[[i]]`: one series in the form it came in;
#'   `as.list()`: a list of them. `length()`: the number of series. `names()`: their names or
#'   `NULL`. `format()`: one string a series. `summary()`: counts, lengths and the range of each
#'   dimension. `print()` and `plot()`: `x`, invisibly.
#'
#' @examples
#' x <- as_series(list(a = c(1, 2, 3), b = c(2, 3), c = c(0, 4, 1, 1)))
#' x[c("a", "c")]
#' x[["b"]]
#' c(x, as_series(list(d = 5)))
#' summary(x)
#' plot(x)
#' @name softdtw_series-methods
NULL

#' @rdname softdtw_series-methods
#' @export
length.softdtw_series <- function(x) length(.subset2(x, "lengths"))

#' @rdname softdtw_series-methods
#' @export
names.softdtw_series <- function(x) .subset2(x, "names")

#' @rdname softdtw_series-methods
#' @export
`names<-.softdtw_series` <- function(x, value) {
  if (!is.null(value) && length(value) != length(x)) {
    stop_softdtw("argument", sprintf(
      "%s cannot name %s.", plural(length(value), "name"), plural(length(x), "series", "series")
    ))
  }
  fields <- unclass(x)
  fields["names"] <- list(clean_names(value))
  structure(fields, class = class(x))
}

#' @rdname softdtw_series-methods
#' @export
`[.softdtw_series` <- function(x, i) {
  if (missing(i)) {
    return(x)
  }
  subset_series(x, pick_series(x, i))
}

# Numbers of the series that a subscript (numbers, names or logical) means.
pick_series <- function(x, i) {
  at <- seq_along(x)
  names(at) <- x$names
  chosen <- unname(at[i])
  if (anyNA(chosen)) {
    wrong <- i[if (is.logical(i)) length(i) else which(is.na(chosen))[1L]]
    stop_softdtw("argument", sprintf(
      "The subscript %s is outside this set of %s.",
      show_value(wrong), plural(length(x), "series", "series")
    ))
  }
  if (length(chosen) == 0L) {
    stop_softdtw("empty", "The subscript selects no series, and a set needs at least one.")
  }
  chosen
}

subset_series <- function(x, i) {
  counts <- as.double(x$lengths[i]) * x$d
  at <- rep.int(series_starts(x)[i], counts) + sequence(counts)
  new_series(list(
    values = x$values[at],
    lengths = x$lengths[i],
    d = x$d,
    names = clean_names(x$names[i]),
    dim_names = x$dim_names,
    flat = if (is.null(x$flat)) x$kind == "vector" else x$flat[i],
    indices = if (!is.null(x$index)) list(x$index) else x$indices[i],
    kept = if (!is.null(x$kept)) list(steps = x$kept$steps[i], full = x$kept$full[i])
  ))
}

#' @rdname softdtw_series-methods
#' @export
`[[.softdtw_series` <- function(x, i) {
  if (length(i) != 1L) {
    stop_argument("i", "one number or name of a series", i)
  }
  i <- pick_series(x, i)
  shape_like(series_matrix(x, i), x, i)
}

#' @export
`[<-.softdtw_series` <- function(x, i, value) stop_read_only()

#' @export
`[[<-.softdtw_series` <- function(x, i, value) stop_read_only()

stop_read_only <- function() {
  stop_softdtw("argument", c(
    "A softdtw_series is not changed in place: change the list that as.list() gives, and read it ",
    "again with as_series()."
  ))
}

#' @rdname softdtw_series-methods
#' @export
as.list.softdtw_series <- function(x, ...) {
  plain <- x$kind == "vector" && is.null(x$index) && is.null(x$indices)
  list <- if (plain) {
    unname(split(x$values, rep.int(seq_along(x), x$lengths)))
  } else {
    starts <- series_starts(x)
    lapply(seq_along(x), \(i) shape_like(series_matrix(x, i, starts[i]), x, i))
  }
  names(list) <- x$names
  list
}

#' @rdname softdtw_series-methods
#' @export
c.softdtw_series <- function(...) {
  sets <- lapply(unname(list(...)), as_set, arg = "...")
  counts <- vapply(sets, length, 1L)
  names <- unlist(lapply(sets, \(set) {
    if (is.null(set$names)) character(length(set)) else set$names
  }))
  part <- join_parts(lapply(sets, unseal_series), "...")
  part$names <- clean_names(names)
  if (!all(vapply(sets, \(set) is.null(set$kept), NA))) {
    part$kept <- list(
      steps = unlist(lapply(sets, kept_steps), recursive = FALSE),
      full = unlist(lapply(sets, \(set) if (is.null(set$kept)) set$lengths else set$kept$full))
    )
  }
  stopifnot(sum(counts) == length(part$lengths))
  new_series(part)
}

kept_steps <- function(x) if (is.null(x$kept)) vector("list", length(x)) else x$kept$steps

# A sealed set as a part again, with `flat` and `indices` spelled out for each series.
unseal_series <- function(x) {
  n <- length(x)
  list(
    values = x$values, lengths = x$lengths, d = x$d, dim_names = x$dim_names,
    flat = if (is.null(x$flat)) rep.int(x$kind == "vector", n) else x$flat,
    indices = if (is.null(x$indices)) rep(list(x$index), n) else x$indices
  )
}

# printing -------------------------------------------------------------------------------------

#' @rdname softdtw_series-methods
#' @export
format.softdtw_series <- function(x, ...) {
  starts <- series_starts(x)
  text <- vapply(seq_along(x), \(i) format_series(series_matrix(x, i, starts[i])), "")
  names(text) <- x$names
  text
}

format_series <- function(m, shown = 5L) {
  first <- utils::head(m[, 1L], shown)
  sprintf(
    "%s: %s%s", plural(nrow(m), "step"),
    paste(format(first, digits = 3L, trim = TRUE), collapse = " "),
    if (nrow(m) > shown) " ..." else ""
  )
}

#' @rdname softdtw_series-methods
#' @export
print.softdtw_series <- function(x, n = 6L, ...) {
  cat("<softdtw_series> ", describe_set(x), "\n", sep = "")
  shown <- subset_series(x, seq_len(min(n, length(x))))
  labels <- series_labels(shown)
  text <- format(shown)
  cat(paste0("  ", formatC(labels, width = -max(nchar(labels))), "  ", text, "\n"), sep = "")
  if (x$d > 1L) {
    cat("  (first dimension shown)\n")
  }
  if (length(x) > n) {
    cat("  ... and ", big_number(length(x) - n), " more\n", sep = "")
  }
  invisible(x)
}

# "12 series of 10 to 20 time steps, 2 dimensions"
describe_set <- function(x) {
  steps <- range(x$lengths)
  sprintf(
    "%s of %s, %s",
    plural(length(x), "series", "series"),
    if (steps[1L] == steps[2L]) {
      plural(steps[1L], "time step")
    } else {
      sprintf("%s to %s time steps", big_number(steps[1L]), big_number(steps[2L]))
    },
    plural(x$d, "dimension")
  )
}

# Names, or numbers where there are none.
series_labels <- function(x) {
  numbers <- as.character(seq_along(x))
  if (is.null(x$names)) numbers else ifelse(nzchar(x$names), x$names, numbers)
}

#' @rdname softdtw_series-methods
#' @export
summary.softdtw_series <- function(object, ...) {
  ranges <- data.frame(
    dimension = if (is.null(object$dim_names)) seq_len(object$d) else object$dim_names,
    min = object$lower,
    max = object$upper
  )
  dropped <- if (is.null(object$kept)) 0 else sum(object$kept$full) - sum(object$lengths)
  structure(
    list(
      n = length(object), lengths = summary(object$lengths), ranges = ranges, dropped = dropped,
      text = describe_set(object)
    ),
    class = "summary.softdtw_series"
  )
}

#' @rdname softdtw_series-methods
#' @export
print.summary.softdtw_series <- function(x, ...) {
  cat(x$text, "\n\nTime steps:\n", sep = "")
  print(x$lengths, ...)
  cat("\nRange of values:\n")
  print(x$ranges, row.names = FALSE, ...)
  if (x$dropped > 0) {
    cat("\n", plural(x$dropped, "time step"), " with missing values left out\n", sep = "")
  }
  invisible(x)
}

# plot -----------------------------------------------------------------------------------------

#' @rdname softdtw_series-methods
#' @export
plot.softdtw_series <- function(x, dims = NULL, most = 200L, main = describe_set(x),
                                xlab = "Time", ylab = "Value", ...) {
  check_dots(...)
  dims <- check_dims(dims, x$d, x$dim_names)
  most <- check_whole(most, "most", 1L)
  members <- thin_out(seq_along(x), most)
  if (length(members) < length(x)) {
    main <- paste0(main, sprintf(" (%d shown)", length(members)))
  }
  paths <- member_paths(x, members, has_alike_times(x))
  ylim <- lapply(dims, \(k) range(unlist(lapply(paths, \(path) path$values[, k]))))
  size <- if (length(dims) <= 3L) c(length(dims), 1L) else rev(grDevices::n2mfrow(length(dims)))
  margins <- outer_margins(ylim, main, ylab)
  old <- set_par(
    mfrow = size, mar = c(0.7, 1.5, 1.5, 0.5), oma = margins, cex = 0.75, mgp = c(2, 0.6, 0),
    tcl = -0.3, xpd = FALSE
  )
  on.exit(graphics::par(old))
  colours <- series_colours(length(members))
  for (p in seq_along(dims)) {
    draw_series_panel(paths, dims[p], ylim[[p]], colours, bottom = p + size[2L] > length(dims))
    if (x$d > 1L) {
      graphics::mtext(dim_labels(x)[dims[p]], side = 3L, line = 0.25, adj = 0, cex = 0.75)
    }
    if (p == 1L && !is.null(x$names) && length(members) <= length(series_palette)) {
      graphics::legend("topright", series_labels(x)[members],
        col = colours, lwd = 2, bty = "n", cex = 0.9
      )
    }
  }
  graphics::mtext(xlab, side = 1L, line = 2.2, outer = TRUE, cex = 0.85)
  graphics::mtext(ylab, side = 2L, line = margins[2L] - 1.3, outer = TRUE, cex = 0.85)
  graphics::mtext(main, side = 3L, line = 0.4, outer = TRUE, font = 2L)
  invisible(x)
}

# Few series are told apart by colour; many are drawn pale, so that where they bundle shows.
series_palette <- unname(grDevices::palette.colors(8L, "Okabe-Ito")[c(6, 7, 4, 2, 8, 3, 1)])

series_colours <- function(count) {
  if (count <= length(series_palette)) {
    return(series_palette[seq_len(count)])
  }
  rep(grDevices::adjustcolor(series_palette[1L], alpha.f = min(0.7, max(0.12, 15 / count))), count)
}

# Real times are drawn where all series have the same kind of them.
has_alike_times <- function(x) {
  if (is.null(x$indices)) {
    return(!is.null(x$index))
  }
  kinds <- lapply(x$indices, \(index) {
    c(index$class, class(index$times), attr(index$times, "tclass"))
  })
  length(unique(kinds)) == 1L
}

draw_series_panel <- function(paths, k, ylim, colours, bottom) {
  times <- do.call(c, lapply(paths, `[[`, "times"))
  graphics::plot.new()
  graphics::plot.window(range(as.numeric(times)), ylim)
  for (p in seq_along(paths)) {
    draw_path(as.numeric(paths[[p]]$times), paths[[p]]$values[, k], colours[p], 1.5)
  }
  graphics::box(col = "grey60")
  graphics::axis(2L, las = 1L)
  if (bottom) {
    graphics::Axis(times, side = 1L)
  }
}
