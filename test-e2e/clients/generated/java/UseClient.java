import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.JSON;
import org.openapitools.client.api.*;
import org.openapitools.client.model.*;

/** Uses the client from openapi-generator, and prints the records as JSON. */
public class UseClient {
  interface ListPage<T> {
    List<T> read(int limit, long offset) throws ApiException;
  }

  /** Reads a list with offsets until a page has fewer records than requested. */
  static <T> List<T> read(int limit, ListPage<T> list) throws ApiException {
    List<T> records = new ArrayList<>();
    for (;;) {
      List<T> page = list.read(limit, records.size());
      records.addAll(page);
      if (page.size() < limit) return records;
    }
  }

  public static void main(String[] words) throws ApiException {
    String project = System.getenv("PROJECT_ID");
    ApiClient client = new ApiClient();
    client.setBasePath(System.getenv("API_URL"));
    client.setBearerToken(System.getenv("API_KEY"));
    client.setReadTimeout(120_000);
    AnnotationsApi annotations = new AnnotationsApi(client);
    CohortsApi cohorts = new CohortsApi(client);
    EventsApi events = new EventsApi(client);
    FeatureFlagsApi flags = new FeatureFlagsApi(client);
    PersonsApi persons = new PersonsApi(client);

    AnnotationChanges newAnnotation = new AnnotationChanges();
    newAnnotation.setContent("Generated");
    newAnnotation.setScope("project");
    Annotation annotation = annotations.annotationsCreate(project).annotationChanges(newAnnotation).execute();
    CohortChangesWithFile newCohort = new CohortChangesWithFile();
    newCohort.setName("Generated");
    newCohort.setIsStatic(true);
    Cohort cohort = cohorts.cohortsCreate(project).cohortChangesWithFile(newCohort).execute();
    int missing;
    try {
      missing = annotations.annotationsRetrieve(project, Integer.MAX_VALUE).execute().getId();
    } catch (ApiException error) {
      missing = error.getCode();
    }
    System.out.println(JSON.serialize(Map.of(
        "events", read(1000, (limit, offset) -> events.eventsList(project).limit(limit).offset(offset).execute().getResults())
            .stream().map(Event::getUuid).toList(),
        "persons", read(100, (limit, offset) -> persons.personsList(project).limit(limit).offset(offset).execute().getResults())
            .stream().map(Person::getId).toList(),
        "flags", read(100, (limit, offset) -> flags.featureFlagsList(project).limit(limit).offset(offset).execute().getResults())
            .stream().map(FeatureFlag::getKey).toList(),
        "annotations", read(100, (limit, offset) -> annotations.annotationsList(project).limit(limit).offset(offset).execute().getResults())
            .stream().map(Annotation::getId).toList(),
        "cohorts", read(100, (limit, offset) -> cohorts.cohortsList(project).limit(limit).offset(offset).execute().getResults())
            .stream().map(Cohort::getId).toList(),
        "created", Map.of(
            "annotation", annotations.annotationsRetrieve(project, annotation.getId()).execute().getContent(),
            "cohort", cohorts.cohortsRetrieve(project, cohort.getId()).execute().getName()),
        "ids", Map.of("annotation", annotation.getId(), "cohort", cohort.getId()),
        "missing", missing)));
    // Without this call, the client's threads would keep the program running for another minute.
    System.exit(0);
  }
}
