# bench/RESULTS.md has a section for each script that writes it, under a title of the first level.

# Puts `lines`, the first of which is the title, in place of the section of that title, or last.
write_section <- function(lines, path) {
  old <- if (file.exists(path)) readLines(path) else character()
  number <- cumsum(startsWith(old, "# "))
  sections <- unname(split(old, number))
  at <- c(which(vapply(sections, \(s) s[[1L]] == lines[[1L]], NA)), length(sections) + 1L)[[1L]]
  sections[[at]] <- c(lines[seq_len(max(which(nzchar(lines))))], "")
  text <- unlist(sections)
  writeLines(text[seq_len(max(which(nzchar(text))))], path)
}
