# Reads a person's file of time series for tools/demo.R, with base R alone: read_series_file().
#
# A file is wide (a series a row, its name or class in front, the first row perhaps a header; short
# rows and empty cells at a row's end make shorter series) or long (a header naming a series, a time
# and one or more value columns). Commas, semicolons, tabs or blanks separate; decimal commas are
# understood. Whatever is wrong stops with a sentence naming the line, of class "bad_file".
#
# Value: list(form, series = named list of matrices time x dimension, truth = NULL or one class per
# series, missing = number of gaps inside series, first_gap = where, notes = sentences).

label_words <- c(
  "series", "seriesid", "id", "uid", "name", "names", "label", "labels", "class", "key", "subject",
  "unit", "group", "patient", "case", "sample", "row", "rowname", "rownames", "item", "station",
  "sensor", "person"
)
time_words <- c(
  "time", "t", "times", "timestamp", "date", "datetime", "day", "days", "hour", "minute", "second",
  "week", "month", "year", "step", "index", "visit", "age", "period"
)
class_words <- c("label", "labels", "class", "group", "target")
dim_words <- c("dim", "dimension", "variable", "channel")

stop_file <- function(...) {
  text <- paste0(..., collapse = "")
  stop(structure(class = c("bad_file", "error", "condition"), list(message = text, call = NULL)))
}

quoted <- function(x) {
  long <- nchar(x) > 40L
  paste0("\"", ifelse(long, paste0(substr(x, 1L, 37L), "..."), x), "\"")
}
plain <- function(x) gsub("[^a-z0-9]", "", tolower(x))
at_line <- function(path, number) paste0(path, ", line ", number)
column_named <- function(j, header) {
  paste0(", column ", j, if (j <= length(header)) paste0(" (", quoted(header[[j]]), ")"))
}
and_more <- function(n, what) if (n > 1L) sprintf(" (and %d more %s like it)", n - 1L, what) else ""
any_of <- function(x) if (length(x) > 12L) c(x[1:12], "...") else x

# Text -------------------------------------------------------------------------------------------

read_text <- function(path) {
  if (!file.exists(path)) {
    near <- list.files(dirname(path), pattern = "\\.(csv|tsv|txt)$", ignore.case = TRUE)
    stop_file(
      path, ": there is no such file in ", normalizePath(dirname(path), mustWork = FALSE), ".",
      if (length(near)) paste0(" There are: ", paste(any_of(near), collapse = ", "), ".")
    )
  }
  if (dir.exists(path)) stop_file(path, " is a folder, not a file.")
  if (file.access(path, 4L) != 0L) stop_file(path, " cannot be read: permission is denied.")
  size <- file.size(path)
  if (size == 0) stop_file(path, " is empty: it has no line at all.")
  if (size >= 2^31) stop_file(path, " is too large for this program (2 GB and more).")
  raw <- readBin(path, "raw", size)
  starts <- function(...) identical(utils::head(raw, ...length()), as.raw(c(...)))
  if (starts(0x50, 0x4b, 0x03, 0x04) || starts(0xd0, 0xcf, 0x11, 0xe0)) {
    stop_file(path, " is a spreadsheet file: save it as CSV in your spreadsheet program first.")
  }
  if (starts(0x1f, 0x8b)) stop_file(path, " is compressed: unpack it with gunzip first.")
  text <- if (starts(0xff, 0xfe) || starts(0xfe, 0xff)) {
    iconv(list(raw[-(1:2)]), if (raw[[1L]] == as.raw(0xff)) "UTF-16LE" else "UTF-16BE", "UTF-8")
  } else {
    if (starts(0xef, 0xbb, 0xbf)) raw <- raw[-(1:3)]
    if (any(raw == as.raw(0L))) stop_file(path, " is not a text file: it holds zero bytes.")
    rawToChar(raw)
  }
  if (is.na(text)) stop_file(path, " is not a text file in UTF-8, Latin-1 or UTF-16.")
  if (!validUTF8(text)) text <- iconv(text, "latin1", "UTF-8")
  Encoding(text) <- "UTF-8"
  lines <- strsplit(gsub("\r\n?", "\n", text), "\n", fixed = TRUE)[[1L]]
  keep <- grepl("[^[:space:],;]", lines) & !grepl("^[[:space:]]*#", lines)
  if (!any(keep)) stop_file(path, " holds no data: all its lines are blank.")
  list(text = lines[keep], number = which(keep))
}

