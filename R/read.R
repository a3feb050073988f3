# Reading every form that users hold into a "part": values end to end (time-major, dimension
# fastest), lengths, number of dimensions, names and time index. Nothing here looks at values, but
# for the padding of rectangles; series.R seals a part into a set and does that.
#
# No check runs an R function on every element of a plain set, so that millions of short series cost
# about as much as one long one.

# forms ----------------------------------------------------------------------------------------

is_cube <- function(x) is.array(x) && !is.object(x) && length(dim(x)) == 3L && !is.list(x)

# A list with a class of its own is some other object, unless the class only guards its elements.
is_list_of_series <- function(x) {
  is.list(x) && is.null(dim(x)) &&
    (!is.object(x) || inherits(x, c("AsIs", "list_of", "vctrs_list_of")))
}

# Numbers, or nothing but NA (which R makes logical).
is_numeric_like <- function(x) {
  typeof(x) %in% c("double", "integer") || (is.logical(x) && length(x) > 0L && all(is.na(x)))
}

# zoo keeps the class of what it wraps in "oclass".
has_time_class <- function(x) {
  inherits(x, c("ts", "zoo", "xts")) && is.null(attr(x, "levels")) && is.null(attr(x, "oclass")) &&
    !inherits(x, c("factor", "Date", "POSIXt", "difftime", "integer64"))
}

check_series_type <- function(x, arg, i = NULL, names = NULL) {
  numbers <- is_numeric_like(x) && (!is.object(x) || has_time_class(x))
  if (numbers && length(dim(x)) <= 2L) {
    return(invisible())
  }
  where <- name_series(arg, i, names)
  if (numbers) {
    stop_softdtw("type", sprintf(
      paste(
        "%s must be a numeric vector or matrix, not a numeric array of %d dimensions",
        "(a set may be an array of 3: series, time, dimension)."
      ), where, length(dim(x))
    ), series = i)
  }
  stop_softdtw("type", c(
    sprintf("%s must be numeric, not %s. ", where, describe(x)), type_hint(x, arg)
  ), series = i)
}

type_hint <- function(x, arg) {
  if (is.data.frame(x)) {
    return("Use as.matrix() on it.")
  }
  if (is.factor(x)) {
    return("Use as.numeric(as.character()) where its levels are numbers.")
  }
  if (inherits(x, "softdtw_series")) {
    return("Join sets with c().")
  }
  if (is.atomic(x) && !is.null(x) && !is.complex(x)) {
    return("Use as.numeric() where that is what is meant.")
  }
  paste(
    "A series is a numeric vector, a matrix (time x dimension), ts, zoo or xts;",
    "a set is a list of those."
  )
}

# x without class, time index or names: a plain vector or a matrix with its column names.
strip_series <- function(x) {
  keep <- if (is.matrix(x)) list(dim = dim(x))
  attributes(x) <- keep
  x
}

# One series as a part. `i` and `names` say where it stands in a set, for messages.
read_series <- function(x, arg, i = NULL, names = NULL) {
  check_series_type(x, arg, i, names)
  bare <- strip_series(x)
  d <- if (is.matrix(bare)) ncol(bare) else 1L
  if (d == 0L) {
    stop_softdtw("empty", sprintf(
      "%s is empty: a matrix with 0 columns, and at least one dimension is needed.",
      name_series(arg, i, names)
    ), series = i)
  }
  list(
    values = as.double(if (d > 1L) t(bare) else bare),
    lengths = as.integer(NROW(bare)),
    d = d,
    dim_names = if (is.matrix(x)) dimnames(x)[[2L]],
    flat = !is.matrix(bare),
    indices = list(time_index(x))
  )
}

# Plain vectors and matrices, of which there may be millions, are taken all at once; only where
# there is anything else are the series read one by one.
read_list <- function(x, arg) {
  if (length(x) == 0L) {
    stop_no_series(arg, " (an empty list)")
  }
  names <- clean_names(names(x))
  x <- unname(unclass(x))
  plain <- .Call(ffi_pack, x)
  if (is.null(plain)) {
    parts <- lapply(seq_along(x), \(i) read_series(x[[i]], arg, i, names))
    return(c(join_parts(parts, arg, names), list(names = names)))
  }
  headings <- if (!all(plain$flat)) lapply(x, colnames)
  plain$d <- check_same_dimensions(plain$d, arg, names)
  c(plain, list(names = names, dim_names = common_dim_names(headings, arg, names)))
}

# Parts end to end. Their own names are left to the caller.
join_parts <- function(parts, arg, names = NULL) {
  list(
    values = unlist(lapply(parts, `[[`, "values"), use.names = FALSE),
    lengths = unlist(lapply(parts, `[[`, "lengths"), use.names = FALSE),
    d = check_same_dimensions(vapply(parts, `[[`, 1L, "d"), arg, names),
    dim_names = common_dim_names(lapply(parts, `[[`, "dim_names"), arg, names),
    flat = unlist(lapply(parts, `[[`, "flat"), use.names = FALSE),
    indices = unlist(lapply(parts, `[[`, "indices"), recursive = FALSE, use.names = FALSE)
  )
}

