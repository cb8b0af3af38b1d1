import { eventNames } from '@millrace/contracts';
import { foldOperatingSystem, liftPersonProperties } from '../identity/lifted-properties.ts';
import type { PersonProcessing } from '../identity/person-processing.ts';
import type { IncomingEvent } from '../model/incoming-event.ts';
import type { Overlay } from '../values/overlay.ts';
import { stripProperties } from './strip-properties.ts';
import { addSurveyShownDate } from './survey-shown-date.ts';

/** There are too many recordings and timings, and they say too little, to describe a person. */
const neverLifted = new Set<string>(['$snapshot', eventNames.performance]);

/**
 * The properties an event is stored with, before its group keys (docs/ingestion-rules.md#the-event-row). The incoming
 * event stays as it is, because it may be processed again after a failure: what changes goes into the overlay.
 */
export function normalizeProperties(event: IncomingEvent, processing: PersonProcessing): Overlay {
  const properties: Overlay = { under: stripProperties(event, processing), over: {} };
  if (processing === 'personless') switchOff(properties);
  if (neverLifted.has(event.event)) return properties;
  foldOperatingSystem(properties);
  if (!updatesPerson(event, processing)) return properties;
  addSurveyShownDate(event, properties);
  liftPersonProperties(properties);
  return properties;
}

/** An event that is anonymous because its project opted out says so, as one that asked for it does. */
function switchOff({ under, over }: Overlay): void {
  if (under.$process_person_profile !== false) over.$process_person_profile = false;
}

/** Anonymous events have no person, and a group identify speaks of the group only. */
function updatesPerson(event: IncomingEvent, processing: PersonProcessing): boolean {
  return processing === 'full' && event.event !== eventNames.groupIdentify;
}
