// Formats the persons or groups that a number in a chart counts, such as the persons who dropped off at a funnel step.

import { type ActorRow, displayNames, type FunnelActor } from '../event-store/queries.ts';
import type { FunnelPoint } from '../event-store/walked-funnel.ts';
import type { ActorsColumn, ActorsPlan } from '../plan/actors.ts';
import type { PlanContext } from '../plan/context.ts';
import type { FunnelPlan } from '../plan/funnel.ts';
import type { GroupRecord, PersonRecord } from '../records-store.ts';
import { findEntrances, findOutcomes } from './funnel.ts';
import type { FunnelProgress } from './funnel-walk.ts';
import { formatIso } from './time-labels.ts';

/**
 * Collects the actors that a number in a funnel counts: the actors that reached a step, dropped off there, or entered
 * in an interval.
 */
export function collectFunnelActors(
  plan: FunnelPlan,
  point: FunnelPoint,
): { add: (actor: FunnelActor) => void; actors: ActorRow[] } {
  const actors: ActorRow[] = [];
  const isOfValue = (values: string[]) =>
    point.values === null || JSON.stringify(values) === JSON.stringify(point.values);
  const isIncluded = (actor: FunnelActor) => {
    const { entrance, reached } = point;
    if (entrance !== null) {
      return findEntrances(plan, actor).some(
        ({ values, bucket, isConverted }) =>
          isOfValue(values) && bucket === entrance.bucket && isConverted === entrance.isConverted,
      );
    }
    return findOutcomes(plan, actor).some(
      (outcome) =>
        isOfValue(outcome.values) &&
        ('furthest' in reached
          ? reached.furthest.includes(outcome.reached)
          : didStep(outcome, reached.step) && !(reached.butNot !== null && didStep(outcome, reached.butNot))),
    );
  };
  return {
    actors,
    add(actor) {
      if (isIncluded(actor)) actors.push({ id: actor.id, events: actor.events.length });
    },
  };
}

const didStep = ({ times }: FunnelProgress, step: number) => typeof times[step - 1] === 'number';

interface Records {
  persons: ReadonlyMap<string, PersonRecord>;
  groups: ReadonlyMap<string, GroupRecord>;
}

const types: Record<string, string> = {
  id: 'UUID',
  'person.$delete': 'UInt8',
  event_distinct_ids: 'Array(String)',
  event_count: 'UInt64',
  created_at: "DateTime64(6, 'UTC')",
};

/** @param actors the actors of the page, plus one more if another page exists */
export function formatActors(
  plan: ActorsPlan,
  actors: ActorRow[],
  { records, context }: { records: Records; context: PlanContext },
) {
  const { columns, limit, offset, actorType } = plan;
  const shown = actors.slice(0, limit);
  const places = new Map(columns.filter(({ expression }) => expression !== null).map((column, at) => [column, at]));
  const columnValue = (row: ActorRow, column: ActorsColumn): unknown => {
    const { text, expression } = column;
    if (expression !== null) return expression.read(row.values?.[places.get(column) ?? -1]);
    const person = records.persons.get(row.id);
    switch (text) {
      case 'actor':
      case 'person':
      case 'group':
        return actorType.of === 'group'
          ? groupOf(row.id, records.groups.get(row.id), context)
          : personOf(row.id, person, context);
      case 'id':
        return row.id;
      case 'person.$delete':
        return 1;
      case 'event_distinct_ids':
        return person?.distinct_ids ?? [];
      case 'event_count':
        return row.events;
      case 'created_at':
        return person === undefined ? null : formatIso(person.created_at.getTime(), context.clock);
      case 'person_display_name':
        return { display_name: findDisplayName(person) ?? row.id, id: row.id };
      default:
        return [];
    }
  };
  return {
    results: shown.map((row) => columns.map((column) => columnValue(row, column))),
    columns: columns.map(({ text }) => text),
    types: columns.map(({ text, expression }) => expression?.typeName ?? types[text] ?? 'UUID'),
    hasMore: actors.length > limit,
    limit,
    offset,
    missing_actors_count: actorType.of === 'group' ? 0 : shown.filter(({ id }) => !records.persons.has(id)).length,
  };
}

function personOf(id: string, person: PersonRecord | undefined, { clock }: PlanContext) {
  if (person === undefined) return { id, properties: {}, is_identified: false, created_at: null, distinct_ids: [] };
  const { properties, is_identified, created_at, distinct_ids } = person;
  return { id, properties, is_identified, created_at: formatIso(created_at.getTime(), clock), distinct_ids };
}

function groupOf(key: string, group: GroupRecord | undefined, { clock }: PlanContext) {
  return {
    id: key,
    group_key: key,
    type: 'group',
    properties: group?.group_properties ?? {},
    created_at: group === undefined ? null : formatIso(group.created_at.getTime(), clock),
  };
}

export function findDisplayName(person: Pick<PersonRecord, 'properties'> | undefined): string | undefined {
  const names = displayNames.map((name) => person?.properties[name]);
  return names.find((name): name is string => typeof name === 'string' && name !== '');
}
