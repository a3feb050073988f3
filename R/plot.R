# Drawing shared by the plot methods: panels of pale member series with a bold centroid over them.
# Base graphics; every method puts `par()` back. Colours from Okabe and Ito's palette, which people
# with colour-blindness tell apart.

plot_colours <- c(
  bold = "#0072B2", other = "#D55E00", green = "#009E73", yellow = "#E69F00", member = "grey45"
)

# Sets several of par() and returns what they were before. par(...) itself reports `cex` as `mfrow`
# has just changed it.
set_par <- function(...) {
  old <- graphics::par(names(list(...)))
  graphics::par(...)
  old
}

# times -----------------------------------------------------------------------------------------

# Number of steps that the time index shared by all series has, or 0.
index_length <- function(x) {
  if (is.null(x$index)) 0L else if (is.null(x$kept)) x$lengths[1L] else x$kept$full[1L]
}

# A figure has the users' own times where all its series and centroids share them, else 1, 2, ...
has_common_times <- function(x, centroids) all(centroids$lengths == index_length(x))

# Where the steps of a centroid are drawn over members of other lengths: spread evenly over their
# median length.
centroid_times <- function(steps, lengths) {
  span <- median_length(lengths)
  if (steps == 1L) (1 + span) / 2 else seq(1, span, length.out = steps)
}

step_numbers <- function(x, i) {
  kept <- x$kept$steps[[i]]
  if (is.null(kept)) seq_len(x$lengths[i]) else kept
}

# members ---------------------------------------------------------------------------------------

# At most `most` of the series, evenly spaced, so that a plot of many stays quick and readable.
thin_out <- function(members, most) {
  if (length(members) <= most) {
    return(members)
  }
  members[unique(round(seq(1, length(members), length.out = most)))]
}

# The series `members` of a set as a list of list(times, values), values steps x d.
member_paths <- function(x, members, common) {
  starts <- series_starts(x)
  lapply(members, \(i) {
    list(
      times = if (common) series_times(x, i) else step_numbers(x, i),
      values = series_matrix(x, i, starts[i])
    )
  })
}

# Many lines over one another stay pale, few stay visible.
member_colour <- function(count) {
  grDevices::adjustcolor(plot_colours[["member"]], alpha.f = min(0.6, max(0.16, 8 / count)))
}

draw_path <- function(times, values, col, lwd) {
  if (length(values) == 1L) {
    graphics::points(times, values, col = col, pch = 19, cex = 0.5 + lwd / 4)
  } else {
    graphics::lines(times, values, col = col, lwd = lwd)
  }
}

draw_band <- function(times, values, spread) {
  colour <- grDevices::adjustcolor(plot_colours[["bold"]], alpha.f = 0.22)
  if (length(values) == 1L) {
    graphics::segments(times, values - spread, times, values + spread, col = colour, lwd = 6)
    return(invisible())
  }
  graphics::polygon(
    c(times, rev(times)), c(values - spread, rev(values + spread)),
    col = colour, border = NA
  )
}

# panels ----------------------------------------------------------------------------------------

# The groups of a figure, one for each of a set of centroids: its title, some of its members, the
# centroid (steps x d) with the times of its steps, and the spread around it.
new_groups <- function(x, members, centroids, titles, spread = NULL, most = 200) {
  common <- has_common_times(x, centroids)
  lapply(seq_along(titles), \(g) {
    steps <- centroids$lengths[g]
    lengths <- x$lengths[if (length(members[[g]])) members[[g]] else seq_along(x)]
    list(
      title = titles[g],
      members = member_paths(x, thin_out(members[[g]], most), common),
      centroid = series_matrix(centroids, g),
      times = if (common) index_times(x$index, steps) else centroid_times(steps, lengths),
      spread = spread,
      common = common
    )
  })
}

# Groups side by side: one dimension gives a grid of groups, more give a row of panels a
# dimension and a column a group. Axes are shared and drawn on the outer panels only.
plot_groups <- function(groups, dims, dim_names, main, xlab, ylab) {
  grid <- panel_grid(length(groups), length(dims))
  ylim <- lapply(dims, \(k) group_range(groups, k))
  margins <- outer_margins(ylim, main, ylab)
  # Inner panels with a value axis of their own need room for its numbers.
  inner <- grid$own_scale && grid$size[2L] > 1L
  left <- if (inner) margins[2L] - 1.8 else 0.5
  old <- set_par(
    mfrow = grid$size, mar = c(0.7, left, 1.5, 0.5), oma = margins - c(0, left - 0.5, 0, 0),
    cex = 0.75, mgp = c(2, 0.6, 0), tcl = -0.3, xpd = FALSE
  )
  on.exit(graphics::par(old))
  xlim <- range(unlist(lapply(groups, group_times)))
  for (cell in grid$cells) {
    k <- cell$dim
    draw_panel(groups[[cell$group]], dims[k], xlim, ylim[[k]])
    panel_axes(cell, groups[[1L]])
    panel_titles(cell, groups, dim_names[dims[k]], length(dims))
  }
  graphics::mtext(xlab, side = 1L, line = 2.2, outer = TRUE, cex = 0.85)
  graphics::mtext(ylab,
    side = 2L, line = margins[2L] - left - 0.8, outer = TRUE, cex = 0.85
  )
  graphics::mtext(main, side = 3L, line = 0.4, outer = TRUE, font = 2L, cex = 1)
}

