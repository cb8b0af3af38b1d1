package main

import (
	"bufio"
	"encoding/json"
	"os"
	"sync"

	"github.com/posthog/posthog-go"
)

type flagCase struct {
	Number           int                           `json:"number"`
	Key              string                        `json:"key"`
	DistinctId       string                        `json:"distinct_id"`
	PersonProperties posthog.Properties            `json:"person_properties"`
	Groups           posthog.Groups                `json:"groups"`
	GroupProperties  map[string]posthog.Properties `json:"group_properties"`
	HasPayload       bool                          `json:"has_payload"`
}

type result struct {
	Number  int         `json:"number"`
	Value   interface{} `json:"value"`
	Payload *string     `json:"payload"`
}

// evaluateFlags evaluates flags (../../flags/program-flag-sdks.ts). It reads cases and writes results as lines of JSON.
func evaluateFlags(client posthog.Client) {
	cases := make(chan flagCase)
	output := json.NewEncoder(os.Stdout)
	var writing sync.Mutex
	var evaluating sync.WaitGroup
	for n := 0; n < 8; n++ {
		evaluating.Add(1)
		go func() {
			defer evaluating.Done()
			for one := range cases {
				evaluated := evaluate(client, one)
				writing.Lock()
				check(output.Encode(evaluated))
				writing.Unlock()
			}
		}()
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var one flagCase
		check(json.Unmarshal(lines.Bytes(), &one))
		cases <- one
	}
	check(lines.Err())
	close(cases)
	evaluating.Wait()
}

func evaluate(client posthog.Client, one flagCase) result {
	sendEvents := false
	request := posthog.FeatureFlagPayload{
		Key:                   one.Key,
		DistinctId:            one.DistinctId,
		Groups:                one.Groups,
		PersonProperties:      one.PersonProperties,
		GroupProperties:       one.GroupProperties,
		SendFeatureFlagEvents: &sendEvents,
	}
	value, err := client.GetFeatureFlag(request)
	check(err)
	evaluated := result{Number: one.Number, Value: value}
	// The SDK sends a second request for the payload.
	if one.HasPayload {
		payload, err := client.GetFeatureFlagPayload(request)
		check(err)
		evaluated.Payload = &payload
	}
	return evaluated
}
