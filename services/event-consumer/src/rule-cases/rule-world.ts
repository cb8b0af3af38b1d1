import { type CapturedEvent, encodeCapturedRecord, type JsonObject } from '@millrace/contracts';
import { processEvent } from '../decide.ts';
import { admitEvent } from '../intake/admit.ts';
import { toIncomingEvent } from '../intake/incoming-event.ts';
import { parseRecord } from '../intake/parse.ts';
import type { EventOutcome, IncomingEvent, IngestProject } from '../model/event.ts';
import { createProjectLedger, type PersonState, type ProjectLedger, setGroupType } from '../model/ledger.ts';
import type { RuleWarning } from '../model/warning.ts';
import { coalesceGroupUpdates, type GroupState, type GroupStates, toGroupStateKey } from '../rules/groups.ts';
import { derivePersonUuid } from '../rules/persons.ts';

/** An event in a test: a captured record, with defaults for fields that do not matter. */
export interface SentEvent extends Partial<Omit<CapturedEvent, 'kind'>> {
  event: string;
  distinct_id: string;
}

/**
 * A person that is stored before the test. `ids[0]` is the main ID. The UUID is derived from the main ID, unless
 * `uuidOf` is given.
 */
export interface StoredPerson {
  ids: string[];
  uuidOf?: string;
  properties?: JsonObject;
  isIdentified?: boolean;
  version?: number;
  createdAt?: string;
}

export interface StoredGroup {
  index: number;
  key: string;
  properties?: JsonObject;
  version?: number;
  createdAt?: string;
}

export interface InitialState {
  project?: Partial<IngestProject>;
  persons?: StoredPerson[];
  groupTypes?: string[];
  groups?: StoredGroup[];
}

export type RuleCaseOutcome = EventOutcome | { kind: 'invalid'; reason: string; warnings: RuleWarning[] };

export interface RuleWorld {
  project: IngestProject;
  ledger: ProjectLedger;
  groups: GroupStates;
  send(event: SentEvent): RuleCaseOutcome;
  personOf(distinctId: string): PersonState | undefined;
  /** Returns all IDs of the person that has this ID, sorted, or an empty array if the ID has no person. */
  idsWith(distinctId: string): string[];
  group(type: string, key: string): GroupState | undefined;
  uuidOf(distinctId: string): string;
}

export const eventTime = '2026-03-01T12:00:00.000Z';

export function createRuleWorld(start: InitialState = {}): RuleWorld {
  const project: IngestProject = {
    id: 1,
    token: 'phc_test',
    anonymizeIps: false,
    personProcessingOptOut: false,
    ...start.project,
  };
  const ledger = storedLedger(project.id, start);
  const groups = storedGroups(start);
  let sentCount = 0;
  return {
    project,
    ledger,
    groups,
    send: (event) => {
      sentCount += 1;
      const uuid = `00000000-0000-4000-8000-${String(sentCount).padStart(12, '0')}`;
      const outcome = sendTo(project, ledger, { ...event, uuid: event.uuid ?? uuid });
      coalesceGroupUpdates(ledger.groupUpdates.splice(0), groups);
      return outcome;
    },
    personOf: (distinctId) => {
      const mapping = ledger.distinctIds.get(distinctId);
      return mapping && ledger.persons.get(mapping.personUuid);
    },
    idsWith: (distinctId) => idsWith(distinctId, ledger),
    group: (type, key) => {
      const groupType = ledger.groupTypes.get(type);
      return groupType && groups.get(toGroupStateKey({ index: groupType.index, key }));
    },
    uuidOf: (distinctId) => derivePersonUuid(project.id, distinctId),
  };
}

function sendTo(project: IngestProject, ledger: ProjectLedger, sent: SentEvent & { uuid: string }): RuleCaseOutcome {
  const record: CapturedEvent = {
    kind: 'event',
    token: project.token,
    timestamp: eventTime,
    now: sent.timestamp ?? eventTime,
    ip: null,
    properties: {},
    ...sent,
  };
  const parsed = parseRecord(encodeCapturedRecord(record));
  if (parsed.kind === 'invalid') return { ...parsed, warnings: [] };
  if (parsed.kind === 'warning') throw new Error('an event came back as a warning');
  const admission = admitEvent(parsed, project, { log: 'test', topic: 'events.live', partition: 0, offset: 0n });
  if (admission.kind === 'drop') return admission;
  const outcome = processEvent(deepFreeze(toIncomingEvent(admission.event)), ledger);
  return { ...outcome, warnings: [...admission.event.warnings, ...outcome.warnings] };
}

/**
 * Freezes an event, so that a rule that modifies it throws an error. Rules must not modify events, because an event may
 * be processed again after a failure.
 */
export function deepFreeze(event: IncomingEvent): IncomingEvent {
  freeze(event.properties);
  return Object.freeze(event);
}

function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  Object.freeze(value);
  for (const child of Object.values(value)) freeze(child);
}

function storedLedger(projectId: number, start: InitialState): ProjectLedger {
  const ledger = createProjectLedger(projectId);
  for (const stored of start.persons ?? []) {
    const mainDistinctId = stored.ids[0] ?? '';
    const uuid = derivePersonUuid(projectId, stored.uuidOf ?? mainDistinctId);
    ledger.persons.set(uuid, {
      uuid,
      mainDistinctId,
      properties: structuredClone(stored.properties ?? {}),
      isIdentified: stored.isIdentified ?? false,
      version: stored.version ?? 0,
      createdAtMs: Date.parse(stored.createdAt ?? '2026-01-01T00:00:00.000Z'),
      isNew: false,
      isDirty: false,
    });
    for (const id of stored.ids) ledger.distinctIds.set(id, { personUuid: uuid, version: 0, isNew: false });
  }
  for (const [index, type] of (start.groupTypes ?? []).entries()) {
    setGroupType(ledger, type, { index, createdAtMs: 0, isNew: false });
  }
  return ledger;
}

function storedGroups(start: InitialState): GroupStates {
  const groups: GroupStates = new Map();
  for (const { index, key, properties = {}, version = 1, createdAt = eventTime } of start.groups ?? []) {
    const createdAtMs = Date.parse(createdAt);
    groups.set(toGroupStateKey({ index, key }), {
      ...{ index, key, properties: structuredClone(properties), version, createdAtMs },
      isNew: false,
      isDirty: false,
    });
  }
  return groups;
}

function idsWith(distinctId: string, ledger: ProjectLedger): string[] {
  const uuid = ledger.distinctIds.get(distinctId)?.personUuid;
  if (uuid === undefined) return [];
  return [...ledger.distinctIds]
    .filter(([, mapping]) => mapping.personUuid === uuid)
    .map(([id]) => id)
    .sort();
}