# size: rows and columns; cells in drawing order, each with its group, its dimension (a position
# in the dimensions shown) and whether it carries the time axis and the value axis.
panel_grid <- function(groups, dims) {
  if (dims > 1L && groups > 1L) {
    size <- c(dims, groups)
    cells <- lapply(seq_len(dims * groups), \(p) {
      list(group = (p - 1L) %% groups + 1L, dim = (p - 1L) %/% groups + 1L)
    })
  } else {
    size <- if (groups == 1L && dims <= 3L) c(dims, 1L) else rev(grDevices::n2mfrow(groups * dims))
    cells <- lapply(seq_len(groups * dims), \(p) {
      list(group = if (groups > 1L) p else 1L, dim = if (groups > 1L) 1L else p)
    })
  }
  own_scale <- groups == 1L && dims > 1L
  for (p in seq_along(cells)) {
    cells[[p]]$bottom <- p + size[2L] > length(cells)
    cells[[p]]$left <- (p - 1L) %% size[2L] == 0L || own_scale
    cells[[p]]$top <- p <= size[2L] || dims == 1L || groups == 1L
  }
  list(size = size, cells = cells, own_scale = own_scale)
}

group_times <- function(group) {
  c(as.numeric(group$times), unlist(lapply(group$members, \(m) as.numeric(m$times))))
}

group_range <- function(groups, k) {
  range(unlist(lapply(groups, \(g) {
    band <- if (is.null(g$spread)) 0 else g$spread[, k]
    c(
      unlist(lapply(g$members, \(m) m$values[, k])),
      g$centroid[, k] - band, g$centroid[, k] + band
    )
  })), finite = TRUE)
}

# Room on the left for the longest number on the value axes.
outer_margins <- function(ylim, main, ylab) {
  digits <- max(nchar(format(unlist(lapply(ylim, pretty)), trim = TRUE)))
  digits <- min(digits, max(nchar(unlist(lapply(ylim, \(y) format(pretty(y), trim = TRUE))))))
  left <- 1.6 + 0.5 * digits + if (nzchar(ylab)) 1.4 else 0
  c(3.6, left, if (nzchar(main)) 2 else 0.5, 0.6)
}

draw_panel <- function(group, k, xlim, ylim) {
  graphics::plot.new()
  graphics::plot.window(xlim, ylim)
  pale <- member_colour(length(group$members))
  for (member in group$members) {
    draw_path(as.numeric(member$times), member$values[, k], pale, 1)
  }
  times <- as.numeric(group$times)
  if (!is.null(group$spread)) {
    draw_band(times, group$centroid[, k], group$spread[, k])
  }
  draw_path(times, group$centroid[, k], plot_colours[["bold"]], 3)
  graphics::box(col = "grey60")
}

panel_axes <- function(cell, group) {
  if (cell$bottom && group$common) {
    # Dates and date-times get an axis of their own kind.
    graphics::Axis(group$times, side = 1L)
  } else if (cell$bottom) {
    graphics::axis(1L)
  }
  if (cell$left) {
    graphics::axis(2L, las = 1L)
  }
}

panel_titles <- function(cell, groups, dim_name, dims) {
  title <- groups[[cell$group]]$title
  if (dims > 1L) {
    title <- if (length(groups) == 1L) {
      dim_name
    } else if (cell$top) {
      sprintf("%s: %s", title, dim_name)
    } else {
      dim_name
    }
  }
  graphics::mtext(title, side = 3L, line = 0.25, adj = 0, cex = 0.75)
}

time_label <- function(groups) if (groups[[1L]]$common) "Time" else "Time step"

check_dims <- function(dims, d, dim_names) {
  if (is.null(dims)) {
    return(seq_len(d))
  }
  found <- if (is.character(dims)) match(dims, dim_names) else dims
  if (!is.numeric(found) || !length(found) || anyNA(found) || !all(found %in% seq_len(d))) {
    stop_softdtw("argument", sprintf(
      "`dims` must be NULL (all) or numbers from 1 to %d%s.", d,
      if (is.null(dim_names)) "" else " or names of dimensions"
    ), argument = "dims")
  }
  as.integer(found)
}

# The names of all dimensions, for titles.
dim_labels <- function(x) {
  if (is.null(x$dim_names)) paste("dimension", seq_len(x$d)) else x$dim_names
}

# The falling objective of an optimisation, from the start (0) on.
plot_trace <- function(trace, main, xlab) {
  steps <- seq_along(trace) - 1L
  ylim <- range(trace)
  left <- outer_margins(list(ylim), main, "Objective")[2L] + 1
  old <- set_par(mar = c(4, left, 2.5, 1), mgp = c(3, 0.7, 0), las = 1L)
  on.exit(graphics::par(old))
  graphics::plot.new()
  graphics::plot.window(range(steps), ylim)
  draw_path(steps, trace, plot_colours[["bold"]], 2)
  graphics::points(steps, trace, col = plot_colours[["bold"]], pch = 19, cex = 0.6)
  graphics::axis(1L, at = unique(round(pretty(steps))))
  graphics::axis(2L)
  graphics::box(bty = "l")
  graphics::title(main = main)
  graphics::mtext(xlab, side = 1L, line = 2.4)
  graphics::mtext("Objective", side = 2L, line = left - 1.5, las = 0L)
}
