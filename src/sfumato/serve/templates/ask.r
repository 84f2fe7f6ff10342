url <- {{ address | quoted }}
table <- read.csv(url, colClasses = c({% for name in names %}{{ name | named }} = "character"{{ ", " if not loop.last }}{% endfor %}), na.strings = "", check.names = FALSE, encoding = "UTF-8")
print(table[, c({% for name in columns %}{{ name | quoted }}{{ ", " if not loop.last }}{% endfor %})])
stopifnot(table$release == {{ release | quoted }})
