// Person merges: combines two persons when an event states that their distinct IDs belong together.

import { isLongerThan, type JsonObject } from '@millrace/contracts';
import type { IncomingEvent } from '../model/event.ts';
import type { PersonState, ProjectLedger } from '../model/ledger.ts';
import type { RuleWarning } from '../model/warning.ts';
import { setOwn } from '../values/json.ts';
import { applyChange, replaceProperties, sizeAfterChange, sizeUpperBound } from '../values/sized-properties.ts';
import { maxIdCharacters } from '../values/text.ts';
import type { MergeRequest, RefuseWhen } from './merge-requests.ts';
import { isOverSizeLimit, maxPersonPropertiesBytes, personSizeWarning } from './person-properties.ts';
import { attachDistinctId, createPerson, findPersonInLedger, moveDistinctIds } from './persons.ts';

interface MergeOutcome {
  isCreated: boolean;
  isChanged: boolean;
  warnings: RuleWarning[];
}

/**
 * Merges two distinct IDs according to `planMerge`, unless the IDs are equal or one of them is illegal. Does not
 * increase the person's version, because the caller increases it once for all changes of the event.
 */
export function applyMerge(request: MergeRequest, event: IncomingEvent, ledger: ProjectLedger): MergeOutcome {
  const { sourceId, targetId } = request;
  // SDKs often send the same ID twice. Such an event does not cause a warning or make the person identified.
  if (sourceId === targetId) return untouched();
  if (isIllegalDistinctId(targetId)) return refusedForIllegalId(targetId, sourceId, event);
  if (isIllegalDistinctId(sourceId)) return refusedForIllegalId(sourceId, targetId, event);

  const plan = planMerge(
    findPersonInLedger(sourceId, ledger),
    findPersonInLedger(targetId, ledger),
    request.refuseWhen,
  );
  switch (plan.action) {
    case 'create': {
      const { person, isCreated } = createPerson(targetId, event.timestampMs, ledger);
      attachDistinctId(sourceId, person, ledger);
      const isChanged = markIdentified(person, targetId);
      return { isCreated, isChanged, warnings: [] };
    }
    case 'attach_source':
      attachDistinctId(sourceId, plan.person, ledger);
      return changed(markIdentified(plan.person, targetId));
    case 'attach_target':
      attachDistinctId(targetId, plan.person, ledger);
      return changed(markIdentified(plan.person, targetId));
    case 'already_one':
      return changed(markIdentified(plan.person, request.alwaysSetsMainId ? targetId : plan.person.mainDistinctId));
    case 'merge': {
      const warnings = mergePersons(plan.source, plan.target, event);
      moveDistinctIds(plan.source, plan.target, ledger);
      markIdentified(plan.target, targetId);
      return { isCreated: false, isChanged: true, warnings };
    }
    case 'refuse':
      // The target becomes identified even though the merge was rejected (docs/ingestion-rules.md#merges).
      return {
        ...changed(markIdentified(plan.target, plan.target.mainDistinctId)),
        warnings: [alreadyIdentified(request, event)],
      };
  }
}

/** Marks a person as identified, permanently. Returns whether this changed the person. */
function markIdentified(person: PersonState, mainDistinctId: string): boolean {
  if (person.isIdentified && person.mainDistinctId === mainDistinctId) return false;
  person.isIdentified = true;
  person.mainDistinctId = mainDistinctId;
  return true;
}

/**
 * Merges the source into the target, which keeps its UUID. The target's properties take precedence, it gets the older
 * of the two creation times, and its version becomes higher than both versions (docs/ingestion-rules.md#merges). If the
 * combined properties are too large, the target keeps only its own properties.
 */
function mergePersons(source: PersonState, target: PersonState, event: IncomingEvent): RuleWarning[] {
  target.createdAtMs = Math.min(source.createdAtMs, target.createdAtMs);
  target.version = Math.max(source.version, target.version);
  // Merge the smaller set of properties into the larger one in place, because the source's set is no longer needed.
  const [into, put] =
    sizeUpperBound(source) > sizeUpperBound(target)
      ? [source, target.properties]
      : [target, missingIn(target.properties, source.properties)];
  const mixing = { put, removed: [] };
  if (isOverSizeLimit(sizeAfterChange(into, mixing, maxPersonPropertiesBytes)))
    return [personSizeWarning(event, target.uuid)];
  applyChange(into, mixing);
  if (into === source) replaceProperties(target, source.properties, source.size);
  return [];
}

