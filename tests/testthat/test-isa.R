# Every instruction set that this processor has gives the same answers.

isa_results <- function(gamma, cost, window) {
  set <- with_seed(301, random_set(c(1, 17, 40, 8, 9, 2, 33, 40, 16, 21), 3, 2))
  go <- function(f, ...) f(..., gamma = gamma, cost = cost, window = window)
  grad <- go(softdtw_grad, set[[3]], set[[7]])
  list(
    matrix = unname(go(softdtw_matrix, set)),
    value = go(softdtw, set[[2]], set[[3]]),
    grad_x = grad$grad_x,
    grad_y = grad$grad_y,
    E = go(shares_of, set[[4]], set[[3]]),
    grads = unlist(go(softdtw_grad, set, set[3])$grad_x)
  )
}

test_that("softdtw_info() names the instruction sets, the chosen one among them", {
  info <- softdtw_info()
  expect_true("generic" %in% info$isas)
  expect_true(info$isa %in% info$isas)
})

test_that("the instruction set and threads asked for from outside are in use", {
  expect_identical(softdtw_info()$isa, if (nzchar(test_isa)) test_isa else softdtw_info()$isa)
  expect_identical(as.integer(softdtw_threads()), test_threads)
})

test_that("an instruction set can be chosen for one call after another", {
  used <- vapply(softdtw_info()$isas, \(isa) with_isa(isa, softdtw_info()$isa), "")
  expect_identical(unname(used), softdtw_info()$isas)
})

test_that("all instruction sets agree to 1e-12", {
  others <- setdiff(softdtw_info()$isas, "generic")
  for (cost in ref_costs) {
    for (window in list(NULL, 3)) {
      for (gamma in c(0.05, 1, 100)) {
        want <- with_isa("generic", isa_results(gamma, cost, window))
        off <- vapply(others, \(isa) {
          got <- with_isa(isa, isa_results(gamma, cost, window))
          max(mapply(\(a, b) excess(a, b, 1e-12 * max(abs(b))), got, want))
        }, 0)
        expect_lte(max(off, 0), 1)
      }
    }
  }
})

test_that("hard DTW is the same bits on all instruction sets where costs are exact", {
  set <- with_seed(302, lapply(c(1, 5, 30, 17, 40, 8, 9), lattice_series, d = 2))
  run <- function(isa) {
    with_isa(isa, list(softdtw_matrix(set, gamma = 0), softdtw_grad(set, set[3], gamma = 0)))
  }
  results <- lapply(softdtw_info()$isas, run)
  expect_true(all(vapply(results, identical, NA, results[[1]])))
})

test_that("each instruction set agrees with plain R on hard input", {
  cases <- list(
    list(x = 1e6 + c(1, 3, 2, 9, 4), y = 1e6 + c(2, 2, 8, 1), gamma = 1e-6),
    list(x = c(0, 26.5, 27.3), y = c(26.6, 0, 0.1, 27.2), gamma = 1),
    list(x = rep(1, 40), y = rep(1, 33), gamma = 1e6),
    list(x = 1e8 * c(1, -1, 1), y = c(0.5, 1), gamma = 1)
  )
  for (p in cases) {
    want <- ref_full(p$x, p$y, p$gamma)
    off <- vapply(softdtw_info()$isas, \(isa) with_isa(isa, max(
      excess(
        softdtw(p$x, p$y, gamma = p$gamma), want$value,
        value_tolerance(want$value, p$gamma, length(p$x), length(p$y))
      ),
      excess(
        shares_of(p$x, p$y, gamma = p$gamma), want$E,
        table_tolerance(want$E, want$value, p$gamma)
      )
    )), 0)
    expect_lte(max(off), 1)
  }
})
