# What is compared with what. A comparison is a list:
#
#   name, peer     what is done, and the other package
#   asked          the ratio asked, theirs over ours; NA where only the figure is wanted
#   ours, theirs   functions of no argument that do it; each returns its result
#   ours_of, theirs_of  take from a result the numbers that both must have in common
#   units, unit    how many of what were done, or functions of the result that say so
#   one_sided      only that ours is not larger: an objective
#   turns          how often each is timed, if not as often as the rest

random_walks <- function(n, steps, dims = 1L) {
  set.seed(42)
  one <- function(t) {
    m <- apply(matrix(stats::rnorm(t * dims), t), 2L, cumsum)
    if (dims == 1L) as.vector(m) else m
  }
  lapply(rep_len(steps, n), one)
}

lower <- function(m) {
  m <- as.matrix(m)
  as.vector(m[lower.tri(m)])
}

comparison <- function(name, peer, asked, ours, theirs, values = lower, units = 1, unit = "call",
                       ...) {
  plain <- list(
    isa = best_isa, ours_of = values, theirs_of = values, ours_units = units, theirs_units = units,
    unit = unit, one_sided = FALSE, tolerance = 1e-8, turns = repeats
  )
  own <- list(name = name, peer = peer, asked = asked, ours = ours, theirs = theirs, ...)
  utils::modifyList(plain, own)
}

pairs_of <- function(x) length(x) * (length(x) - 1) / 2

# Matrices -----------------------------------------------------------------------------------------

# Ours has the pairs of a series with itself too.
self_matrix <- function(name, x, asked, isa = best_isa) {
  comparison(
    paste("self matrix,", name), "dtwclust", asked,
    ours = \() softdtw::softdtw_matrix(x, gamma = 1),
    theirs = \() suppressWarnings(proxy::dist(x, method = "sdtw", gamma = 1)),
    units = pairs_of(x), ours_units = pairs_of(x) + length(x), unit = "pair", isa = isa
  )
}

# dtwclust gives the root of the squared cost
hard_matrix <- function(x, asked) {
  comparison(
    "hard DTW matrix (gamma = 0), 100 random walks, T = 128", "dtwclust", asked,
    ours = \() softdtw::softdtw_matrix(x, gamma = 0),
    theirs = \() {
      suppressWarnings(
        proxy::dist(x, method = "dtw_basic", norm = "L2", step.pattern = dtw::symmetric1)
      )^2
    },
    units = pairs_of(x), unit = "pair"
  )
}

# parallelDist has the absolute difference as its cost
hard_parallel <- function(x, asked) {
  rows <- lapply(x, \(a) matrix(a, 1L))
  comparison(
    "hard DTW matrix, absolute differences, 100 random walks, T = 128", "parallelDist", asked,
    ours = \() softdtw::softdtw_matrix(x, gamma = 0, cost = "manhattan"),
    theirs = \() {
      parallelDist::parDist(rows, method = "dtw", step.pattern = "symmetric1", threads = 1L)
    },
    units = pairs_of(x), unit = "pair"
  )
}

one_pair <- function(x, asked) {
  comparison(
    "one pair, T = 4000, value", "dtwclust", asked,
    ours = \() softdtw::softdtw(x[[1L]], x[[2L]], gamma = 1),
    theirs = \() dtwclust::sdtw(x[[1L]], x[[2L]], gamma = 1),
    values = as.numeric, unit = "pair"
  )
}

# Ourselves with and without something.
ourselves <- function(name, x, asked, plain, other, tolerance = 1e-8) {
  comparison(
    name, "softdtw", asked, other, plain,
    units = pairs_of(x), unit = "pair", tolerance = tolerance
  )
}

narrow <- function(name, x, asked) {
  window <- floor(length(x[[1L]]) / 10)
  ourselves(
    name, x, asked, \() softdtw::softdtw_matrix(x, gamma = 1),
    \() softdtw::softdtw_matrix(x, gamma = 1, window = window), NA
  )
}

# Centroids ----------------------------------------------------------------------------------------

lbfgs <- function(most, ...) list(algorithm = "NLOPT_LD_LBFGS", maxeval = most, ...)

of_cent <- function(centroid) attr(centroid, "nloptr_results")

objective_at <- function(centroid, x) {
  sum(softdtw::softdtw(x, list(as.vector(centroid)), gamma = 1, backend = "cpu"))
}

# Both start from the same centroid; `evaluations` of the objective with its gradient are counted.
evaluation <- function(x, asked) {
  start <- Reduce(`+`, x) / length(x)
  comparison(
    "value and gradient, one centroid against 100 random walks, T = 128", "dtwclust", asked,
    ours = \() softdtw::softdtw_barycenter(x, gamma = 1, init = start, maxit = 20, tol = 1e-15),
    theirs = \() dtwclust::sdtw_cent(x, start, gamma = 1, opts = lbfgs(20L)),
    ours_of = \(b) b$trace[[1L]],
    theirs_of = \(b) of_cent(dtwclust::sdtw_cent(x, start, gamma = 1, opts = lbfgs(1L)))$objective,
    ours_units = \(b) b$evaluations, theirs_units = \(b) of_cent(b)$iterations,
    unit = "evaluation"
  )
}

