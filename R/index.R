# The time index of ts, zoo and xts, and giving results back in the form in which a series came.
#
# An index is list(class, tsp or times, keep): `keep` holds all attributes that make the object, so
# that neither zoo nor xts is needed to build it again. Class "times", from the time column of a
# data frame, has none: it only says where the steps lie on a time axis.

# What makes a ts, zoo or xts of plain numbers: all its attributes but shape and names.
time_index <- function(x) {
  if (!has_time_class(x)) {
    return(NULL)
  }
  keep <- attributes(x)
  keep <- keep[setdiff(names(keep), c("dim", "dimnames", "names"))]
  class <- if (inherits(x, "xts")) "xts" else if (inherits(x, "zoo")) "zoo" else "ts"
  list(class = class, tsp = keep$tsp, times = keep$index, keep = keep)
}

shared_index <- function(indices) {
  first <- if (length(indices)) indices[[1L]]
  if (is.null(first) || !all(vapply(indices, identical, NA, first))) NULL else first
}

index_of <- function(x, i) if (is.null(x$indices)) x$index else x$indices[[i]]

# The index of some of the steps. A ts has no gaps, so it stays one only where the steps are a run.
index_at <- function(index, steps) {
  if (is.null(index)) {
    return(NULL)
  }
  if (index$class == "ts") {
    if (any(diff(steps) != 1L)) {
      return(NULL)
    }
    index$tsp[1:2] <- index$tsp[1L] + (range(steps) - 1) / index$tsp[3L]
    index$keep$tsp <- index$tsp
    return(index)
  }
  times <- index$times[steps]
  if (!is.object(times)) {
    # xts keeps the class and zone of its times in attributes that `[` drops.
    attributes(times) <- attributes(index$times)
  }
  index$times <- times
  if (index$class != "times") {
    index$keep$index <- times
  }
  index
}

# Gives numbers (vector, or matrix time x dimension) the class and times of an index.
with_index <- function(values, index) {
  if (is.null(index)) {
    return(values)
  }
  shape <- attributes(values)[intersect(c("dim", "dimnames"), names(attributes(values)))]
  attributes(values) <- c(shape, index$keep)
  values
}

# Where the steps lie on a time axis: the index's own times (numbers, dates or date-times) or 1..n.
index_times <- function(index, n) {
  if (is.null(index)) {
    return(seq_len(n))
  }
  if (index$class == "ts") {
    return(seq(index$tsp[1L], by = 1 / index$tsp[3L], length.out = n))
  }
  times <- index$times
  if (index$class != "xts") {
    return(times)
  }
  seconds <- as.double(times)
  if ("Date" %in% attr(times, "tclass")) {
    return(as.Date(as.POSIXct(seconds, origin = "1970-01-01", tz = "UTC")))
  }
  zone <- attr(times, "tzone")
  as.POSIXct(seconds, origin = "1970-01-01", tz = if (is.null(zone)) "" else zone[1L])
}

# giving back ----------------------------------------------------------------------------------

is_flat <- function(x, i) if (is.null(x$flat)) x$kind == "vector" else x$flat[i]

# Numbers (T x d, one row a kept step) in the form in which series i of x came. `fill` puts NA at
# the steps that na = "omit" dropped; without it those steps are left out.
shape_like <- function(m, x, i = 1L, fill = FALSE) {
  index <- index_of(x, i)
  steps <- x$kept$steps[[i]]
  if (!is.null(steps) && fill) {
    whole <- matrix(NA_real_, x$kept$full[i], x$d)
    whole[steps, ] <- m
    m <- whole
  } else if (!is.null(steps)) {
    index <- index_at(index, steps)
  }
  if (is_flat(x, i)) {
    m <- as.vector(m)
  } else if (!is.null(x$dim_names)) {
    dimnames(m) <- list(NULL, x$dim_names)
  }
  with_index(m, index)
}

# Offset of each series in `values`. Doubles: a set may hold more values than an integer counts.
series_starts <- function(x) (cumsum(as.double(x$lengths)) - x$lengths) * x$d

# Series i as a matrix T x d, whatever its kind.
series_matrix <- function(x, i, start = series_starts(x)[i]) {
  matrix(x$values[start + seq_len(x$lengths[i] * x$d)], x$lengths[i], x$d, byrow = TRUE)
}

# Times of the kept steps of series i.
series_times <- function(x, i) {
  steps <- x$kept$steps[[i]]
  full <- if (is.null(steps)) x$lengths[i] else x$kept$full[i]
  times <- index_times(index_of(x, i), full)
  if (is.null(steps)) times else times[steps]
}
