#' softdtw: soft dynamic time warping
#'
#' Dynamic time warping (DTW) compares two time series by stretching both until they match best.
#' Soft-DTW puts a smooth minimum over all ways to do so in the place of the single best one, so
#' that the result has a gradient: series can be averaged, clustered and used as a training target.
#'
#' @section Where to start:
#' * Two series: [softdtw()] (value), [softdtw_grad()] (gradients), [softdtw_alignment()] (which
#'   points go together).
#' * Many series: [softdtw_dist()] for [stats::hclust()] and its like, [softdtw_matrix()],
#'   [softdtw_knn()].
#' * Averages and clusters: [softdtw_barycenter()], [softdtw_kmeans()], [softdtw_centroids()].
#' * Training a model: [softdtw_loss()].
#' * Smoothing and other recurrences along time: [linear_recurrence()].
#' * Forms of data: [as_series()]. A smoothing to begin with: [softdtw_gamma()].
#' * What is in use on this machine: [softdtw_info()], [softdtw_threads()].
#'
#' @section Options:
#' * `softdtw.progress` (`FALSE`): the default of the argument `progress`.
#' * `softdtw.isa` (unset): forces one of the instruction sets that [softdtw_info()] lists, to
#'   compare them.
#'
#' @section Errors:
#' Every error of the package has the class `softdtw_error` and a second one that says its kind:
#' `softdtw_error_type` (not numbers), `softdtw_error_missing` (`NA` or `NaN`),
#' `softdtw_error_infinite`, `softdtw_error_empty`, `softdtw_error_dimension` (differing numbers of
#' dimensions), `softdtw_error_count` (sets that do not pair), `softdtw_error_argument`,
#' `softdtw_error_window` (no path is left), `softdtw_error_range` (costs too large for `gamma` or
#' for a double), `softdtw_error_zero_vector` (no direction, `cost = "cosine"`) and
#' `softdtw_error_memory`. The message names the argument, the series (by number and name), the time
#' step and, with several dimensions, the dimension. Warnings have the class `softdtw_warning`.
#'
#' @references
#' Cuturi, M. and Blondel, M. (2017). Soft-DTW: a differentiable loss function for time-series.
#' *Proceedings of the 34th International Conference on Machine Learning*, PMLR 70, 894-903.
#' \doi{10.48550/arXiv.1703.01541}
#'
#' Blondel, M., Mensch, A. and Vert, J.-P. (2021). Differentiable divergences between time series.
#' *Proceedings of the 24th International Conference on Artificial Intelligence and Statistics*,
#' PMLR 130, 3853-3861. \doi{10.48550/arXiv.2010.08354}
#'
#' Sakoe, H. and Chiba, S. (1978). Dynamic programming algorithm optimization for spoken word
#' recognition. *IEEE Transactions on Acoustics, Speech, and Signal Processing*, 26(1), 43-49.
#' \doi{10.1109/TASSP.1978.1163055}
#'
#' @importFrom stats fitted predict
#' @useDynLib softdtw, .registration = TRUE
#' @keywords internal
#' @docType package
#' @name softdtw-package
#' @aliases softdtw-package
NULL