# The separator that at least half of the first lines have outside quotation marks
separator_of <- function(lines) {
  bare <- gsub("\"[^\"]*\"", "", utils::head(lines, 50L))
  for (sep in c("\t", ";", ",")) {
    if (mean(grepl(sep, bare, fixed = TRUE)) >= 0.5) {
      return(sep)
    }
  }
  if (mean(grepl("[^[:space:]][[:space:]]+[^[:space:]]", bare)) >= 0.5) " " else ","
}

split_lines <- function(lines, sep, path) {
  text <- lines$text
  for (i in grep("\"", text, fixed = TRUE)) {
    part <- strsplit(paste0(text[[i]], " "), "\"", fixed = TRUE)[[1L]]
    if (length(part) %% 2L == 0L) {
      stop_file(
        at_line(path, lines$number[[i]]), ": a quotation mark is opened and never closed."
      )
    }
    inside <- seq_along(part) %% 2L == 0L
    part[inside] <- gsub(sep, "\001", part[inside], fixed = TRUE)
    text[[i]] <- paste(part, collapse = "")
  }
  if (sep == " ") text <- gsub("[[:space:]]+", " ", trimws(text))
  # one more separator at the end keeps an empty last cell
  cells <- strsplit(paste0(text, sep), sep, fixed = TRUE)
  lapply(cells, \(x) trimws(gsub("\001", sep, x, fixed = TRUE)))
}

# Numbers ----------------------------------------------------------------------------------------

number_pattern <- "^[-+]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][-+]?[0-9]+)?$"
comma_pattern <- "^[-+]?([0-9]+,[0-9]*|,[0-9]+)([eE][-+]?[0-9]+)?$"
gap_words <- c("", "na", "n/a", "nan", "null", "none", ".", "?", "-", "#n/a")
is_gap <- function(x) tolower(x) %in% gap_words
is_number <- function(x) grepl(number_pattern, x) | grepl(comma_pattern, x)

# Numbers of the cells; where(i) says where cell i stands. A comma inside a number is a
# decimal comma where semicolons, tabs or blanks separate, and nobody knows what otherwise.
numbers_of <- function(cells, where, sep) {
  gap <- is_gap(cells)
  point <- grepl(number_pattern, cells)
  comma <- !point & sep != "," & grepl(comma_pattern, cells)
  wrong <- which(!gap & !point & !comma)
  if (length(wrong)) {
    i <- wrong[[1L]]
    what <- if (grepl("^[-+]?inf(inity)?$", cells[[i]], ignore.case = TRUE)) {
      " is not a finite number."
    } else if (grepl(comma_pattern, cells[[i]])) {
      " has a comma inside: where commas separate the columns, write a decimal point."
    } else {
      " is not a number."
    }
    stop_file(where(i), ": ", quoted(cells[[i]]), what, and_more(length(wrong), "cells"))
  }
  if (any(comma)) {
    decimal <- which(point & grepl(".", cells, fixed = TRUE))
    if (length(decimal)) {
      i <- which(comma)[[1L]]
      stop_file(
        where(i), ": ", quoted(cells[[i]]), " has a decimal comma, but ",
        quoted(cells[[decimal[[1L]]]]), " has a decimal point (", where(decimal[[1L]]),
        "). Use one of them in the whole file, and no separator of thousands."
      )
    }
    cells[comma] <- sub(",", ".", cells[comma], fixed = TRUE)
  }
  value <- rep(NA_real_, length(cells))
  value[!gap] <- as.numeric(cells[!gap])
  big <- which(is.infinite(value))
  if (length(big)) {
    stop_file(where(big[[1L]]), ": ", quoted(cells[[big[[1L]]]]), " is too large for a number.")
  }
  value
}

# Times as numbers that sort right; numbers, dates, or dates with a time of day
times_of <- function(cells, where, sep) {
  gap <- which(is_gap(cells))
  if (length(gap)) {
    stop_file(where(gap[[1L]]), ": the time is missing.", and_more(length(gap), "lines"))
  }
  if (all(is_number(cells))) {
    return(numbers_of(cells, where, sep))
  }
  known <- if (mean(is_number(cells)) < 0.5) {
    formats <- c(
      "%Y-%m-%dT%H:%M:%OS", "%Y-%m-%d %H:%M:%OS", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%d",
      "%Y/%m/%d %H:%M:%OS", "%Y/%m/%d %H:%M", "%Y/%m/%d", "%d.%m.%Y %H:%M:%OS", "%d.%m.%Y %H:%M",
      "%d.%m.%Y", "%Y%m%dT%H%M%S", "%Y-%m"
    )
    tried <- lapply(formats, \(f) {
      text <- if (f == "%Y-%m") paste0(cells, "-01") else cells
      as.numeric(strptime(text, if (f == "%Y-%m") "%Y-%m-%d" else f, tz = "UTC"))
    })
    tried[[which.max(vapply(tried, \(v) sum(!is.na(v)), 0))]]
  } else {
    suppressWarnings(as.numeric(cells))
  }
  wrong <- which(is.na(known))
  if (length(wrong)) {
    stop_file(
      where(wrong[[1L]]), ": ", quoted(cells[[wrong[[1L]]]]),
      " is not a time: write numbers, or dates as 2024-01-31 or 2024-01-31 12:00:00.",
      and_more(length(wrong), "cells")
    )
  }
  known
}

