numbers_of <- function(x) list(values = x$values, lengths = x$lengths, d = x$d)

test_that("every form of one series and of a set gives the same numbers", {
  v <- c(2, 5, 1)
  want <- numbers_of(as_series(list(v)))
  expect_identical(numbers_of(as_series(list(matrix(v)))), want)
  expect_identical(numbers_of(as_series(list(as.integer(v)))), want)
  expect_identical(numbers_of(as_series(list(stats::ts(v, 2001)))), want)
  expect_identical(numbers_of(as_series(matrix(v, 1))), want)
  expect_identical(numbers_of(as_series(matrix(2:5, 1)[, c(1, 4), drop = FALSE])), list(
    values = c(2, 5), lengths = 2L, d = 1L
  ))
  expect_identical(numbers_of(as_series(array(v, c(1, 3, 1)))), want)
  frame <- data.frame(who = "a", when = c(3, 1, 2), size = c(1, 2, 5))
  expect_identical(numbers_of(as_series(frame, "who", "when", "size")), want)
  expect_identical(numbers_of(as_series(as_series(list(v)))), want)
})

test_that("values of several dimensions lie time by time, the dimension fastest", {
  m <- matrix(1:6, 3, dimnames = list(NULL, c("u", "v")))
  s <- as_series(list(a = m, b = m[1:2, ] * 10L))
  expect_identical(s$values, as.double(c(1, 4, 2, 5, 3, 6, 10, 40, 20, 50)))
  expect_identical(s$lengths, c(3L, 2L))
  expect_identical(s$d, 2L)
  expect_identical(s$dim_names, c("u", "v"))
  expect_identical(names(s), c("a", "b"))
  expect_identical(s$lower, c(1, 4))
  expect_identical(s$upper, c(30, 60)[c(1, 1)] * 0 + c(20, 50))
})

test_that("an array is series by time by dimension", {
  a <- array(seq_len(24), c(2, 3, 4))
  s <- as_series(a)
  expect_identical(length(s), 2L)
  expect_identical(s[[1]], matrix(as.double(a[1, , ]), 3))
  expect_identical(s[[2]], matrix(as.double(a[2, , ]), 3))
})

test_that("NA at the ends of rows means a shorter series, in a matrix and in an array", {
  m <- rbind(a = c(1, 2, 3), b = c(4, NA, NA), c = c(5, 6, NA))
  expect_identical(as.list(as_series(m)), list(a = c(1, 2, 3), b = 4, c = c(5, 6)))
  a <- array(1, c(2, 3, 2))
  a[2, 3, ] <- NA
  expect_identical(as_series(a)$lengths, c(3L, 2L))
})

test_that("long data frames go by id in order of appearance and by time within", {
  frame <- data.frame(
    id = c("z", "a", "z", "a", "z"), t = c(2, 1, 1, 2, 3), u = 1:5, v = c(10, 20, 30, 40, 50)
  )
  s <- as_series(frame, "id", "t", c("u", "v"))
  expect_identical(names(s), c("z", "a"))
  expect_identical(s[["z"]], cbind(u = c(3, 1, 5), v = c(30, 10, 50)))
  expect_identical(s[["a"]], cbind(u = c(2, 4), v = c(20, 40)))
  # without `values` all other columns; without `time` the order of the rows
  expect_identical(numbers_of(as_series(frame, "id", "t")), numbers_of(s))
  expect_identical(as_series(frame[c(1, 3, 5), ], "id", values = "u")[[1]], c(1, 3, 5))
  two <- as_series(data.frame(a = c(1, 1, 2), b = c("x", "y", "y"), v = 1:3), c("a", "b"))
  expect_identical(names(two), c("1.x", "1.y", "2.y"))
})

test_that("times that are dates or ordered factors sort in time", {
  frame <- data.frame(id = 1, t = as.Date("2020-01-10") - c(0, 5, 9), v = 1:3)
  expect_identical(as_series(frame, "id", "t")[[1]], c(3, 2, 1))
  frame$t <- factor(c("c", "b", "a"), ordered = TRUE)
  expect_identical(as_series(frame, "id", "t")[[1]], c(3, 2, 1))
})

