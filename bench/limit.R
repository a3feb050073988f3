# How near the forward kernel is to what the core could do: the vector instructions of its innermost
# loop are counted in the object code, at two 512-bit (or three 256-bit) ones a cycle they take a
# certain time, and the clock is measured beside the run. Needs gcc and objdump; NULL without.

count_instructions <- function(isa, top) {
  object <- tempfile(fileext = ".o")
  source <- file.path(top, "src", "core", sprintf("kernels-%s.c", isa))
  built <- suppressWarnings(system2("gcc", c("-O2", "-c", source, "-o", object), stderr = FALSE))
  if (built != 0L) {
    return(NULL)
  }
  on.exit(unlink(object))
  code <- system2("objdump", c("-d", "--no-show-raw-insn", object), stdout = TRUE)
  from <- grep("<forward_soft_pack>:$", code)
  code <- code[seq(from + 1L, which(code == "" & seq_along(code) > from)[[1L]] - 1L)]
  least_loop(code, if (isa == "avx512") "zmm" else "ymm")
}

# Of the loops without another inside, the one for whole lines without trimming is the shortest.
least_loop <- function(code, register) {
  address <- strtoi(sub("^ *([0-9a-f]+):.*", "\\1", code), 16L)
  target <- rep(NA_integer_, length(code))
  jump <- grepl("\tj[a-z]+ +[0-9a-f]+ <", code)
  to <- sub(".*\tj[a-z]+ +([0-9a-f]+) <.*", "\\1", code[jump])
  target[jump] <- match(strtoi(to, 16L), address)
  back <- which(!is.na(target) & target < seq_along(code))
  inner <- Filter(\(j) !any(back > target[[j]] & back < j), back)
  kinds <- lapply(inner, \(j) {
    body <- grep(register, code[seq(target[[j]], j)], value = TRUE)
    name <- sub(".*:\t(\\w+).*", "\\1", body)
    name[!grepl("^v(mov|broadcast|permq|inserti)", name)]
  })
  kinds[[which.min(ifelse(lengths(kinds) < 20L, Inf, lengths(kinds)))]]
}

compile_clock <- function(top) {
  folder <- tempfile()
  dir.create(folder)
  file.copy(file.path(top, "bench", "limit.c"), folder)
  made <- system2(
    file.path(R.home("bin"), "R"), c("CMD", "SHLIB", file.path(folder, "limit.c")),
    stdout = FALSE, stderr = FALSE
  )
  if (made != 0L) {
    return(FALSE)
  }
  dyn.load(file.path(folder, paste0("limit", .Platform$dynlib.ext)))
  TRUE
}

# `ns`: measured nanoseconds a cell, the costs included.
limit_of <- function(isa, top, ns) {
  kinds <- count_instructions(isa, top)
  lanes <- c(avx512 = 8, avx2 = 4)[[isa]]
  ports <- c(avx512 = 2, avx2 = 3)[[isa]]
  # these take two operations each
  double_ones <- sum(grepl("^v(scalef|rndscale|round)p", kinds))
  ghz <- max(replicate(5L, .C("bench_clock", count = 1e8)$count))
  # a step of the loop is two vectors
  operations <- (length(kinds) + double_ones) / 2
  cost <- 3 # difference, square, scale
  least <- (operations + cost) / ports / lanes / ghz
  data.frame(
    isa, instructions = length(kinds) / 2, operations, ghz, least, ns, reached = least / ns
  )
}

limits <- function(top) {
  if (Sys.which("objdump") == "" || Sys.which("gcc") == "" || !compile_clock(top)) {
    return(NULL)
  }
  x <- random_walks(20L, 512L)
  do.call(rbind, lapply(intersect(c("avx512", "avx2"), softdtw::softdtw_info()$isas), \(isa) {
    options(softdtw.isa = isa)
    cells <- (pairs_of(x) + length(x)) * 512^2
    ns <- 1e9 * min(replicate(7L, elapsed(\() softdtw::softdtw_matrix(x, gamma = 1)))) / cells
    limit_of(isa, top, ns)
  }))
}