function missingIn(properties: JsonObject, others: JsonObject): JsonObject {
  const missing: JsonObject = {};
  for (const key of Object.keys(others)) if (!Object.hasOwn(properties, key)) setOwn(missing, key, others[key]);
  return missing;
}

function untouched(): MergeOutcome {
  return { isCreated: false, isChanged: false, warnings: [] };
}

function changed(isChanged: boolean): MergeOutcome {
  return { isCreated: false, isChanged, warnings: [] };
}

function refusedForIllegalId(illegalDistinctId: string, otherDistinctId: string, event: IncomingEvent): MergeOutcome {
  const details = { eventUuid: event.uuid, event: event.event, illegalDistinctId, otherDistinctId };
  return { ...untouched(), warnings: [{ type: 'cannot_merge_with_illegal_distinct_id', details }] };
}

function alreadyIdentified(request: MergeRequest, event: IncomingEvent): RuleWarning {
  return {
    type: 'cannot_merge_already_identified',
    details: {
      eventUuid: event.uuid,
      event: event.event,
      sourceDistinctId: request.sourceId,
      targetDistinctId: request.targetId,
    },
  };
}

export interface PersonFacts {
  uuid: string;
  isIdentified: boolean;
}

type MergePlan<Person extends PersonFacts> =
  /** Neither ID has a person, so create a person with both IDs. */
  | { action: 'create' }
  /** Only the target has a person, so add the source ID to it. */
  | { action: 'attach_source'; person: Person }
  /** Only the source has a person, so add the target ID to it. The person's UUID remains the same. */
  | { action: 'attach_target'; person: Person }
  | { action: 'already_one'; person: Person }
  | { action: 'merge'; source: Person; target: Person }
  | { action: 'refuse'; target: Person };

/**
 * Decides how to merge two distinct IDs (docs/ingestion-rules.md#merges). `null` means that the ID has no person. Only
 * a merge of two persons can be rejected. Adding an ID to a person always succeeds.
 */
export function planMerge<Person extends PersonFacts>(
  source: Person | null,
  target: Person | null,
  refuseWhen: RefuseWhen,
): MergePlan<Person> {
  if (source === null) return target === null ? { action: 'create' } : { action: 'attach_source', person: target };
  if (target === null) return { action: 'attach_target', person: source };
  if (source.uuid === target.uuid) return { action: 'already_one', person: target };
  return isRefused(source, target, refuseWhen) ? { action: 'refuse', target } : { action: 'merge', source, target };
}

function isRefused(source: PersonFacts, target: PersonFacts, refuseWhen: RefuseWhen): boolean {
  switch (refuseWhen) {
    case 'source_identified':
      return source.isIdentified;
    case 'both_identified':
      return source.isIdentified && target.isIdentified;
    case 'never':
      return false;
  }
}

/**
 * Placeholder IDs of faulty clients, illegal in upper and lower case. Merging such IDs would combine different persons.
 */
const illegalInAnyCase = [
  'anonymous',
  'guest',
  'distinctid',
  'distinct_id',
  'id',
  'not_authenticated',
  'email',
  'undefined',
  'true',
  'false',
];

/** Placeholder IDs that are illegal only in exactly this capitalization. */
const illegalAsWritten = ['[object Object]', 'NaN', 'None', 'none', 'null', '0', 'undefined'];

const anyCase = new Set(illegalInAnyCase.flatMap(withQuotedForms));
const asWritten = new Set(illegalAsWritten.flatMap(withQuotedForms));

/**
 * Returns whether a distinct ID must not be merged (docs/ingestion-rules.md#illegal-distinct-ids). An ordinary event
 * with such an ID gets its own person.
 */
export function isIllegalDistinctId(id: string): boolean {
  return (
    id.trim() === '' ||
    asWritten.has(id) ||
    anyCase.has(id.toLowerCase()) ||
    id.includes('\u0000') ||
    isLongerThan(id, maxIdCharacters)
  );
}

function withQuotedForms(value: string): string[] {
  return [value, `'${value}'`, `"${value}"`];
}
