/** Longest distinct id, group type and group key (docs/ingestion-rules.md#before-the-rules). */
export const maxIdCharacters = 400;

/** Longest stored event name (docs/ingestion-rules.md#the-event-row). */
export const maxEventNameCharacters = 200;
