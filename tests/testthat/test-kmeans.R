# six rising, four falling, two flat series of unequal lengths
three_kinds <- function() {
  with_seed(81, {
    make <- function(f, n) lapply(seq_len(n), \(k) f(sample(10:16, 1)) + stats::rnorm(1) / 20)
    x <- c(make(\(n) seq(0, 3, length.out = n), 6), make(\(n) seq(3, 0, length.out = n), 4),
      make(\(n) rep(5, n), 2))
    names(x) <- c(paste0("up", 1:6), paste0("down", 1:4), paste0("flat", 1:2))
    x
  })
}

fit_three <- function(...) {
  with_seed(82, softdtw_kmeans(three_kinds(), 3, gamma = 0.1, nstart = 5, ...))
}

# centroids and values recomputed from what the fit gives
recomputed <- function(fit, x) {
  values <- softdtw_matrix(x, fit$centers, gamma = fit$gamma, cost = fit$cost, type = fit$type)
  list(nearest = unname(max.col(-values, "first")), own = values[cbind(seq_along(x), fit$cluster)])
}

test_that("clear clusters are found and numbered by decreasing size", {
  fit <- fit_three()
  expect_s3_class(fit, "softdtw_kmeans")
  expect_identical(unname(fit$cluster), rep(1:3, c(6, 4, 2)))
  expect_named(fit$cluster, names(three_kinds()))
  expect_identical(as.integer(fit$size), c(6L, 4L, 2L))
})

test_that("the objective is the plain sum of values to the own centroid", {
  x <- three_kinds()
  for (type in c("softdtw", "divergence")) {
    fit <- fit_three(type = type)
    again <- recomputed(fit, x)
    within <- vapply(1:3, \(g) sum(again$own[fit$cluster == g]), 0)
    expect_relative(fit$withinss, within, 1e-9)
    expect_relative(fit$tot.withinss, sum(within), 1e-9)
    expect_relative(fit$distance, again$own, 1e-9)
    expect_identical(unname(fit$cluster), again$nearest)
  }
})

test_that("the objective never rises and ends in tot.withinss", {
  x <- with_seed(83, random_set(sample(8:20, 40, TRUE), 2))
  for (type in c("softdtw", "divergence")) {
    fit <- with_seed(84, softdtw_kmeans(x, 5, gamma = 0.5, type = type))
    expect_true(all(diff(fit$trace) <= 0))
    expect_relative(fit$trace[length(fit$trace)], fit$tot.withinss, 1e-9)
    expect_true(is.numeric(fit$iter) && fit$iter >= 1)
  }
})

test_that("each centroid is a barycenter of its cluster", {
  x <- three_kinds()
  fit <- fit_three()
  expect_true(fit$converged)
  for (g in 1:3) {
    members <- x[fit$cluster == g]
    b <- softdtw_barycenter(members, gamma = 0.1, init = fit$centers[[g]])
    expect_relative(b$objective, fit$withinss[g], 1e-6)
  }
})

test_that("k = 1 is the barycenter, k = n is every series on its own", {
  x <- three_kinds()
  one <- softdtw_kmeans(x, 1, gamma = 0.1)
  expect_true(all(one$cluster == 1))
  expect_identical(as.integer(one$size), 12L)
  b <- softdtw_barycenter(x, gamma = 0.1)
  expect_true(one$tot.withinss <= b$trace[1])
  all <- with_seed(85, softdtw_kmeans(list(1:3, c(5, 5), c(9, 1, 9, 1)), 3))
  expect_identical(unname(all$cluster), 1:3)
  expect_identical(as.integer(all$size), c(1L, 1L, 1L))
})

test_that("one series alone can be clustered", {
  fit <- softdtw_kmeans(list(a = c(1, 2, 3)), 1, gamma = 0)
  expect_identical(fit$cluster, c(a = 1L))
  expect_within(fit$centers[[1]], c(1, 2, 3), 1e-6)
})

test_that("centroids to start from keep their lengths; nstart does not matter then", {
  x <- three_kinds()
  start <- list(x[[1]], c(3, 1, 0), rep(5, 21))
  fit <- softdtw_kmeans(x, start, gamma = 0.1)
  expect_setequal(lengths(fit$centers), c(length(x[[1]]), 3L, 21L))
  expect_identical(softdtw_kmeans(x, start, gamma = 0.1, nstart = 7)$centers, fit$centers)
  start_cost <- softdtw_matrix(x, start, gamma = 0.1)
  expect_relative(fit$trace[1], sum(apply(start_cost, 1, min)), 1e-12)
  rows <- softdtw_kmeans(x, rbind(c(0, 1, 2, 3), c(3, 2, 1, 0)), gamma = 0.1)
  expect_length(rows$centers, 2L)
})

