/**
 * Event names with a special meaning (docs/ingestion-rules.md#effects-of-event-names). Every other name is a plain
 * event.
 */
export const eventNames = {
  identify: '$identify',
  createAlias: '$create_alias',
  mergeDangerously: '$merge_dangerously',
  groupIdentify: '$groupidentify',
  /** An exact synonym of `$groupidentify`, used in PostHog's migration guide. */
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
  /** A client reports that it dropped events. The report becomes an ingestion warning. */
  clientWarning: '$$client_ingestion_warning',
  featureFlagCalled: '$feature_flag_called',
} as const;

/**
 * Event and property names longer than this in UTF-8 get no definition, because they are usually data in the wrong
 * place.
 */
export const maxDefinedNameBytes = 200;
