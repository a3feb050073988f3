library(testthat)
library(softdtw)

test_check("softdtw")