# Ours stops with the first step that is no higher than where theirs ends.
barycenter <- function(x, asked) {
  start <- Reduce(`+`, x) / length(x)
  theirs <- \() dtwclust::sdtw_cent(x, start, gamma = 1, opts = lbfgs(2000L, ftol_rel = 1e-7))
  delayedAssign("aim", of_cent(theirs())$objective * (1 + 1e-6))
  steps_to_aim <- function() {
    for (steps in 1:1000) {
      b <- softdtw::softdtw_barycenter(x, gamma = 1, init = start, maxit = steps)
      if (b$objective <= aim) {
        return(steps)
      }
    }
  }
  delayedAssign("steps", steps_to_aim())
  comparison(
    "barycenter of 20 random walks, T = 128, to the same objective", "dtwclust", asked,
    ours = \() softdtw::softdtw_barycenter(x, gamma = 1, init = start, maxit = steps),
    theirs = theirs,
    ours_of = \(b) b$objective, theirs_of = \(b) of_cent(b)$objective,
    unit = "barycenter", one_sided = TRUE, tolerance = 1e-6
  )
}

# Sums of soft-DTW to the own centroid. Ours draws starts until one ends no higher than theirs.
kmeans <- function(x, k, asked) {
  objective <- function(cluster, centroids) {
    sum(vapply(seq_along(centroids), \(i) objective_at(centroids[[i]], x[cluster == i]), 0))
  }
  ours_of <- \(f) objective(f$cluster, as.list(f$centers))
  theirs_of <- \(f) objective(f@cluster, f@centroids)
  args <- dtwclust::tsclust_args(dist = list(gamma = 1), cent = list(gamma = 1))
  theirs <- function() {
    dtwclust::tsclust(x, k = k, distance = "sdtw", centroid = "sdtw_cent", args = args, seed = 1L)
  }
  delayedAssign("aim", theirs_of(theirs()))
  ours <- function() {
    set.seed(1)
    repeat {
      f <- softdtw::softdtw_kmeans(x, k, gamma = 1, tol = 1e-4)
      if (ours_of(f) <= aim) {
        return(f)
      }
    }
  }
  comparison(
    "k-means of 300 walks about 6 curves, T = 64, to no worse an objective", "dtwclust", asked,
    ours, theirs,
    ours_of = ours_of, theirs_of = theirs_of, unit = "clustering", one_sided = TRUE,
    tolerance = 1e-6, turns = 3L
  )
}

walks_about_curves <- function(n, k, steps) {
  set.seed(3)
  curves <- random_walks(k, steps)
  lapply(seq_len(n), \(i) curves[[(i - 1L) %% k + 1L]] + cumsum(stats::rnorm(steps, sd = 0.3)))
}

# All ----------------------------------------------------------------------------------------------

best_isa <- softdtw::softdtw_info()$isa

comparisons <- function() {
  walks <- random_walks(100L, 128L)
  # what the fastest instruction sets are asked for
  asked <- c(generic = 6, avx2 = 22, avx512 = 50)
  of <- "random walks"
  matrix_of <- \(...) softdtw::softdtw_matrix(walks, gamma = 1, ...)
  set.seed(7)
  uneven <- random_walks(60L, sample(50:200, 60L, TRUE))
  c(
    lapply(rev(intersect(softdtw::softdtw_info()$isas, names(asked))), \(isa) {
      self_matrix(paste("100", of, "T = 128"), walks, asked[[isa]], isa)
    }),
    list(
      self_matrix(paste("200", of, "T = 32"), random_walks(200L, 32L), 40),
      self_matrix(paste("20", of, "T = 512"), random_walks(20L, 512L), 40),
      self_matrix(paste("6", of, "T = 2048"), random_walks(6L, 2048L), 40),
      self_matrix(paste("60", of, "lengths 50 to 200"), uneven, 40),
      self_matrix(paste("40", of, "T = 128, 3 dimensions"), random_walks(40L, 128L, 3L), 40),
      self_matrix(paste("40", of, "T = 128, 16 dimensions"), random_walks(40L, 128L, 16L), 25),
      self_matrix(paste("40", of, "T = 128, 64 dimensions"), random_walks(40L, 128L, 64L), 20),
      one_pair(random_walks(2L, 4000L), 20),
      evaluation(walks, 35),
      barycenter(walks[1:20], 30),
      kmeans(walks_about_curves(300L, 6L, 64L), 6L, 30),
      hard_matrix(walks, 5),
      hard_parallel(walks, 5),
      narrow("window of 10 % against none, T = 128", walks, 4),
      narrow("window of 10 % against none, T = 512", random_walks(20L, 512L), 4),
      ourselves("two threads against one", walks, 1.8, matrix_of, \() matrix_of(threads = 2L)),
      ourselves(
        "single precision against double", walks, 1.7, matrix_of,
        \() matrix_of(precision = "single"), 1e-5
      )
    )
  )
}
