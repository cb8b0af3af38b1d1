import { eventNames } from '@millrace/contracts';
import type { IncomingEvent } from '../model/incoming-event.ts';
import { objectOrEmpty } from '../values/json-object.ts';
import { type Overlay, propertyOf } from '../values/overlay.ts';

const key = '$survey_last_seen_date';

/**
 * A survey that was shown leaves its date on the person, so that the next one can wait, unless the client set that
 * date itself (docs/ingestion-rules.md#the-event-row).
 */
export function addSurveyShownDate(event: IncomingEvent, properties: Overlay): void {
  if (event.event !== eventNames.surveyShown) return;
  const set = objectOrEmpty(propertyOf(properties, '$set'));
  if (Object.hasOwn(set, key)) return;
  properties.over.$set = { ...set, [key]: new Date(event.timestampMs).toISOString() };
}
