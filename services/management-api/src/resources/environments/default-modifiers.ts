/** What queries go by where an environment says nothing (docs/api-rules.md#environments). */
export const defaultModifiers = {
  personsOnEventsMode: 'person_id_override_properties_on_events',
  personsArgMaxVersion: 'auto',
  inCohortVia: 'auto',
  materializationMode: 'legacy_null_as_null',
  optimizeJoinedFilters: false,
  bounceRatePageViewMode: 'count_pageviews',
  sessionTableVersion: 'auto',
  customChannelTypeRules: null,
  dataWarehouseEventsModifiers: null,
  debug: null,
  propertyGroupsMode: null,
  s3TableUseInvalidColumns: null,
} as const;