test_that("the same seed gives the same answer, another number of threads too", {
  x <- with_seed(86, random_set(sample(8:20, 30, TRUE)))
  run <- function(n = test_threads) {
    with_threads(n, with_seed(87, {
      fit <- softdtw_kmeans(x, 4, gamma = 0.5, nstart = 2)
      list(fit$cluster, fit$centers, fit$withinss, stats::runif(3))
    }))
  }
  first <- run()
  expect_identical(run(), first)
  expect_identical(run(1), first)
  expect_identical(run(2), first)
})

test_that("the kind of random numbers is used as it is and left alone", {
  kind <- RNGkind()
  on.exit(RNGkind(kind[1], kind[2], kind[3]))
  RNGkind("Wichmann-Hill")
  set.seed(1)
  a <- softdtw_kmeans(three_kinds(), 3, gamma = 0.1)
  expect_identical(RNGkind()[1], "Wichmann-Hill")
  set.seed(1)
  b <- softdtw_kmeans(three_kinds(), 3, gamma = 0.1)
  expect_identical(a$cluster, b$cluster)
  expect_identical(a$centers, b$centers)
})

test_that("a given start draws no random numbers", {
  x <- three_kinds()
  with_seed(88, {
    before <- .Random.seed
    softdtw_kmeans(x, x[c(1, 7, 11)], gamma = 0.1)
    expect_identical(.Random.seed, before)
  })
})

test_that("k-means++ starts in clusters that lie far apart, whatever the seed", {
  x <- with_seed(101, as.list(rep(c(0, 1000, 2000), each = 5) + stats::rnorm(15)))
  whole <- vapply(1:20, \(seed) {
    all(with_seed(seed, softdtw_kmeans(x, 3))$size == 5)
  }, NA)
  expect_true(all(whole))
})

test_that("more starts never do worse, from the same stream", {
  x <- with_seed(89, random_set(sample(8:20, 30, TRUE)))
  one <- with_seed(90, softdtw_kmeans(x, 4, gamma = 0.5))
  many <- with_seed(90, softdtw_kmeans(x, 4, gamma = 0.5, nstart = 4))
  expect_lte(many$tot.withinss, one$tot.withinss)
})

test_that("an empty cluster takes the series with the largest own cost", {
  # nobody is near 1000: that centroid starts empty, and -30 costs the most
  x <- list(0, 0.1, 20, 0.1, -30)
  fit <- softdtw_kmeans(x, list(0, 1000), gamma = 0)
  expect_identical(unname(fit$cluster), c(1L, 1L, 1L, 1L, 2L))
  expect_within(fit$centers[[2]], -30, 1e-6)
  expect_true(all(diff(fit$trace) <= 0))
  # a weight can change which one that is
  fit <- softdtw_kmeans(x, list(0, 1000), gamma = 0, weights = c(1, 1, 5, 1, 1))
  expect_identical(unname(fit$cluster), c(1L, 1L, 2L, 1L, 1L))
})

test_that("more clusters than distinct series stay empty, with a warning", {
  x <- rep(list(c(1, 2), c(5, 6, 7)), 3)
  expect_warning(
    fit <- with_seed(91, softdtw_kmeans(x, 4, gamma = 0, type = "divergence")),
    class = "softdtw_warning"
  )
  expect_identical(as.integer(sort(fit$size)), c(0L, 0L, 3L, 3L))
  expect_true(all(vapply(fit$centers, \(z) all(is.finite(z)), NA)))
})

test_that("weights are used as given; a series of weight 0 is assigned but moves nothing", {
  x <- three_kinds()
  w <- c(rep(1, 6), rep(2, 4), 3, 0)
  start <- x[c(1, 7, 11)]
  fit <- softdtw_kmeans(x, start, gamma = 0.1, weights = w)
  own <- recomputed(fit, x)$own
  expect_relative(fit$tot.withinss, sum(w * own), 1e-9)
  expect_identical(fit$cluster[["flat2"]], fit$cluster[["flat1"]])
  gone <- softdtw_kmeans(x[-12], start, gamma = 0.1, weights = w[-12])
  same_cluster <- fit$cluster[["flat1"]]
  expect_within(fit$centers[[same_cluster]], gone$centers[[gone$cluster[["flat1"]]]], 1e-6)
})

test_that("costs, windows and several dimensions go through", {
  x <- lapply(three_kinds(), \(s) cbind(s + 1, 2))
  for (cost in ref_costs) {
    fit <- with_seed(92, softdtw_kmeans(x, 2, gamma = 0.1, cost = cost, window = 4, iter.max = 5))
    values <- softdtw_matrix(x, fit$centers, gamma = 0.1, cost = cost, window = 4)
    expect_relative(fit$tot.withinss, sum(values[cbind(1:12, fit$cluster)]), 1e-8)
    expect_true(all(diff(fit$trace) <= 0))
  }
})

test_that("integer series, hard DTW and random seeding", {
  x <- list(c(1L, 2L, 3L), 1:4, c(2L, 2L, 3L), c(900L, 800L), c(850L, 800L, 810L))
  for (init in c("kmeans++", "random")) {
    fit <- with_seed(93, softdtw_kmeans(x, 2, gamma = 0, init = init, nstart = 4))
    expect_identical(unname(fit$cluster), c(1L, 1L, 1L, 2L, 2L))
  }
})

