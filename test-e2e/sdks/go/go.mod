module millrace.test/sdk

go 1.21

require github.com/posthog/posthog-go v1.5.2