# The two forms ----------------------------------------------------------------------------------

read_series_file <- function(path, series = "", time = "", values = "") {
  lines <- read_text(path)
  sep <- separator_of(lines$text)
  rows <- split_lines(lines, sep, path)
  header <- header_of(rows)
  asked <- nzchar(c(series, time, values))
  if (any(asked) && is.null(header)) {
    stop_file(
      at_line(path, lines$number[[1L]]), " is not a header, so that no column has a name; ",
      "SERIES, TIME and VALUES name columns of a long file."
    )
  }
  if (!is.null(header)) {
    lines$header <- lines$number[[1L]]
    rows <- rows[-1L]
    lines$number <- lines$number[-1L]
    if (!length(rows)) stop_file(path, " holds a header and no line of data.")
    # a table written with row names has one name fewer than columns
    if (all(lengths(rows) == length(header) + 1L)) header <- c("", header)
  }
  lines$sep <- sep
  columns <- long_columns(header, rows, series, time, values, path, lines)
  if (is.null(columns)) {
    read_wide(path, rows, header, lines)
  } else {
    read_long(path, rows, header, columns, lines)
  }
}

# The names in the first row, or NULL where it is data
header_of <- function(rows) {
  first <- rows[[1L]]
  number <- is_number(first)
  text <- !number & !is_gap(first)
  if (length(rows) == 1L && any(number)) {
    return(NULL)
  }
  # names of columns only
  if (!any(number) && (any(text[-1L]) || length(first) == 1L && text[[1L]])) {
    return(first)
  }
  # a word for names in front: of text, or of times that rise
  front <- vapply(rows[-1L], `[[`, "", 1L)
  if (plain(first[[1L]]) %in% c(label_words, time_words) && !first[[1L]] %in% front) {
    times <- if (all(number[-1L])) as.numeric(sub(",", ".", first[-1L], fixed = TRUE))
    if (is.null(times) || all(diff(times) > 0)) {
      return(first)
    }
  }
  # an empty corner, then 0, 1, 2, ... or 1, 2, 3, ...
  times <- suppressWarnings(as.numeric(first[-1L]))
  counted <- length(times) > 1L && !anyNA(times) && all(diff(times) == 1) && times[[1L]] %in% 0:1
  if (first[[1L]] == "" && counted) first else NULL
}

# Which columns of a long file hold what; NULL for a wide file
long_columns <- function(header, rows, series, time, values, path, lines) {
  if (is.null(header)) {
    return(NULL)
  }
  named <- function(name, what) {
    at <- which(tolower(header) == tolower(name))
    if (!length(at)) {
      stop_file(
        at_line(path, lines$header), ": there is no column ", quoted(name), " for ", what,
        "; the columns are ", paste(quoted(any_of(header)), collapse = ", "), "."
      )
    }
    at[[1L]]
  }
  word <- plain(header)
  first_of <- function(words) {
    at <- which(word %in% words)
    if (length(at)) at[[order(match(word[at], words))[[1L]]]] else NA_integer_
  }
  at_time <- if (nzchar(time)) named(time, "TIME") else first_of(time_words)
  at_series <- if (nzchar(series)) named(series, "SERIES") else first_of(label_words)
  at_value <- if (nzchar(values)) {
    vapply(strsplit(values, "[,; ]+")[[1L]], named, 0L, what = "VALUES", USE.NAMES = FALSE)
  } else {
    grep("^val(ues?)?[0-9]*$", word)
  }
  if (!any(nzchar(c(series, time, values)))) {
    if (is.na(at_time) && (is.na(at_series) || !length(at_value))) {
      return(NULL)
    }
    # a line a series: wide, whatever the header calls its columns
    if (!is.na(at_series) && length(rows) > 1L) {
      key <- vapply(rows, \(r) if (length(r) >= at_series) r[[at_series]] else "", "")
      if (!anyDuplicated(key)) {
        return(NULL)
      }
    }
  }
  if (is.na(at_series)) {
    has <- if (is.na(at_time)) "values" else paste("a time column,", quoted(header[at_time]))
    stop_file(
      at_line(path, lines$header), ": the header has ", has, ", but no column telling the series ",
      "apart, such as \"series\" or \"id\". Say which one it is with SERIES=, one of ",
      paste(any_of(setdiff(header, c("", header[c(at_time, at_value)]))), collapse = ", "),
      "; or write a series a row without times."
    )
  }
  # the class of a series may stand beside its name: "series,time,value,label"
  other <- setdiff(seq_along(header), c(at_series, at_time, at_value))
  at_class <- c(intersect(which(word %in% class_words), other), NA_integer_)[[1L]]
  at_dim <- c(intersect(which(word %in% dim_words), other), NA_integer_)[[1L]]
  if (length(at_value) != 1L) at_dim <- NA_integer_
  guessed <- !length(at_value)
  if (guessed) at_value <- setdiff(other, c(at_class, which(header == "")))
  if (!length(at_value)) {
    stop_file(at_line(path, lines$header), ": the header names no column of values.")
  }
  list(
    series = at_series, time = at_time, dim = at_dim, value = at_value, class = at_class,
    guessed = guessed
  )
}

