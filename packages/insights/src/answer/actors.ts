import { displayNames, type FunnelUnit, type UnitRow } from '../event-store/queries.ts';
import type { ActorsColumn, ActorsPlan, FunnelPoint } from '../plan/actors.ts';
import type { PlanContext } from '../plan/context.ts';
import { isoIn } from '../plan/dates.ts';
import type { FunnelPlan } from '../plan/funnel.ts';
import type { ShownGroup, ShownPerson } from '../records-store.ts';
import { entrancesOf, outcomesOf } from './funnel.ts';
import type { Walked } from './funnel-walk.ts';

/**
 * Collects the actors at a point of a funnel: those that reached or dropped off at a step, or entered in an interval.
 */
export function unitsOfFunnel(
  plan: FunnelPlan,
  point: FunnelPoint,
): { add: (unit: FunnelUnit) => void; units: UnitRow[] } {
  const units: UnitRow[] = [];
  const isOfValue = (values: string[]) =>
    point.values === null || JSON.stringify(values) === JSON.stringify(point.values);
  const isIncluded = (unit: FunnelUnit) => {
    const { entrance, reached } = point;
    if (entrance !== null) {
      return entrancesOf(plan, unit).some(
        ({ values, bucket, isConverted }) =>
          isOfValue(values) && bucket === entrance.bucket && isConverted === entrance.isConverted,
      );
    }
    return outcomesOf(plan, unit).some(
      (outcome) =>
        isOfValue(outcome.values) &&
        ('furthest' in reached
          ? reached.furthest.includes(outcome.reached)
          : didStep(outcome, reached.step) && !(reached.butNot !== null && didStep(outcome, reached.butNot))),
    );
  };
  return {
    units,
    add(unit) {
      if (isIncluded(unit)) units.push({ id: unit.id, events: unit.events.length });
    },
  };
}

const didStep = ({ times }: Walked, step: number) => typeof times[step - 1] === 'number';

interface Records {
  persons: ReadonlyMap<string, ShownPerson>;
  groups: ReadonlyMap<string, ShownGroup>;
}

const types: Record<string, string> = {
  id: 'UUID',
  'person.$delete': 'UInt8',
  event_distinct_ids: 'Array(String)',
  event_count: 'UInt64',
  created_at: "DateTime64(6, 'UTC')",
};

/** @param units actors of the page, and one more if there are further ones. */
export function answerActors(
  plan: ActorsPlan,
  units: UnitRow[],
  { records, context }: { records: Records; context: PlanContext },
) {
  const { columns, limit, offset, unit } = plan;
  const shown = units.slice(0, limit);
  const places = new Map(columns.filter(({ expression }) => expression !== null).map((column, at) => [column, at]));
  const columnValue = (row: UnitRow, column: ActorsColumn): unknown => {
    const { text, expression } = column;
    if (expression !== null) return expression.read(row.values?.[places.get(column) ?? -1]);
    const person = records.persons.get(row.id);
    switch (text) {
      case 'actor':
      case 'person':
      case 'group':
        return unit.of === 'group'
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
        return person === undefined ? null : isoIn(person.created_at.getTime(), context.clock);
      case 'person_display_name':
        return { display_name: displayName(person) ?? row.id, id: row.id };
      default:
        return [];
    }
  };
  return {
    results: shown.map((row) => columns.map((column) => columnValue(row, column))),
    columns: columns.map(({ text }) => text),
    types: columns.map(({ text, expression }) => expression?.typeName ?? types[text] ?? 'UUID'),
    hasMore: units.length > limit,
    limit,
    offset,
    missing_actors_count: unit.of === 'group' ? 0 : shown.filter(({ id }) => !records.persons.has(id)).length,
  };
}

function personOf(id: string, person: ShownPerson | undefined, { clock }: PlanContext) {
  if (person === undefined) return { id, properties: {}, is_identified: false, created_at: null, distinct_ids: [] };
  const { properties, is_identified, created_at, distinct_ids } = person;
  return { id, properties, is_identified, created_at: isoIn(created_at.getTime(), clock), distinct_ids };
}

function groupOf(key: string, group: ShownGroup | undefined, { clock }: PlanContext) {
  return {
    ...{ id: key, group_key: key, type: 'group', properties: group?.group_properties ?? {} },
    created_at: group === undefined ? null : isoIn(group.created_at.getTime(), clock),
  };
}

export function displayName(person: Pick<ShownPerson, 'properties'> | undefined): string | undefined {
  const names = displayNames.map((name) => person?.properties[name]);
  return names.find((name): name is string => typeof name === 'string' && name !== '');
}