check_same_dimensions <- function(d, arg, names) {
  other <- which(d != d[1L])[1L]
  if (!is.na(other)) {
    stop_softdtw("dimension", sprintf(
      paste(
        "`%s`: all series must have the same number of dimensions (columns), but %s has %d",
        "and %s has %d."
      ),
      arg, short_name(1L, names), d[1L], short_name(other, names), d[other]
    ), series = other, dimensions = d[c(1L, other)])
  }
  if (d[1L] == 0L) {
    stop_softdtw("empty", sprintf(
      "%s is empty: a matrix with 0 columns, and at least one dimension is needed.",
      name_series(arg, 1L, names)
    ), series = 1L)
  }
  d[1L]
}

# The column names of all series that have any, where they agree; other names say nothing common.
common_dim_names <- function(headings, arg, names) {
  found <- unique(headings[lengths(headings) > 0L])
  if (length(found) == 0L) {
    return(NULL)
  }
  for (other in found[-1L]) {
    if (is_reordered(found[[1L]], other)) {
      i <- match(list(other), headings)
      stop_softdtw("dimension", sprintf(
        "%s has the dimensions (columns) in another order, %s, than the first series, %s.",
        name_series(arg, i, names), paste(other, collapse = ", "),
        paste(found[[1L]], collapse = ", ")
      ), series = i)
    }
  }
  if (length(found) == 1L) found[[1L]]
}

# A matrix with one series a row.
read_rows <- function(x, arg) {
  if (nrow(x) == 0L) {
    stop_no_series(arg, " (a matrix with 0 rows)")
  }
  part <- list(
    values = as.double(t(x)), lengths = rep.int(ncol(x), nrow(x)), d = 1L, flat = TRUE,
    names = clean_names(rownames(x))
  )
  trim_padding(part, arg)
}

# An array (series, time, dimension).
read_array <- function(x, arg) {
  if (!is_numeric_like(x)) {
    check_series_type(x, arg)
  }
  if (any(dim(x) == 0L)) {
    what <- sprintf(" (an array of %s)", paste(dim(x), collapse = " x "))
    stop_no_series(arg, what)
  }
  names <- dimnames(x)
  part <- list(
    values = as.double(aperm(x, 3:1)), lengths = rep.int(dim(x)[2L], dim(x)[1L]), d = dim(x)[3L],
    names = clean_names(names[[1L]]), dim_names = names[[3L]], flat = FALSE
  )
  trim_padding(part, arg)
}

# In a rectangle, missing values up to the end of a row are padding: the series is shorter.
trim_padding <- function(part, arg) {
  width <- part$lengths[1L]
  if (width == 0L || !anyNA(part$values)) {
    return(part)
  }
  present <- which(!gap_steps(part$values, part$d, all))
  ends <- integer(length(part$lengths))
  # Later steps overwrite earlier ones, so the last one present stays.
  ends[(present - 1) %/% width + 1] <- as.integer((present - 1) %% width + 1)
  if (any(ends == 0L)) {
    stop_all_missing(match(0L, ends), part, arg)
  }
  inside <- rep.int(seq_len(width), length(ends)) <= rep(ends, each = width)
  part$values <- part$values[rep(inside, each = part$d)]
  part$lengths <- ends
  part
}

clean_names <- function(names) {
  if (is.null(names)) {
    return(NULL)
  }
  names <- as.character(names)
  names[is.na(names)] <- ""
  if (any(nzchar(names))) names
}

# long data frames -----------------------------------------------------------------------------

read_frame <- function(x, arg, id = NULL, time = NULL, values = NULL) {
  if (inherits(x, "tbl_ts")) {
    # A tsibble knows its own columns.
    id <- if (is.null(id)) setdiff(names(attr(x, "key")), ".rows") else id
    time <- if (is.null(time)) as.character(attr(x, "index")) else time
  }
  if (length(id) == 0L && !inherits(x, "tbl_ts")) {
    stop_frame(arg)
  }
  check_columns(x, id, "id")
  check_columns(x, time, "time", one = TRUE)
  values <- if (is.null(values)) setdiff(names(x), c(id, time)) else values
  check_columns(x, values, "values")
  if (length(values) == 0L) {
    stop_softdtw("empty", sprintf("`%s` has no column of values beside `id` and `time`.", arg))
  }
  if (nrow(x) == 0L) {
    stop_no_series(arg, " (a data frame with 0 rows)")
  }
  gather_rows(x, arg, id, time, values)
}