# No row may have more cells than the header, nor fewer where exact; empty ones at the end are fine
check_width <- function(path, rows, header, lines, exact) {
  wrong <- which(lengths(rows) > length(header) | exact & lengths(rows) < length(header))
  beyond <- vapply(rows[wrong], \(r) {
    length(r) < length(header) || any(!is_gap(r[-seq_along(header)]))
  }, NA)
  wrong <- wrong[beyond]
  if (length(wrong)) {
    i <- wrong[[1L]]
    stop_file(
      at_line(path, lines$number[[i]]), " has ", length(rows[[i]]), " columns, the header in line ",
      lines$header, " has ", length(header), ".", and_more(length(wrong), "lines")
    )
  }
}

# The leading columns of names: by their header, or because most of their cells are no numbers
leading_labels <- function(rows, header, width) {
  labels <- list()
  while (length(labels) < width) {
    j <- length(labels) + 1L
    cells <- vapply(rows, \(r) if (length(r) >= j) r[[j]] else "", "")
    name <- if (is.null(header)) "none" else header[[j]]
    by_name <- plain(name) %in% label_words || j == 1L && name == ""
    if (!by_name && mean(!is_number(cells) & !is_gap(cells)) <= 0.5) break
    labels[[j]] <- cells
  }
  labels
}

read_wide <- function(path, rows, header, lines) {
  notes <- character()
  width <- max(lengths(rows))
  if (!is.null(header)) {
    check_width(path, rows, header, lines, exact = FALSE)
    width <- length(header)
  }
  # a class as the last column of a file with a header
  truth <- NULL
  if (width > 1L && length(header) == width && plain(header[[width]]) %in% class_words) {
    truth <- vapply(rows, \(r) if (length(r) >= width) r[[width]] else "", "")
    rows <- lapply(rows, \(r) r[seq_len(min(length(r), width - 1L))])
    width <- width - 1L
  }
  labels <- leading_labels(rows, header, width)
  front <- length(labels)
  if (front == width) {
    stop_file(
      at_line(path, lines$number[[1L]]), ": there are no numbers, every column is text. ",
      "A wide file has a series a row; commas, semicolons, tabs or blanks separate its numbers."
    )
  }

  cells <- lapply(rows, \(r) if (front > 0L) r[-seq_len(front)] else r)
  size <- lengths(cells)
  row <- rep(seq_along(cells), size)
  col <- sequence(size) + front
  where <- function(i) {
    paste0(at_line(path, lines$number[[row[[i]]]]), column_named(col[[i]], header))
  }
  value <- numbers_of(unlist(cells), where, lines$sep)
  have <- !is.na(value)
  last <- vapply(split(ifelse(have, col, 0L), factor(row, seq_along(cells))), \(j) max(0, j), 0)
  none <- which(last == 0)
  if (length(none)) {
    i <- lines$number[[none[[1L]]]]
    stop_file(at_line(path, i), " holds no value.", and_more(length(none), "lines"))
  }
  gaps <- which(!have & col <= last[row])
  kept <- col <= last[row]
  series <- unname(split(value[kept], row[kept]))
  series <- lapply(series, \(v) matrix(v, ncol = 1L))

  name <- paste0("line ", lines$number)
  for (cells in labels) {
    if (!anyDuplicated(cells) && !any(is_gap(cells))) {
      name <- cells
    } else if (length(unique(cells)) <= max(2, length(cells) / 2)) {
      truth <- cells
    }
  }
  list(
    form = "wide", series = stats::setNames(series, name), truth = truth, missing = length(gaps),
    first_gap = if (length(gaps)) where(gaps[[1L]]), notes = notes
  )
}

