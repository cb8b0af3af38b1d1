// Uses the client from openapi-generator, and prints the records as JSON.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"

	"millrace.test/generated/client"
)

// read reads a list with offsets until a page has fewer records than requested.
func read[T any](limit int32, list func(limit int32, offset int64) ([]T, error)) []T {
	records := []T{}
	for {
		page := check(list(limit, int64(len(records))))
		records = append(records, page...)
		if len(page) < int(limit) {
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

func main() {
	project := os.Getenv("PROJECT_ID")
	configuration := client.NewConfiguration()
	configuration.Servers = client.ServerConfigurations{{URL: os.Getenv("API_URL")}}
	ctx := context.WithValue(context.Background(), client.ContextAccessToken, os.Getenv("API_KEY"))
	api := client.NewAPIClient(configuration)

	newAnnotation := client.NewAnnotationChanges()
	newAnnotation.SetContent("Generated")
	newAnnotation.SetScope("project")
	annotation, _, err := api.AnnotationsAPI.AnnotationsCreate(ctx, project).AnnotationChanges(*newAnnotation).Execute()
	check(annotation, err)
	newCohort := client.NewCohortChangesWithFile()
	newCohort.SetName("Generated")
	newCohort.SetIsStatic(true)
	cohort, _, err := api.CohortsAPI.CohortsCreate(ctx, project).CohortChangesWithFile(*newCohort).Execute()
	check(cohort, err)
	_, missing, err := api.AnnotationsAPI.AnnotationsRetrieve(ctx, project, 2147483647).Execute()
	if err == nil {
		log.Fatal("an annotation that does not exist was found")
	}
	readAnnotation, _, err := api.AnnotationsAPI.AnnotationsRetrieve(ctx, project, annotation.Id).Execute()
	check(readAnnotation, err)
	readCohort, _, err := api.CohortsAPI.CohortsRetrieve(ctx, project, cohort.Id).Execute()
	check(readCohort, err)

	events := read(1000, func(limit int32, offset int64) ([]client.Event, error) {
		page, _, err := api.EventsAPI.EventsList(ctx, project).Limit(limit).Offset(offset).Execute()
		return page.GetResults(), err
	})
	persons := read(100, func(limit int32, offset int64) ([]client.Person, error) {
		page, _, err := api.PersonsAPI.PersonsList(ctx, project).Limit(limit).Offset(offset).Execute()
		return page.GetResults(), err
	})
	flags := read(100, func(limit int32, offset int64) ([]client.FeatureFlag, error) {
		page, _, err := api.FeatureFlagsAPI.FeatureFlagsList(ctx, project).Limit(limit).Offset(offset).Execute()
		return page.GetResults(), err
	})
	annotations := read(100, func(limit int32, offset int64) ([]client.Annotation, error) {
		page, _, err := api.AnnotationsAPI.AnnotationsList(ctx, project).Limit(limit).Offset(offset).Execute()
		return page.GetResults(), err
	})
	cohorts := read(100, func(limit int32, offset int64) ([]client.Cohort, error) {
		page, _, err := api.CohortsAPI.CohortsList(ctx, project).Limit(limit).Offset(offset).Execute()
		return page.GetResults(), err
	})
	result := map[string]any{
		"events":      each(events, func(event client.Event) string { return event.Uuid }),
		"persons":     each(persons, func(person client.Person) int32 { return person.Id }),
		"flags":       each(flags, func(flag client.FeatureFlag) string { return flag.Key }),
		"annotations": each(annotations, func(annotation client.Annotation) int32 { return annotation.Id }),
		"cohorts":     each(cohorts, func(cohort client.Cohort) int32 { return cohort.Id }),
		"created":     map[string]any{"annotation": readAnnotation.GetContent(), "cohort": readCohort.GetName()},
		"ids":         map[string]any{"annotation": annotation.Id, "cohort": cohort.Id},
		"missing":     missing.StatusCode,
	}
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		log.Fatal(err)
	}
}
