import type { Database } from '@millrace/db';
import { flattenOverlay } from '../values/properties.ts';
import type { RuleCaseOutcome, RuleWorld } from './rule-world.ts';

/** Everything that is stored for a project after a case, sorted so that equal states compare as equal. */
export interface EndState {
  persons: object[];
  distinctIds: object[];
  groupTypes: object[];
  groups: object[];
  rows: object[];
  /** Each warning about an event, as `uuid type`. */
  warnings: string[];
}

export function decidedState(
  { ledger, groups }: RuleWorld,
  outcomes: { uuid: string; outcome: RuleCaseOutcome }[],
): EndState {
  const warnings = outcomes.flatMap(({ uuid, outcome }) => outcome.warnings.map(({ type }) => `${uuid} ${type}`));
  return {
    persons: sorted(
      [...ledger.persons.values()].map((person) => ({
        uuid: person.uuid,
        mainDistinctId: person.mainDistinctId,
        properties: person.properties,
        isIdentified: person.isIdentified,
        version: person.version,
        createdAt: iso(person.createdAtMs),
      })),
    ),
    distinctIds: sorted(
      [...ledger.distinctIds].map(([distinctId, { personUuid, version }]) => ({ distinctId, personUuid, version })),
    ),
    groupTypes: sorted([...ledger.groupTypes].map(([type, { index }]) => ({ type, index }))),
    groups: sorted(
      [...groups.values()].map(({ index, key, properties, version, createdAtMs }) => {
        return { index, key, properties, version, createdAt: iso(createdAtMs) };
      }),
    ),
    rows: sorted(
      outcomes.flatMap(({ outcome }) => {
        if (outcome.kind !== 'store') return [];
        const { projectId: _, timestampMs, capturedAtMs: __, personCreatedAtMs, ...others } = outcome.row;
        const { written: ___, personBytes: ____, ...row } = others;
        const personCreatedAt = personCreatedAtMs === null ? null : iso(personCreatedAtMs);
        return [{ ...row, properties: flattenOverlay(row.properties), timestamp: iso(timestampMs), personCreatedAt }];
      }),
    ),
    warnings: [...new Set(warnings)].sort(),
  };
}

export async function storedState({ prisma }: Database, projectId: number): Promise<EndState> {
  const where = { project_id: projectId };
  const [persons, distinctIds, groupTypes, groups, events, warnings] = await Promise.all([
    prisma.person.findMany({ where }),
    prisma.person_distinct_id.findMany({ where }),
    prisma.group_type_mapping.findMany({ where }),
    prisma.group.findMany({ where }),
    prisma.event.findMany({ where }),
    prisma.ingestion_warning.findMany({ where }),
  ]);
  return {
    persons: sorted(
      persons.map((person) => ({
        uuid: person.uuid,
        mainDistinctId: person.main_distinct_id,
        properties: person.properties,
        isIdentified: person.is_identified,
        version: Number(person.version),
        createdAt: person.created_at.toISOString(),
      })),
    ),
    distinctIds: sorted(
      distinctIds.map(({ distinct_id, person_uuid, version }) => {
        return { distinctId: distinct_id, personUuid: person_uuid, version: Number(version) };
      }),
    ),
    groupTypes: sorted(
      groupTypes.map(({ group_type, group_type_index }) => ({ type: group_type, index: group_type_index })),
    ),
    groups: sorted(
      groups.map((group) => ({
        index: group.group_type_index,
        key: group.group_key,
        properties: group.group_properties,
        version: Number(group.version),
        createdAt: group.created_at.toISOString(),
      })),
    ),
    rows: sorted(
      events.map((event) => ({
        uuid: event.uuid,
        event: event.event,
        distinctId: event.distinct_id,
        properties: event.properties,
        elementsChain: event.elements_chain,
        personUuid: event.person_id,
        personProperties: event.person_properties,
        personMode: event.person_mode,
        isHistorical: event.historical_migration,
        timestamp: event.timestamp.toISOString(),
        personCreatedAt: event.person_created_at?.toISOString() ?? null,
      })),
    ),
    warnings: warnings.map(({ type, details }) => `${(details as { eventUuid?: string }).eventUuid} ${type}`).sort(),
  };
}

function sorted(rows: object[]): object[] {
  return rows
    .map((row) => [JSON.stringify(row, Object.keys(row).sort()), row] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, row]) => row);
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