check_columns <- function(x, columns, arg, one = FALSE) {
  if (is.null(columns)) {
    return(invisible())
  }
  if (!is.character(columns) || anyNA(columns) || (one && length(columns) != 1L)) {
    stop_argument(arg, if (one) "the name of one column" else "names of columns", columns)
  }
  absent <- setdiff(columns, names(x))
  if (length(absent)) {
    stop_softdtw("argument", sprintf(
      "`%s` names no column of the data frame: \"%s\". Its columns are %s.",
      arg, absent[1L], paste0("\"", names(x), "\"", collapse = ", ")
    ), argument = arg)
  }
}

gather_rows <- function(x, arg, id, time, values) {
  for (column in values) {
    check_value_column(x[[column]], column, arg)
  }
  key <- series_keys(x, id, arg)
  rows <- if (is.null(time)) {
    order(key$code)
  } else {
    check_time_column(x[[time]], time, arg)
    order(key$code, x[[time]])
  }
  if (!is.null(time)) {
    check_times_differ(key, x[[time]], rows, arg)
  }
  d <- length(values)
  columns <- vapply(values, \(column) as.double(x[[column]])[rows], double(length(rows)))
  list(
    values = if (d > 1L) as.double(t(matrix(columns, ncol = d))) else as.double(columns),
    lengths = tabulate(key$code, length(key$names)), d = d,
    names = if (length(id)) key$names, dim_names = if (d > 1L) values, flat = d == 1L,
    indices = if (!is.null(time)) column_times(x[[time]][rows], key$code[rows])
  )
}

# The times of each series, where they can be put on an axis.
column_times <- function(times, code) {
  if (!is.numeric(times) && !inherits(times, c("Date", "POSIXct"))) {
    return(NULL)
  }
  lapply(unname(split(times, code)), \(t) {
    list(class = "times", tsp = NULL, times = t, keep = NULL)
  })
}

check_value_column <- function(column, name, arg) {
  if (!is_numeric_like(column) || (is.object(column) && !has_time_class(column)) ||
    NCOL(column) != 1L) {
    stop_softdtw("type", sprintf(
      "`%s`: column \"%s\" must be numeric, not %s. Name the columns of numbers in `values`.",
      arg, name, describe(column)
    ), column = name)
  }
}

# Numbers the series in order of first appearance.
series_keys <- function(x, id, arg) {
  if (length(id) == 0L) {
    return(list(code = rep.int(1L, nrow(x)), names = ""))
  }
  columns <- lapply(id, \(column) id_text(x[[column]], column, arg))
  # The separator cannot occur in a printed id, so that "a" "b.c" and "a.b" "c" stay apart.
  text <- do.call(paste, c(columns, sep = "\r"))
  distinct <- unique(text)
  list(code = match(text, distinct), names = gsub("\r", ".", distinct, fixed = TRUE))
}

id_text <- function(column, name, arg) {
  if (!is.atomic(column) || !is.null(dim(column))) {
    stop_softdtw("type", sprintf(
      "`%s`: the `id` column \"%s\" must be a plain column, not %s.", arg, name, describe(column)
    ), column = name)
  }
  row <- match(TRUE, is.na(column))
  if (!is.na(row)) {
    stop_softdtw("missing", sprintf(
      "`%s`: the `id` column \"%s\" has a missing value (NA) in row %s.",
      arg, name, big_number(row)
    ), column = name, row = row)
  }
  if (is.double(column) && !is.object(column)) sprintf("%.15g", column) else as.character(column)
}

check_time_column <- function(column, name, arg) {
  sorts <- is.atomic(column) && is.null(dim(column)) && !is.character(column) &&
    (!is.factor(column) || is.ordered(column)) && !is.complex(column)
  if (!sorts) {
    stop_softdtw("type", sprintf(
      paste(
        "`%s`: the `time` column \"%s\" must sort in time (numbers, dates, date-times or an",
        "ordered factor), not %s."
      ), arg, name, describe(column)
    ), column = name)
  }
  row <- match(TRUE, is.na(column))
  if (!is.na(row)) {
    stop_softdtw("missing", sprintf(
      "`%s`: the `time` column \"%s\" has a missing value (NA) in row %s.",
      arg, name, big_number(row)
    ), column = name, row = row)
  }
}

check_times_differ <- function(key, time, rows, arg) {
  n <- length(rows)
  same <- key$code[rows][-1L] == key$code[rows][-n] & time[rows][-1L] == time[rows][-n]
  first <- match(TRUE, same)
  if (!is.na(first)) {
    i <- key$code[rows[first]]
    stop_softdtw("argument", sprintf(
      "%s has the time %s twice, in rows %s and %s of the data frame.",
      name_series(arg, i, key$names), format(time[rows[first]]),
      big_number(rows[first]), big_number(rows[first + 1L])
    ), series = i)
  }
}