read_long <- function(path, rows, header, columns, lines) {
  notes <- character()
  check_width(path, rows, header, lines, exact = TRUE)
  cell <- function(j) vapply(rows, `[[`, "", j)
  where_in <- function(j) {
    function(i) paste0(at_line(path, lines$number[[i]]), column_named(j, header))
  }
  # columns nobody named as values are left out where they hold mostly text
  if (columns$guessed) {
    text <- vapply(columns$value, \(j) mean(!is_number(cell(j)) & !is_gap(cell(j))) > 0.5, NA)
    if (all(text)) {
      where <- where_in(columns$value[[1L]])
      stop_file(where(1L), ": ", quoted(cell(columns$value[[1L]])[[1L]]), " is not a number.")
    }
    if (any(text)) {
      left <- paste(quoted(header[columns$value[text]]), collapse = ", ")
      notes <- c(notes, paste0("Columns of text are left out: ", left, "."))
      columns$value <- columns$value[!text]
    }
  }

  key <- cell(columns$series)
  empty <- which(is_gap(key))
  if (length(empty)) {
    stop_file(
      where_in(columns$series)(empty[[1L]]), ": the name of the series is missing.",
      and_more(length(empty), "lines")
    )
  }
  time <- if (is.na(columns$time)) {
    notes <- c(notes, "There is no time column: the lines of a series are taken in their order.")
    seq_along(key)
  } else {
    times_of(cell(columns$time), where_in(columns$time), lines$sep)
  }
  value <- vapply(
    columns$value, \(j) numbers_of(cell(j), where_in(j), lines$sep), numeric(length(key))
  )
  value <- matrix(value, nrow = length(key), dimnames = list(NULL, header[columns$value]))
  line <- lines$number

  if (!is.na(columns$dim)) {
    which_dim <- cell(columns$dim)
    if (is.na(columns$time)) time <- stats::ave(time, key, which_dim, FUN = seq_along)
    dims <- unique(which_dim)
  } else {
    which_dim <- rep("", length(key))
    dims <- NULL
  }
  twice <- which(duplicated(data.frame(key, time, which_dim)))
  if (length(twice)) {
    i <- twice[[1L]]
    j <- which(key == key[[i]] & time == time[[i]] & which_dim == which_dim[[i]])[[1L]]
    stop_file(
      at_line(path, line[[i]]), ": series ", quoted(key[[i]]), " has time ",
      quoted(cell(columns$time)[[i]]), " twice, first in line ", line[[j]], ".",
      and_more(length(twice), "lines")
    )
  }

  names <- unique(key)
  at <- split(seq_along(key), factor(key, names))
  missing <- 0L
  first_gap <- NULL
  series <- lapply(at, \(i) {
    i <- i[order(time[i])]
    v <- value[i, , drop = FALSE]
    where <- line[i]
    if (!is.null(dims)) {
      steps <- unique(time[i])
      full <- matrix(NA_real_, length(steps), length(dims), dimnames = list(NULL, dims))
      full[cbind(match(time[i], steps), match(which_dim[i], dims))] <- v
      where <- where[match(steps, time[i])]
      v <- full
    }
    # empty lines at the end make a shorter series
    full <- which(rowSums(!is.na(v)) > 0L)
    if (!length(full)) {
      name <- quoted(key[[i[[1L]]]])
      stop_file(at_line(path, where[[1L]]), ": series ", name, " holds no value.")
    }
    v <- v[seq_len(max(full)), , drop = FALSE]
    if (anyNA(v)) {
      gap <- which(is.na(t(v)))
      missing <<- missing + length(gap)
      if (is.null(first_gap)) {
        step <- (gap[[1L]] - 1L) %/% ncol(v) + 1L
        which_column <- colnames(v)[[(gap[[1L]] - 1L) %% ncol(v) + 1L]]
        first_gap <<- paste0(at_line(path, where[[step]]), ", column ", quoted(which_column))
      }
    }
    v
  })
  truth <- NULL
  if (!is.na(columns$class)) {
    class <- cell(columns$class)
    one <- vapply(at, \(i) length(unique(class[i])) == 1L, NA)
    if (all(one)) truth <- class[vapply(at, `[[`, 0L, 1L)]
  }
  list(
    form = "long", series = stats::setNames(series, names), truth = truth, missing = missing,
    first_gap = first_gap, notes = notes
  )
}