test_that("predict gives the labels back, and labels and distances of new series", {
  x <- three_kinds()
  fit <- fit_three()
  expect_identical(unname(predict(fit)), unname(fit$cluster))
  expect_identical(unname(predict(fit, x)), unname(fit$cluster))
  new <- list(p = seq(0, 3, length.out = 31), q = 5)
  expect_identical(unname(predict(fit, new)), c(1L, 3L))
  values <- predict(fit, new, type = "distance")
  expect_identical(unname(values), unname(softdtw_matrix(new, fit$centers, gamma = 0.1)))
  expect_identical(rownames(values), c("p", "q"))
  expect_length(predict(fit, new[1]), 1L)
  # a bare matrix holds one series a row
  expect_identical(unname(predict(fit, rbind(c(0, 1, 2, 3), c(3, 2, 0, NA)))), c(1L, 2L))
  expect_error(predict(fit, list(cbind(1:3, 1:3))), class = "softdtw_error_dimension")
  expect_error(predict(fit, list(c(1, NA))), class = "softdtw_error_missing")
  expect_error(predict(fit, new, nonsense = 1), class = "softdtw_error")
})

test_that("fitted gives the centroid or the cluster of each series", {
  fit <- fit_three()
  centers <- fitted(fit)
  expect_length(centers, 12L)
  expect_identical(centers[[8]], fit$centers[[2]])
  expect_identical(fitted(fit, "classes"), fit$cluster)
})

test_that("centers come in the kind of the data, a common ts index included", {
  x <- lapply(1:6, \(k) stats::ts(sin(1:12 / 2) + 4 * (k > 3), start = c(2000, 1), frequency = 12))
  fit <- with_seed(94, softdtw_kmeans(x, 2, gamma = 0.1))
  expect_s3_class(fit$centers[[1]], "ts")
  expect_identical(stats::tsp(fit$centers[[2]]), stats::tsp(x[[1]]))
  m <- lapply(1:6, \(k) cbind(u = 1:4 + 9 * (k > 3), v = k > 3))
  fit <- with_seed(95, softdtw_kmeans(m, 2))
  expect_identical(colnames(fit$centers[[1]]), c("u", "v"))
})

test_that("there is no totss and no betweenss", {
  expect_false(any(c("totss", "betweenss") %in% names(fit_three())))
})

test_that("a fit cut short says so", {
  x <- with_seed(96, random_set(sample(8:20, 40, TRUE), 2))
  fit <- with_seed(97, softdtw_kmeans(x, 6, gamma = 0.1, iter.max = 1))
  expect_false(fit$converged)
  expect_identical(as.integer(fit$iter), 1L)
})

test_that("wrong numbers and centroids are errors", {
  x <- list(a = 1:3, b = 2:5, c = 7:9)
  expect_error_snapshot({
    softdtw_kmeans(x)
    softdtw_kmeans(x, 0)
    softdtw_kmeans(x, 4)
    softdtw_kmeans(x, 1.5)
    softdtw_kmeans(x, NA)
    softdtw_kmeans(x, "2")
    softdtw_kmeans(x, NULL)
    softdtw_kmeans(x, list(1:3, 2:3, 1:2, 1))
    softdtw_kmeans(x, list(1:3, cbind(1:3, 1:3)))
    softdtw_kmeans(x, list(cbind(1:3, 1:3)))
    softdtw_kmeans(x, list(1:3, c(1, NA)))
    softdtw_kmeans(x, 2, nstart = 0)
    softdtw_kmeans(x, 2, iter.max = 0)
    softdtw_kmeans(x, 2, weights = c(1, 2))
    softdtw_kmeans(x, 2, window = 0)
    softdtw_kmeans(list(1:3, c(NA, 1)), 1)
  })
})

test_that("print, summary and as.data.frame", {
  x <- list(a = 0, b = 0, c = 9, d = 9, e = 0)
  fit <- softdtw_kmeans(x, list(0, 9), gamma = 0)
  expect_snapshot(print(fit))
  expect_output(print(summary(fit)), "Clusters")
  d <- as.data.frame(fit)
  expect_identical(d$series, letters[1:5])
  expect_identical(d$cluster, c(1L, 1L, 2L, 2L, 1L))
})

test_that("plots draw without warnings and leave par() as it was", {
  fit <- fit_three()
  expect_true(draws_quietly(\() plot(fit)))
  expect_true(draws_quietly(\() plot(fit, what = "trace")))
  expect_true(draws_quietly(\() plot(fit, members = FALSE)))
  one <- softdtw_kmeans(list(1, 2), 1)
  expect_true(draws_quietly(\() plot(one)))
  m <- lapply(1:6, \(k) cbind(u = 1:4 + 9 * (k > 3), v = k > 3))
  expect_true(draws_quietly(\() plot(with_seed(98, softdtw_kmeans(m, 2)))))
})
