# The files that people bring to `make demo DATA=`: good ones are read as meant, bad ones get a
# sentence with the line. Reading is tried in this process, some of them through make as well.

reader <- new.env()
sys.source(file.path("tools", "demo-read.R"), reader)
folder <- tempfile("files")
dir.create(folder)

write_file <- function(text, name = "my.csv") {
  path <- file.path(folder, name)
  if (is.raw(text)) writeBin(text, path) else cat(text, file = path, sep = "")
  path
}
read_text <- function(text, ...) {
  path <- write_file(text)
  tryCatch(reader$read_series_file(path, ...), bad_file = function(e) conditionMessage(e))
}
faults <- 0L
tried <- 0L
report <- function(ok, what, got) {
  tried <<- tried + 1L
  if (!isTRUE(ok)) {
    faults <<- faults + 1L
    cat("FAIL", what, "-", utils::capture.output(utils::str(got)), sep = "\n")
  }
}
same <- function(got, want) is.null(want) || identical(unname(got), want)
good <- function(what, text, shape, values = NULL, truth = NULL, names = NULL, missing = 0L, ...) {
  got <- read_text(text, ...)
  ok <- is.list(got) &&
    same(vapply(got$series, \(m) paste(dim(m), collapse = "x"), ""), shape) &&
    same(unlist(lapply(got$series, as.vector)), values) &&
    identical(unname(got$truth), truth) &&
    same(names(got$series), names) &&
    same(as.integer(got$missing), missing)
  report(ok, what, got)
}
bad <- function(what, text, pattern, ...) {
  got <- read_text(text, ...)
  report(is.character(got) && grepl(pattern, got) && grepl("\\.( \\(and.*\\))?$", got), what, got)
}

# wide
good("plain", "1,2,3\n4,5,6\n", c("3x1", "3x1"), c(1, 2, 3, 4, 5, 6), names = c("line 1", "line 2"))
good("ragged", "1,2,3,,\n4,5\n7,8,9,10,11\n", c("3x1", "2x1", "5x1"))
good("header", "id,t1,t2,t3\na,1,2,3\nb,4,5,\n", c("3x1", "2x1"), names = c("a", "b"))
good("class in front", "label,t1,t2\n1,1,2\n1,4,5\n2,4,5\n2,2,2\n", rep("2x1", 4),
  truth = c("1", "1", "2", "2")
)
good("class behind", "t1,t2,class\n1,2,A\n3,4,B\n5,6,A\n7,8,B\n", rep("2x1", 4),
  truth = c("A", "B", "A", "B")
)
good("as R writes it", "\"\",\"V1\",\"V2\"\n\"1\",1,2\n\"2\",3,4\n", c("2x1", "2x1"), c(1, 2, 3, 4))
good("names, no header", "A,1,2\nB,3,4\n", c("2x1", "2x1"), names = c("A", "B"))
good("times as header", "id,0,1,2\nA,1,2,3\nB,3,4,5\n", c("3x1", "3x1"), names = c("A", "B"))
good("one column", "1\n2\n", c("1x1", "1x1"))
good("decimal commas", "id;t1;t2\nA;1,5;2,5\nB;3;4,25\n", c("2x1", "2x1"), c(1.5, 2.5, 3, 4.25))
good("tabs", "A\t1\t2\nB\t3\t4\n", c("2x1", "2x1"))
good("blanks", "1.5  2 3\n 4 5 6\n", c("3x1", "3x1"), c(1.5, 2, 3, 4, 5, 6))
good("line ends and mark of Windows", "\ufeffid,t1,t2\r\na,1,2\r\nb,3,4\r\n", c("2x1", "2x1"),
  names = c("a", "b")
)
good("separator in quotes", "\"a, b\",1,2\n\"c\",3,4\n", c("2x1", "2x1"), names = c("a, b", "c"))
good("comments and blank lines", "# from my device\n\n1,2\n\n3,4\n", c("2x1", "2x1"),
  names = c("line 3", "line 5")
)
good("gap inside", "id,t1,t2,t3\na,1,NA,3\nb,4,5,6\n", c("3x1", "3x1"), missing = 1L)
bad("a word", "1,2,3\n4,x,6\n", "line 2, column 2: \"x\" is not a number")
bad("a word in the first line", "1,2,x,3\n4,5,6,7\n", "line 1, column 3: \"x\" is not a number")
bad("a word in front of one line", "1,2\nx,3\n4,5\n", "line 2, column 1")
bad("two kinds of decimals", "A;1,5;2.5\nB;3;4,25\n", "line 1, column 2: .*decimal comma.*line 1")
bad("comma inside a number", "A,\"1,5\",2\nB,3,4\n", "line 1, column 2: .*comma inside")
bad("nothing in it", "", "is empty")
bad("blank lines only", "\n\n ,,\n", "no data")
bad("header only", "id,t1,t2\n", "header and no line")
bad("a line without values", "id,t1,t2\na,1,2\nb,,\n", "line 3 holds no value")
bad("longer than the header", "id,t1,t2\na,1,2\nb,1,2,3\n", "line 3 has 4 columns.*line 1 has 3")
bad("open quotation mark", "id,t1,t2\n\"a,1,2\nb,1,2\n", "line 2: a quotation mark")
bad("infinite", "1,2\n3,Inf\n", "line 2, column 2: \"Inf\" is not a finite")
bad("too large", "1,2\n3,1e999\n", "line 2, column 2: .*too large")
bad("text only", "a,b\nc,d\n", "line 2: there are no numbers")
bad("zero bytes", as.raw(c(65, 0, 66, 10)), "not a text file")
bad("spreadsheet", as.raw(c(0x50, 0x4b, 3, 4, 20, 0)), "spreadsheet")

