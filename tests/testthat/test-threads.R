# No thread count changes a bit of any result.

all_results <- function() {
  set <- with_seed(201, random_set(c(1, 40, 7, 30, 30, 12, 25, 3, 18, 40, 33, 2), 2))
  labels <- rep(c("a", "b", "c"), 4)
  with_seed(202, list(
    value = softdtw(set, set[1]),
    grad = softdtw_grad(set, set[2]),
    alignment = as.matrix(softdtw_alignment(set[[2]], set[[4]])),
    matrix = softdtw_matrix(set),
    cross = softdtw_matrix(set[1:3], set, type = "divergence"),
    dist = softdtw_dist(set),
    knn = softdtw_knn(set, k = 3),
    gamma = softdtw_gamma(set),
    loss = softdtw_loss(matrix(1:12 / 3, 3), matrix(12:1 / 4, 3)),
    barycenter = as.matrix(softdtw_barycenter(set, length = 9)),
    kmeans = unclass(softdtw_kmeans(set, centers = 3))[c("cluster", "withinss", "size")],
    centroids = stats::predict(softdtw_centroids(set, labels), set)
  ))
}

test_that("one, two and three threads give the same bits", {
  one <- with_threads(1, all_results())
  expect_identical(with_threads(2, all_results()), one)
  expect_identical(with_threads(3, all_results()), one)
  expect_identical(with_threads(2, all_results()), one)
})

test_that("`threads` of one call wins over the default and leaves it alone", {
  set <- with_seed(203, random_set(rep(20, 20)))
  before <- softdtw_threads()
  expect_identical(softdtw_matrix(set, threads = 1), softdtw_matrix(set, threads = 2))
  expect_identical(softdtw_threads(), before)
})

test_that("a long pair alone gives the same bits on one and two threads", {
  x <- sin(seq_len(700) / 9)
  y <- cos(seq_len(500) / 7)
  one <- with_threads(1, list(softdtw(x, y), softdtw_grad(x, y)))
  expect_identical(with_threads(2, list(softdtw(x, y), softdtw_grad(x, y))), one)
})

test_that("a forked child after a threaded call neither hangs nor differs", {
  skip_on_os("windows")
  skip_if(test_backend == "cuda", "CUDA does not survive a fork (test-backend.R)")
  set <- with_seed(204, random_set(rep(30, 24)))
  want <- with_threads(2, softdtw_matrix(set))
  got <- parallel::mclapply(1:4, \(k) {
    list(matrix = softdtw_matrix(set), threads = softdtw_threads())
  }, mc.cores = 2)
  expect_identical(lapply(got, `[[`, "matrix"), rep(list(want), 4))
  expect_identical(vapply(got, \(g) as.integer(g$threads), 1L), rep(1L, 4))
  expect_identical(softdtw_matrix(set), want)
})

# Interrupts: a child R process starts a long call, gets SIGINT, and must end by itself with the
# condition caught. The limits below only say "it ended", not how fast the machine is.

# Runs `code` (text) in a child process that is interrupted once it has printed "ready"; its output.
interrupted <- function(code, after = 0.5) {
  out <- tempfile("softdtw-")
  on.exit(unlink(out))
  script <- c(
    sprintf("cat('pid', Sys.getpid(), '\\n', file = '%s')", out),
    sprintf(".libPaths(c(%s))", paste0("'", .libPaths(), "'", collapse = ", ")),
    "suppressMessages(library(softdtw))",
    "softdtw_threads(2L)",
    sprintf("cat('ready\\n', file = '%s', append = TRUE)", out),
    "started <- proc.time()[['elapsed']]",
    sprintf("got <- tryCatch({ %s; 'finished' }, interrupt = function(i) 'interrupted',", code),
    "  error = function(e) paste('error', conditionMessage(e)))",
    sprintf("cat(got, '\\n', file = '%s', append = TRUE)", out),
    "v <- softdtw(c(2, 5, 1), c(4, 5, 1), gamma = 0)",
    sprintf("cat('next', v, '\\n', file = '%s', append = TRUE)", out)
  )
  file <- tempfile("softdtw-", fileext = ".R")
  on.exit(unlink(file), add = TRUE)
  writeLines(script, file)
  system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(file)),
    wait = FALSE, stdout = FALSE, stderr = FALSE
  )
  lines <- wait_for(out, "ready", 60)
  pid <- as.integer(sub("pid ([0-9]+).*", "\\1", grep("^pid", lines, value = TRUE)[1]))
  Sys.sleep(after)
  tools::pskill(pid, tools::SIGINT)
  lines <- wait_for(out, "next", 20)
  tools::pskill(pid, tools::SIGKILL)
  trimws(lines)
}

wait_for <- function(file, word, seconds) {
  lines <- character()
  for (k in seq_len(seconds * 20)) {
    if (file.exists(file)) lines <- readLines(file, warn = FALSE)
    if (any(startsWith(lines, word))) break
    Sys.sleep(0.05)
  }
  lines
}

expect_interrupted <- function(code) {
  lines <- interrupted(code)
  expect_identical(lines[-1], c("ready", "interrupted", "next 4"))
}

test_that("Ctrl-C ends a long pair, matrix and gradient, and the next call is right", {
  skip_on_cran()
  skip_on_os("windows")
  expect_interrupted("softdtw(sin(1:400000), cos(1:400000))")
  expect_interrupted("softdtw_matrix(lapply(1:3000, \\(k) sin(k + 1:500)))")
  expect_interrupted("softdtw_grad(sin(1:100000), cos(1:100000))")
})

test_that("Ctrl-C ends a barycenter and k-means", {
  skip_on_cran()
  skip_on_os("windows")
  set <- "lapply(1:800, \\(k) sin(k + 1:700))"
  expect_interrupted(sprintf("softdtw_barycenter(%s)", set))
  expect_interrupted(sprintf("softdtw_kmeans(%s, centers = 5, nstart = 50)", set))
})
