#' Soft-DTW as a training loss
#'
#' Value and gradient of soft-DTW between a batch of predictions and a batch of targets, for
#' training a model: one call gives what a step of gradient descent needs.
#'
#' Prediction i is compared with target i; both may differ in length. The gradient is that of the
#' reduced value, so for `"mean"` it is already divided by the size of the batch. `NA` up to the end
#' of a row is padding: that prediction or target is shorter, and the gradient is `NA` there.
#'
#' @param pred,target The batches. A matrix is **batch x time** (one series a row), an array is
#'   (batch, time, dimension), a vector is a batch of one; a list of series or the result of
#'   [as_series()] is a batch too. Both hold the same number of series.
#' @inheritParams softdtw
#' @param reduction `"mean"` or `"sum"` over the batch, or `"none"` for one value a series.
#'
#' @returns A list of
#'   * `value`: one number, or one a series for `reduction = "none"`, in the unit of the cost;
#'   * `gradient`: the derivative with respect to `pred`, in the shape of `pred`.
#'
#' @inheritSection softdtw-package Errors
#' @inherit softdtw references
#'
#' @examples
#' softdtw_threads(2)
#' time <- seq(0, 1, length.out = 30)
#' target <- rbind(sin(6 * time), cos(6 * time))
#' pred <- matrix(0, 2, 30)
#' for (step in 1:20) {
#'   pred <- pred - 0.5 * softdtw_loss(pred, target, gamma = 0.1)$gradient
#' }
#' softdtw_loss(pred, target, gamma = 0.1)$value
#' softdtw_loss(pred, target, gamma = 0.1, type = "divergence", reduction = "none")$value
#' @export
softdtw_loss <- function(pred, target, gamma = 1,
                         cost = c("sqeuclidean", "euclidean", "manhattan", "cosine"),
                         type = c("softdtw", "divergence"), window = NULL,
                         na = c("error", "omit", "interpolate"),
                         backend = getOption("softdtw.backend", "auto"),
                         precision = c("double", "single"), threads = NULL,
                         progress = getOption("softdtw.progress", FALSE),
                         reduction = c("mean", "sum", "none")) {
  type <- check_type(type)
  reduction <- check_choice(reduction, c("mean", "sum", "none"), "reduction")
  opts <- new_options(gamma, cost, window, threads, progress, backend, precision)
  shape <- pred
  pred <- as_set(pred, "pred", na)
  target <- as_set(target, "target", na)
  check_batches(pred, target)
  check_pair(pred, target, opts, "pred", "target", matched = TRUE, type = type)
  opts <- choose_for_pairs(opts, pred, target)
  found <- pair_gradients(pred, target, opts, type, want_y = FALSE)
  n <- length(pred)
  gradients <- if (reduction == "mean") lapply(found$grad_x, `/`, n) else found$grad_x
  list(
    value = switch(reduction,
      # Divided first: the sum of large values may overflow where their mean does not.
      mean = sum(found$value / n),
      sum = sum(found$value),
      none = stats::setNames(found$value, pair_names(pred, target))
    ),
    gradient = shape_batch(gradients, pred, shape)
  )
}

check_batches <- function(pred, target) {
  if (length(pred) != length(target)) {
    stop_softdtw("count", sprintf(
      "`pred` and `target` must hold the same number of series: `pred` has %d, `target` has %d.",
      length(pred), length(target)
    ), counts = c(length(pred), length(target)))
  }
}

# The gradients in the shape of the predictions as they were given.
shape_batch <- function(gradients, pred, shape) {
  if (is.list(shape)) {
    return(shape_gradients(gradients, pred, pred$names))
  }
  if (is.object(shape) || length(dim(shape)) < 2L) {
    return(shape_like(gradients[[1L]], pred, 1L, fill = TRUE))
  }
  steps <- dim(shape)[2L]
  filled <- Map(\(m, i) pad_steps(m, pred, i, steps), gradients, seq_along(gradients))
  filled <- array(unlist(filled), c(steps, pred$d, length(filled)))
  # From (time, dimension, series) to the user's order; a matrix has no third extent.
  array(aperm(filled, c(3L, 1L, 2L)), dim(shape), dimnames(shape))
}

# A gradient with NA at steps left out and up to the length of the whole row.
pad_steps <- function(m, x, i, steps) {
  whole <- matrix(NA_real_, steps, x$d)
  at <- x$kept$steps[[i]]
  whole[if (is.null(at)) seq_len(nrow(m)) else at, ] <- m
  whole
}