# long
good("long", "series,time,value\na,2,20\na,1,10\nb,1,5\nb,2,6\nb,3,7\n", c("2x1", "3x1"),
  c(10, 20, 5, 6, 7), names = c("a", "b")
)
good("several values", "id,time,x,y\na,1,1,2\na,2,3,4\nb,1,5,6\n", c("2x2", "1x2"))
good("dates", "id,date,x\na,2024-02-01,2\na,2024-01-01,1\nb,2024-01-01,5\n", c("2x1", "1x1"),
  c(1, 2, 5)
)
good("a column of dimensions",
  "series,time,dim,value,label\n1,1,1,5,A\n1,1,2,6,A\n1,2,1,1,A\n1,2,2,2,A\n2,1,1,3,B\n2,1,2,4,B\n",
  c("2x2", "1x2"), c(5, 1, 6, 2, 3, 4),
  truth = c("A", "B")
)
chick <- "weight,Time,Chick\n42,0,1\n51,2,1\n40,0,2\n"
good("columns by name", chick, c("2x1", "1x1"), series = "Chick", names = c("1", "2"))
good("empty end", "id,time,x\na,1,1\na,2,NA\nb,1,5\n", c("1x1", "1x1"))
bad("no column of series", chick, "line 1: .*SERIES=, one of weight, Chick")
bad("no such column", chick, "line 1: there is no column \"nope\"", series = "nope")
bad("a time twice", "id,time,x\na,1,1\na,2,3\na,1,9\nb,1,5\n", "line 4: series \"a\" .*line 2")
bad("a word as value", "id,time,x\na,1,1\na,2,oops\nb,1,5\n", "line 3, column 3 .*: \"oops\"")
bad("a word as time", "id,time,x\na,1,1\na,zz,3\nb,1,5\n", "line 3, column 2 .*: \"zz\"")
bad("no such day", "id,date,x\na,2024-02-01,2\na,2024-13-01,1\n", "line 3, column 2 .*2024-13-01")
bad("time missing", "id,time,x\na,,2\na,1,1\n", "line 2, column 2 .*time is missing")
bad("name missing", "id,time,x\n,1,2\na,1,1\na,2,2\n", "line 2, column 1 .*name of the series")
bad("a short line", "id,time,x\na,1,1\na,2\nb,1,5\n", "line 3 has 2 columns")
bad("no value in a series", "id,time,x\na,1,NA\na,2,NA\nb,1,5\n", "line 2: series \"a\" holds no")
got <- tryCatch(reader$read_series_file(file.path(folder, "none.csv")), bad_file = conditionMessage)
report(is.character(got) && grepl("no such file", got), "no file", got)

# through make, which shows the sentence and nothing of R
through_make <- function(...) {
  args <- c("--no-print-directory", "demo", shQuote(c(paste0("OUT=", folder), ...)))
  out <- suppressWarnings(system2("make", args, stdout = TRUE, stderr = TRUE))
  list(status = c(attr(out, "status"), 0L)[[1L]], text = as.character(out))
}
says <- function(what, run, pattern, status) {
  quiet <- !any(grepl("Traceback|Execution halted|Error in|Warning", run$text))
  report((run$status == 0L) == (status == 0L) && any(grepl(pattern, run$text)) && quiet, what, run)
}
set.seed(1)
walks <- vapply(1:12, \(i) {
  steps <- cumsum(stats::rnorm(20 + i, mean = c(-0.5, 0, 0.5)[[i %% 3L + 1L]]))
  paste(c(paste0("walk ", i), format(steps, digits = 6, trim = TRUE)), collapse = ",")
}, "")
path <- write_file(paste0(walks, "\n"), "my walks.csv")
run <- through_make(paste0("DATA=", path), "K=4")
says("a wide file through make", run, "^The plot: .*png$", 0L)
says("its series and steps", run, "12 series of 21 to 32 steps", 0L)
clusters <- utils::read.csv(file.path(folder, "softdtw-clusters.csv"))
report(
  identical(clusters$series, paste("walk", 1:12)) && setequal(clusters$cluster, 1:4),
  "the table of clusters", clusters
)
run <- through_make(paste0("DATA=", path), "K=13")
says("more clusters than series", run, "K=13 .*12 series", 2L)
says("no number of clusters", through_make(paste0("DATA=", path), "K=two"), "K=two", 2L)
says("a bad file through make", through_make(paste0("DATA=", write_file("1,2\n3,x\n"))),
  "line 2, column 2: \"x\" is not a number", 2L
)
gap <- write_file("1,2,,4\n3,1,2,5\n2,2,2,2\n")
run <- through_make(paste0("DATA=", gap))
says("a gap through make", run, "line 1, column 3.*MISSING=interpolate", 2L)
run <- through_make(paste0("DATA=", gap), "MISSING=interpolate", "K=2")
says("a gap filled", run, "^The plot:", 0L)
says("no file through make", through_make("DATA=none.csv"), "none.csv: there is no such file", 2L)

cat(sprintf("%d of %d trials with files as people bring them\n", tried - faults, tried))
quit(status = as.integer(faults > 0L))
