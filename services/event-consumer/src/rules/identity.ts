// Rules for persons: how an event finds, merges, creates and updates its person.

import type { JsonObject } from '@millrace/contracts';
import { type IncomingEvent, personMode } from '../model/event.ts';
import type { PersonState, ProjectLedger } from '../model/ledger.ts';
import type { RuleWarning } from '../model/warning.ts';
import type { Overlay } from '../values/properties.ts';
import {
  applyChange,
  approximateSize,
  noChange,
  type PropertyChange,
  replaceProperties,
  sizeAfterChange,
  toChangedProperties,
} from '../values/sized-properties.ts';
import { applyMerge } from './merge.ts';
import { readMergeRequest } from './merge-requests.ts';
import type { EventPerson } from './person-processing.ts';
import {
  createInitialProperties,
  isOverSizeLimit,
  isPersonEvent,
  maxPersonPropertiesBytes,
  maxShownBytes,
  neverUpdatesPerson,
  type PersonChange,
  personNotShownWarning,
  personSizeWarning,
  planUpdate,
  readPersonChange,
} from './person-properties.ts';
import { findOrCreatePerson } from './persons.ts';
import { warnAboutRoundedIntegers } from './rounded-integers.ts';

interface IdentityOutcome {
  person: EventPerson;
  warnings: RuleWarning[];
}

/**
 * Finds, merges, creates and updates an event's person in the ledger. `properties` are the event's stored properties.
 * The person's version increases by one, even if the event makes several changes.
 */
export function applyIdentity(event: IncomingEvent, properties: Overlay, ledger: ProjectLedger): IdentityOutcome {
  const request = readMergeRequest(event);
  const merge = request === null ? null : applyMerge(request, event, ledger);
  const { person, isCreated } = findOrCreatePerson(event.distinctId, event.timestampMs, ledger);

  const isNewPerson = isCreated || merge?.isCreated === true;
  const update = updatePerson({ person, isNewPerson, event, properties });
  const isOlder = movesCreationBack(event, person);
  if (!isNewPerson && (merge?.isChanged === true || update.isChanged || isOlder)) markChanged(person);

  return {
    person: {
      uuid: person.uuid,
      createdAtMs: person.createdAtMs,
      properties: update.shownProperties,
      bytes: update.shownBytes,
      mode: personMode.full,
    },
    warnings: [...(merge?.warnings ?? []), ...update.warnings],
  };
}

/**
 * Moves the person's creation time back to the time of an older imported event, which shows that the person existed
 * earlier. An event that merely arrives late does not move it, because offline devices and wrong clocks would make
 * persons look older than they are. Returns whether the time was changed.
 */
function movesCreationBack({ isHistorical, timestampMs }: IncomingEvent, person: PersonState): boolean {
  if (!isHistorical || timestampMs >= person.createdAtMs) return false;
  person.createdAtMs = timestampMs;
  return true;
}

function markChanged(person: PersonState): void {
  person.version += 1;
  person.isDirty = true;
}

interface PersonUpdateRequest {
  person: PersonState;
  /** Whether this event created the person. If so, the person gets its initial properties. */
  isNewPerson: boolean;
  event: IncomingEvent;
  properties: Overlay;
}

interface PersonUpdateOutcome extends RowPerson {
  isChanged: boolean;
}

/**
 * The person properties for the event's row. They include all of this event's changes, even changes that are not
 * written to the person.
 */
interface RowPerson {
  shownProperties: JsonObject;
  shownBytes: number;
  warnings: RuleWarning[];
}

/** Applies an event's `$set`, `$set_once` and `$unset` to its person (docs/ingestion-rules.md#person-properties). */
function updatePerson({ person, isNewPerson, event, properties }: PersonUpdateRequest): PersonUpdateOutcome {
  const change = readPersonChange(properties);
  if (isNewPerson) return setFirstProperties(person, change, event);
  if (neverUpdatesPerson(event.event)) return unchanged(toRowPerson(person, { put: change.set, removed: [] }, event));

  const update = planUpdate(person.properties, change);
  if (!update.isChange) return unchanged(toRowPerson(person, noChange, event));
  if (isOverSizeLimit(sizeAfterChange(person, update, maxPersonPropertiesBytes))) return tooLarge(person, event);
  if (!update.isWorthWriting && !isPersonEvent(event.event)) return unchanged(toRowPerson(person, update, event));
  applyChange(person, update);
  return withRounded({ isChanged: true, ...toRowPerson(person, noChange, event, update.put) }, update.put, event);
}

function setFirstProperties(person: PersonState, change: PersonChange, event: IncomingEvent): PersonUpdateOutcome {
  const properties = createInitialProperties(change, event.uuid);
  replaceProperties(person, properties);
  if (!isOverSizeLimit(sizeAfterChange(person, noChange, maxPersonPropertiesBytes))) {
    return withRounded(unchanged(toRowPerson(person, noChange, event, properties)), properties, event);
  }
  replaceProperties(person, { $creator_event_uuid: event.uuid });
  return tooLarge(person, event);
}

function withRounded(outcome: PersonUpdateOutcome, put: JsonObject, event: IncomingEvent): PersonUpdateOutcome {
  const rounded = warnAboutRoundedIntegers(put, event);
  return rounded.length === 0 ? outcome : { ...outcome, warnings: [...outcome.warnings, ...rounded] };
}

function unchanged(rowPerson: RowPerson): PersonUpdateOutcome {
  return { isChanged: false, ...rowPerson };
}

/** Discards a person update that is too large. The event itself is stored. */
function tooLarge(person: PersonState, event: IncomingEvent): PersonUpdateOutcome {
  const rowPerson = toRowPerson(person, noChange, event);
  return { isChanged: false, ...rowPerson, warnings: [personSizeWarning(event, person.uuid), ...rowPerson.warnings] };
}

/**
 * Returns the person for an event's row.
 * @param unwritten the changes that are in the event's row, but not written to the person
 * @param own the event's changes. If the person is large, only these are in the row.
 */
function toRowPerson(
  person: PersonState,
  unwritten: PropertyChange,
  event: IncomingEvent,
  own: JsonObject = unwritten.put,
): RowPerson {
  if (sizeAfterChange(person, unwritten, maxShownBytes) > maxShownBytes) {
    return { shownProperties: own, shownBytes: 0, warnings: [personNotShownWarning(event, person.uuid)] };
  }
  const shownBytes = approximateSize(person);
  if (unwritten !== noChange) {
    return { shownProperties: toChangedProperties(person.properties, unwritten), shownBytes, warnings: [] };
  }
  person.areShared = true;
  return { shownProperties: person.properties, shownBytes, warnings: [] };
}
