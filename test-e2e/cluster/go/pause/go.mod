module millrace/pause

go 1.25.0