test_that("a set can be counted, named, subset, taken apart and joined", {
  s <- as_series(list(a = 1:3, b = 4, c = c(5, 6)))
  expect_s3_class(s, "softdtw_series")
  expect_length(s, 3L)
  expect_identical(names(s), c("a", "b", "c"))
  expect_identical(as.list(s[c("c", "a")]), list(c = c(5, 6), a = c(1, 2, 3)))
  expect_identical(as.list(s[-1]), list(b = 4, c = c(5, 6)))
  expect_identical(as.list(s[c(TRUE, FALSE, TRUE)]), list(a = c(1, 2, 3), c = c(5, 6)))
  expect_identical(s[["b"]], 4)
  expect_identical(s[[3]], c(5, 6))
  expect_identical(as_series(as.list(s)), s)
  expect_identical(as.list(c(s[1], s[2:3])), as.list(s))
  names(s) <- c("x", "y", "z")
  expect_identical(names(s), c("x", "y", "z"))
  expect_null(names(as_series(list(1, 2))))
})

test_that("subsetting takes the range along", {
  s <- as_series(list(c(0, 1e10), c(1, 2)))
  expect_identical(c(s[2]$lower, s[2]$upper), c(1, 2))
})

test_that("a set is plain data and survives being saved", {
  s <- as_series(list(a = c(1, 2), b = matrix(3:4)))
  file <- tempfile(fileext = ".rds")
  saveRDS(s, file)
  expect_identical(readRDS(file), s)
  unlink(file)
})

test_that("a set already packed gives the same results as the list it came from", {
  x <- with_seed(1, random_set(c(3, 9, 1, 5), 2))
  s <- as_series(x)
  expect_identical(softdtw_matrix(s), softdtw_matrix(x))
  expect_identical(softdtw(s, x[[2]]), softdtw(x, x[[2]]))
  expect_identical(softdtw_matrix(s[2:3]), softdtw_matrix(x[2:3]))
})

test_that("ts, zoo and xts come back from a set as they went in", {
  a <- stats::ts(c(1, 4, 2), start = c(2001, 2), frequency = 12)
  expect_identical(as.list(as_series(list(a)))[[1]], a)
  b <- stats::ts(cbind(u = 1:3, v = 3:1) + 0.5, start = 1990)
  expect_equal(as_series(list(b, b))[[2]], b)
  skip_if_not_installed("zoo")
  z <- zoo::zoo(c(1, 4, 2), as.Date("2020-01-01") + c(0, 3, 4))
  expect_identical(as_series(list(z))[[1]], z)
  skip_if_not_installed("xts")
  w <- xts::xts(cbind(p = c(1, 4, 2)), as.POSIXct("2020-01-01", tz = "UTC") + c(0, 3, 4))
  expect_equal(as_series(list(w))[[1]], w)
})

test_that("integers, logical NA and integer NA are read as numbers", {
  expect_identical(as_series(list(1:3))$values, c(1, 2, 3))
  expect_error(as_series(list(NA)), class = "softdtw_error_missing")
  expect_error(as_series(list(c(1L, NA))), class = "softdtw_error_missing")
})

test_that("na = \"omit\" drops whole time steps", {
  m <- cbind(c(1, NA, 3, 4), c(5, 6, NA, 8))
  s <- as_series(list(m, m[c(1, 4), ]), na = "omit")
  expect_identical(s$lengths, c(2L, 2L))
  expect_identical(s$values, as.double(c(1, 5, 4, 8, 1, 5, 4, 8)))
})

test_that("a ts that loses steps stays one only where the rest is a run", {
  a <- stats::ts(c(NA, 1, 2, 5), start = 1990)
  expect_identical(as_series(list(a), na = "omit")[[1]], stats::ts(c(1, 2, 5), start = 1991))
  a <- stats::ts(c(3, 1, NA, 5), start = 1990)
  expect_identical(as_series(list(a), na = "omit")[[1]], c(3, 1, 5))
})

test_that("na = \"interpolate\" is linear per dimension, the ends carried", {
  s <- as_series(list(c(NA, 1, NA, NA, 4, NA)), na = "interpolate")
  expect_identical(s[[1]], c(1, 1, 2, 3, 4, 4))
  m <- cbind(c(1, NA, 3), c(NA, 6, 8))
  expect_identical(as_series(list(m), na = "interpolate")[[1]], cbind(c(1, 2, 3), c(6, 6, 8)))
  expect_identical(as_series(list(c(NA, 7, NA)), na = "interpolate")[[1]], c(7, 7, 7))
})

test_that("print and summary say what the set is", {
  s <- as_series(list(a = c(1, 2.5), b = 1:12, c = 3))
  expect_snapshot(print(s))
  expect_snapshot(summary(s))
  expect_snapshot(print(as_series(matrix(1:40, 20))))
  expect_snapshot(as_series(list(cbind(u = 1:2, v = 3:4))))
})

