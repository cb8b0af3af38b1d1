import { eventNames, type JsonObject } from '@millrace/contracts';
import { foldOperatingSystem, liftPersonProperties } from '../identity/lifted-properties.ts';
import type { PersonProcessing } from '../identity/person-processing.ts';
import type { IncomingEvent } from '../intake/incoming-event.ts';
import { stripProperties } from './strip-properties.ts';
import { addSurveyShownDate } from './survey-shown-date.ts';

/** Recordings and timings are too many and too bare to describe a person. */
const neverLifted = new Set<string>(['$snapshot', eventNames.performance]);

/**
 * The properties an event is stored with, before its group keys (reference/event-processing.md 6.1, 6.2, 7). A copy
 * where anything changes; the incoming event stays as it is, because it may be processed again after a failure.
 */
export function normalizeProperties(event: IncomingEvent, processing: PersonProcessing): JsonObject {
  const stripped = stripProperties(event, processing);
  if (neverLifted.has(event.event)) return stripped;
  const folded = foldOperatingSystem(stripped);
  if (!updatesPerson(event, processing)) return folded;
  return liftPersonProperties(addSurveyShownDate(event, folded));
}

/** Anonymous events have no person, and a group identify speaks of the group only. */
function updatesPerson(event: IncomingEvent, processing: PersonProcessing): boolean {
  return processing === 'full' && event.event !== eventNames.groupIdentify;
}
