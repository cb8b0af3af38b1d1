module millrace.test/generated

go 1.21
