package main

import (
	"bufio"
	"encoding/json"
	"os"
	"sync"

	"github.com/posthog/posthog-go"
)

type question struct {
	Number           int                           `json:"number"`
	Key              string                        `json:"key"`
	DistinctId       string                        `json:"distinct_id"`
	PersonProperties posthog.Properties            `json:"person_properties"`
	Groups           posthog.Groups                `json:"groups"`
	GroupProperties  map[string]posthog.Properties `json:"group_properties"`
	HasPayload       bool                          `json:"has_payload"`
}

type answer struct {
	Number  int         `json:"number"`
	Value   interface{} `json:"value"`
	Payload *string     `json:"payload"`
}

// askFlags evaluates flags (../../flags/program-flag-sdks.ts). It reads cases and writes results as lines of JSON.
func askFlags(client posthog.Client) {
	questions := make(chan question)
	answers := json.NewEncoder(os.Stdout)
	var writing sync.Mutex
	var asking sync.WaitGroup
	for n := 0; n < 8; n++ {
		asking.Add(1)
		go func() {
			defer asking.Done()
			for one := range questions {
				answered := ask(client, one)
				writing.Lock()
				check(answers.Encode(answered))
				writing.Unlock()
			}
		}()
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var one question
		check(json.Unmarshal(lines.Bytes(), &one))
		questions <- one
	}
	check(lines.Err())
	close(questions)
	asking.Wait()
}

func ask(client posthog.Client, one question) answer {
	sendEvents := false
	asked := posthog.FeatureFlagPayload{
		Key:                   one.Key,
		DistinctId:            one.DistinctId,
		Groups:                one.Groups,
		PersonProperties:      one.PersonProperties,
		GroupProperties:       one.GroupProperties,
		SendFeatureFlagEvents: &sendEvents,
	}
	value, err := client.GetFeatureFlag(asked)
	check(err)
	answered := answer{Number: one.Number, Value: value}
	// The SDK sends a second request for the payload.
	if one.HasPayload {
		payload, err := client.GetFeatureFlagPayload(asked)
		check(err)
		answered.Payload = &payload
	}
	return answered
}
