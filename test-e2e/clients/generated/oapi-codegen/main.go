// Uses the client from oapi-codegen, and prints the records as JSON.
package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"

	"millrace.test/oapi/client"
)

// read reads a list with offsets until a page has fewer records than requested.
func read[T any](limit int, list func(limit *int, offset *int64) []T) []T {
	records := []T{}
	for {
		offset := int64(len(records))
		page := list(&limit, &offset)
		records = append(records, page...)
		if len(page) < limit {
			return records
		}
	}
}

func check[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func each[T, V any](records []T, field func(T) V) []V {
	fields := []V{}
	for _, record := range records {
		fields = append(fields, field(record))
	}
	return fields
}

func pointer[T any](value T) *T { return &value }

func main() {
	project := os.Getenv("PROJECT_ID")
	ctx := context.Background()
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))
		return nil
	}
	api := check(client.NewClientWithResponses(os.Getenv("API_URL"), client.WithRequestEditorFn(authorize)))

	annotation := check(api.AnnotationsCreateWithResponse(ctx, project, client.AnnotationChanges{
		Content: pointer("Generated"),
		Scope:   pointer("project"),
	})).JSON201
	cohort := check(api.CohortsCreateWithResponse(ctx, project, client.CohortChangesWithFile{
		Name:     pointer("Generated"),
		IsStatic: pointer(true),
	})).JSON201

	events := read(1000, func(limit *int, offset *int64) []client.Event {
		return check(api.EventsListWithResponse(ctx, project, &client.EventsListParams{Limit: limit, Offset: offset})).JSON200.Results
	})
	persons := read(100, func(limit *int, offset *int64) []client.Person {
		return check(api.PersonsListWithResponse(ctx, project, &client.PersonsListParams{Limit: limit, Offset: offset})).JSON200.Results
	})
	flags := read(100, func(limit *int, offset *int64) []client.FeatureFlag {
		return check(api.FeatureFlagsListWithResponse(ctx, project, &client.FeatureFlagsListParams{Limit: limit, Offset: offset})).JSON200.Results
	})
	annotations := read(100, func(limit *int, offset *int64) []client.Annotation {
		return check(api.AnnotationsListWithResponse(ctx, project, &client.AnnotationsListParams{Limit: limit, Offset: offset})).JSON200.Results
	})
	cohorts := read(100, func(limit *int, offset *int64) []client.Cohort {
		return check(api.CohortsListWithResponse(ctx, project, &client.CohortsListParams{Limit: limit, Offset: offset})).JSON200.Results
	})
	result := map[string]any{
		"events":      each(events, func(event client.Event) string { return event.Uuid.String() }),
		"persons":     each(persons, func(person client.Person) int { return person.Id }),
		"flags":       each(flags, func(flag client.FeatureFlag) string { return flag.Key }),
		"annotations": each(annotations, func(annotation client.Annotation) int { return annotation.Id }),
		"cohorts":     each(cohorts, func(cohort client.Cohort) int { return cohort.Id }),
		"created": map[string]any{
			"annotation": check(api.AnnotationsRetrieveWithResponse(ctx, project, annotation.Id)).JSON200.Content,
			"cohort":     check(api.CohortsRetrieveWithResponse(ctx, project, cohort.Id)).JSON200.Name,
		},
		"ids":     map[string]any{"annotation": annotation.Id, "cohort": cohort.Id},
		"missing": check(api.AnnotationsRetrieveWithResponse(ctx, project, 2147483647)).StatusCode(),
	}
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		log.Fatal(err)
	}
}
