// Makes one call of the SDK matrix (../scenario.ts) with the Go SDK, or evaluates flags. Writes SDK errors to stderr.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/posthog/posthog-go"
)

type complaints struct{}

func (complaints) Success(posthog.APIMessage) {}
func (complaints) Failure(_ posthog.APIMessage, err error) {
	fmt.Fprintln(os.Stderr, "failure:", err)
}

// The SDK calls Logf for successful requests, so only Errorf prints.
func (complaints) Logf(string, ...interface{}) {}
func (complaints) Errorf(format string, values ...interface{}) {
	fmt.Fprintf(os.Stderr, format+"\n", values...)
}

func main() {
	call := os.Args[1]
	client, err := posthog.NewWithConfig(os.Getenv("PROJECT_API_KEY"), posthog.Config{
		Endpoint:            os.Getenv("INGEST_URL"),
		HistoricalMigration: call == "historical migration",
		// The timeout is long, so that requests do not time out on a busy machine.
		FeatureFlagRequestTimeout: 90 * time.Second,
		Callback:                  complaints{},
		Logger:                    complaints{},
	})
	check(err)
	enqueue := func(message posthog.Message) { check(client.Enqueue(message)) }
	switch call {
	case "flags":
		evaluateFlags(client)
	case "capture":
		enqueue(posthog.Capture{DistinctId: "buyer", Event: "order placed", Properties: posthog.NewProperties().
			Set("total", 42).Set("currency", "EUR").Set("text", "Grüße 👋").
			Set("nested", map[string]interface{}{"list": []interface{}{1, "zwei", nil, true}})})
	case "identify":
		enqueue(posthog.Identify{DistinctId: "ada",
			Properties: posthog.NewProperties().Set("email", "ada@example.com").Set("plan", "pro")})
	case "alias":
		enqueue(posthog.Capture{DistinctId: "old-id", Event: "seen before",
			Properties: posthog.NewProperties().Set("$set", map[string]interface{}{"kept": 1})})
		enqueue(posthog.Alias{DistinctId: "old-id", Alias: "main-id"})
	case "group identify":
		enqueue(posthog.GroupIdentify{Type: "company", Key: "acme",
			Properties: posthog.NewProperties().Set("name", "Acme").Set("seats", 5)})
		enqueue(posthog.Capture{DistinctId: "worker", Event: "seat used",
			Groups: posthog.NewGroups().Set("company", "acme")})
	case "batch":
		for n := 0; n < 50; n++ {
			enqueue(posthog.Capture{DistinctId: fmt.Sprintf("ticker-%d", n%3), Event: "tick",
				Properties: posthog.NewProperties().Set("n", n)})
		}
	case "historical migration":
		for n := 0; n < 12; n++ {
			enqueue(posthog.Capture{DistinctId: "veteran", Event: "imported",
				Timestamp:  time.Date(2016, time.Month(n+1), 1, 0, 0, 0, 0, time.UTC),
				Properties: posthog.NewProperties().Set("n", n).Set("$set", map[string]interface{}{"last_import": n})})
		}
	default:
		check(fmt.Errorf("no such call: %s", call))
	}
	check(client.Close())
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
