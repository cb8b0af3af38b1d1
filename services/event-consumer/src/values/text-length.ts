/** Longest distinct id, group type and group key (reference/event-processing.md sections 1, 8 and 11.1). */
export const maxIdCharacters = 400;

/** Longest stored event name (reference/event-processing.md section 7). */
export const maxEventNameCharacters = 200;
