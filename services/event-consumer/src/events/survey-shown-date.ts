import { eventNames, type JsonObject } from '@millrace/contracts';
import type { IncomingEvent } from '../intake/incoming-event.ts';
import { objectOrEmpty } from '../intake/json-object.ts';

const key = '$survey_last_seen_date';

/**
 * A survey that was shown leaves its date on the person, so that the next one can wait, unless the client set that
 * date itself (reference/event-processing.md section 13).
 */
export function addSurveyShownDate(event: IncomingEvent, properties: JsonObject): JsonObject {
  if (event.event !== eventNames.surveyShown) return properties;
  const set = objectOrEmpty(properties.$set);
  if (Object.hasOwn(set, key)) return properties;
  return { ...properties, $set: { ...set, [key]: new Date(event.timestampMs).toISOString() } };
}
