/**
 * Event names the service gives a meaning to (docs/ingestion-rules.md#effects-of-event-names). Every other name is a
 * plain event.
 */
export const eventNames = {
  identify: '$identify',
  createAlias: '$create_alias',
  mergeDangerously: '$merge_dangerously',
  groupIdentify: '$groupidentify',
  /** The migration guidance's spelling; an exact synonym of `$groupidentify`. */
  groupIdentifySynonym: '$group_identify',
  set: '$set',
  pageview: '$pageview',
  screen: '$screen',
  exception: '$exception',
  heatmap: '$$heatmap',
  performance: '$performance_event',
  surveySent: 'survey sent',
  surveyShown: 'survey shown',
  surveyDismissed: 'survey dismissed',
  /** A client reports that it dropped events; becomes an ingestion warning. */
  clientWarning: '$$client_ingestion_warning',
  featureFlagCalled: '$feature_flag_called',
} as const;

/** Longer names of events and properties, in UTF-8, have no definition: they are data in the wrong place. */
export const maxDefinedNameBytes = 200;
