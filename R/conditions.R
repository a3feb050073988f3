# Classed conditions. Every error of the package is a `softdtw_error`, with a second class that says
# what kind it is, so that a script can catch one kind and a test needs no text.

stop_softdtw <- function(class, message, ..., call = user_call()) {
  stop(structure(
    class = c(paste0("softdtw_error_", class), "softdtw_error", "error", "condition"),
    list(message = paste0(message, collapse = ""), call = call, ...)
  ))
}

warn_softdtw <- function(message, ..., call = user_call()) {
  warning(structure(
    class = c("softdtw_warning", "warning", "condition"),
    list(message = paste0(message, collapse = ""), call = call, ...)
  ))
}

# The call the user typed: the outermost frame of a function of this package. Helpers may then be
# nested at will without carrying a call through every one of them.
user_call <- function() {
  home <- environment(user_call)
  for (i in seq_len(sys.nframe())) {
    if (identical(environment(sys.function(i)), home)) {
      return(sys.call(i))
    }
  }
  NULL
}

# How a message begins that is about one series: "`x`" when the argument is one bare series, else
# also its number and, where it has one, its name.
name_series <- function(arg, i = NULL, names = NULL) {
  if (is.null(i)) sprintf("`%s`", arg) else sprintf("`%s`: %s", arg, short_name(i, names))
}

# "series 3" or "series 3 (\"b\")".
short_name <- function(i, names = NULL) {
  named <- length(names) >= i && nzchar(names[i])
  paste0("series ", big_number(i), if (named) sprintf(" (\"%s\")", names[i]))
}

# The kind of an object in a few words, for "must be numeric, not ...".
describe <- function(x) {
  if (is.null(x)) {
    return("NULL")
  }
  if (is.object(x)) {
    return(describe_class(x))
  }
  if (is.function(x)) {
    return("a function")
  }
  form <- if (is.matrix(x)) "matrix" else if (is.array(x)) "array" else "vector"
  kind <- typeof(x)
  switch(kind,
    list = "a list",
    logical = ,
    character = ,
    complex = ,
    raw = paste("a", kind, form),
    double = ,
    integer = paste("a numeric", form),
    paste("an object of type", kind)
  )
}

describe_class <- function(x) {
  if (is.data.frame(x)) {
    return("a data frame (data.frame)")
  }
  if (is.factor(x)) {
    return("a factor")
  }
  if (inherits(x, c("ts", "zoo")) && is.atomic(x)) {
    wrapped <- c(attr(x, "oclass"), if (!is.null(attr(x, "levels"))) "factor", typeof(x))[1L]
    return(sprintf("a %s object of type %s", class(x)[1L], wrapped))
  }
  sprintf("an object of class \"%s\"", paste(class(x), collapse = "\", \""))
}

# A count without exponent: 2000000, never 2e+06.
big_number <- function(x) format(x, scientific = FALSE, trim = TRUE, digits = 15)

plural <- function(n, one, many = paste0(one, "s")) {
  paste(big_number(n), if (n == 1) one else many)
}
