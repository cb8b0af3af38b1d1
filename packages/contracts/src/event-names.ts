/**
 * Event names with a special meaning (docs/ingestion-rules.md#effects-of-event-names). All other names are ordinary.
 */
export const eventNames = {
  identify: '$identify',
  createAlias: '$create_alias',
  mergeDangerously: '$merge_dangerously',
  groupIdentify: '$groupidentify',
  /** A synonym for `$groupidentify` in PostHog's migration guide. */
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
  /** Reports that the client dropped events. The report becomes an ingestion warning. */
  clientWarning: '$$client_ingestion_warning',
  featureFlagCalled: '$feature_flag_called',
} as const;

/**
 * Maximum length in UTF-8 bytes of event and property names for which definitions are created. Longer names usually are
 * data that was sent as a name by mistake.
 */
export const maxDefinedNameBytes = 200;
