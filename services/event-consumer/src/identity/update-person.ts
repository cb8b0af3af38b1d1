import type { JsonObject } from '@millrace/contracts';
import type { IncomingEvent } from '../intake/incoming-event.ts';
import { overlaid } from '../intake/json-object.ts';
import type { LaidOver } from '../intake/laid-over.ts';
import type { RuleWarning } from '../warnings/warning.ts';
import type { PersonState } from './ledger.ts';
import { initialProperties, type PersonChange, personChange, updateProperties } from './person-properties.ts';
import { isOverSizeLimit, sizeViolation } from './person-properties-size.ts';
import { isPersonEvent, neverUpdatesPerson } from './person-write-filter.ts';

interface PersonUpdateRequest {
  person: PersonState;
  /** True when this event created the person, which then gets its first properties. */
  isNewPerson: boolean;
  event: IncomingEvent;
  /** The properties the event is stored with. */
  properties: LaidOver;
}

interface PersonUpdateOutcome {
  isChanged: boolean;
  /** The person's properties as the event's row shows them: with this event's own changes, even unwritten ones. */
  shownProperties: JsonObject;
  warnings: RuleWarning[];
}

/** Carries `$set`, `$set_once` and `$unset` of an event to its person (reference/event-processing.md 6.3, 6.4, 6.6). */
export function updatePerson({ person, isNewPerson, event, properties }: PersonUpdateRequest): PersonUpdateOutcome {
  const change = personChange(properties);
  if (isNewPerson) return setFirstProperties(person, change, event);
  if (neverUpdatesPerson(event.event)) return unchanged(overlaid(person.properties, change.set));

  const update = updateProperties(person.properties, change);
  if (update.properties === person.properties) return unchanged(person.properties);
  if (isOverSizeLimit(update.properties)) return tooLarge(person, event);
  if (!update.isWorthWriting && !isPersonEvent(event.event)) return unchanged(update.properties);
  person.properties = update.properties;
  return { isChanged: true, shownProperties: person.properties, warnings: [] };
}

function setFirstProperties(person: PersonState, change: PersonChange, event: IncomingEvent): PersonUpdateOutcome {
  const properties = initialProperties(change, event.uuid);
  const isTooLarge = isOverSizeLimit(properties);
  person.properties = isTooLarge ? { $creator_event_uuid: event.uuid } : properties;
  return isTooLarge ? tooLarge(person, event) : unchanged(properties);
}

function unchanged(shownProperties: JsonObject): PersonUpdateOutcome {
  return { isChanged: false, shownProperties, warnings: [] };
}

/** The event is stored, the update is discarded. */
function tooLarge(person: PersonState, event: IncomingEvent): PersonUpdateOutcome {
  return { isChanged: false, shownProperties: person.properties, warnings: [sizeViolation(event, person.uuid)] };
}