test_that("wrong kinds of input are errors that say what was given", {
  expect_error_snapshot({
    as_series(list())
    as_series(NULL)
    as_series("a")
    as_series(list(1:3, letters))
    as_series(list(a = 1:3, b = factor(1:3)))
    as_series(list(1i))
    as_series(structure(1:3, class = "integer64"))
    as_series(as.Date("2020-01-01") + 0:3)
    as_series(list(TRUE, FALSE))
    as_series(list(list(1, 2)))
    as_series(array(1, c(2, 2, 2, 2)))
    as_series(matrix(0, 0, 3))
    as_series(array(0, c(0, 3, 1)))
    as_series(list(1:3, numeric()))
    as_series(list(matrix(0, 3, 0)))
    as_series(list(1:3, cbind(1:3, 1:3)))
    as_series(list(cbind(a = 1, b = 2), cbind(b = 1, a = 2)))
    as_series(data.frame(a = 1:3))
    as_series(1:3, what = 1)
  })
})

test_that("missing and infinite values are named by series, time and dimension", {
  expect_error_snapshot({
    as_series(list(1:3, c(1, NA)))
    as_series(list(a = 1:3, b = c(1, Inf)))
    as_series(list(a = c(1, -Inf)))
    as_series(list(1:3, NaN))
    as_series(list(cbind(u = 1:3, v = c(1, NA, 3))))
    as_series(rbind(1:3, c(1, NA, 3)))
    as_series(rbind(1:3, NA))
    as_series(list(c(NA, NA)), na = "omit")
    as_series(list(c(NA_real_, NA)), na = "interpolate")
    as_series(list(cbind(1:2, c(NA, NA_real_))), na = "interpolate")
    as_series(list(c(1, Inf)), na = "omit")
  })
})

test_that("a bad value deep in a large set is found at once and named", {
  set <- rep(list(c(1, 2, 3)), 50000)
  set[[41234]] <- c(1, 2, NA)
  e <- expect_error(softdtw_dist(set), class = "softdtw_error_missing")
  expect_identical(as.double(c(e$series, e$position)), c(41234, 3))
  expect_match(conditionMessage(e), "41234.*3")
  names(set) <- paste0("s", seq_along(set))
  set[[41234]] <- c(1, Inf, 3)
  e <- expect_error(softdtw_kmeans(set, 2), class = "softdtw_error_infinite")
  expect_match(conditionMessage(e), "41234.*s41234.*2")
  set[[41234]] <- cbind(1:2, 1:2)
  e <- expect_error(softdtw_matrix(set), class = "softdtw_error_dimension")
  expect_identical(as.integer(e$series), 41234L)
  set[[41234]] <- "a"
  e <- expect_error(softdtw_knn(set, k = 1), class = "softdtw_error_type")
  expect_identical(as.integer(e$series), 41234L)
})

test_that("bad columns of a data frame are named", {
  frame <- data.frame(id = c(1, 1, 2), t = c(1, 1, 1), v = c(1, 2, 3), w = letters[1:3])
  gap <- transform(frame, id = c(1, NA, 2))
  expect_error_snapshot({
    as_series(frame, "who")
    as_series(frame, "id", "when")
    as_series(frame, "id", "t", "x")
    as_series(frame, "id", "t", "v")
    as_series(frame, "id", values = "w")
    as_series(gap, "id", values = "v")
    as_series(frame[0, ], "id", "t", "v")
    as_series(frame["id"], "id")
    softdtw(frame, 1:3)
  })
})

test_that("subscripts outside the set and changes in place are errors", {
  s <- as_series(list(a = 1, b = 2))
  expect_error_snapshot({
    s[3]
    s["z"]
    s[0]
    s[["z"]]
    s[[1:2]]
    s[1] <- list(1)
    s[[1]] <- 1
    names(s) <- "a"
  })
})

test_that("a set plots without warnings and leaves par() as it was", {
  s <- as_series(list(a = c(1, 3, 2), b = 1:5))
  expect_true(draws_quietly(\() plot(s)))
  m <- as_series(list(cbind(u = 1:4, v = 4:1), cbind(u = 2:4, v = 1:3)))
  expect_true(draws_quietly(\() plot(m)))
  expect_true(draws_quietly(\() plot(as_series(list(stats::ts(1:9, 1990), stats::ts(9:1, 1990))))))
  expect_true(draws_quietly(\() plot(as_series(list(1)))))
})
