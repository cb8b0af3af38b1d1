// Implements the event store for any engine: builds the SQL of each query and converts its rows.

import { fromEvents, personsText } from './conditions.ts';
import type { Dialect } from './dialect.ts';
import { type Engine, readRows, textOrNull } from './engine.ts';
import { exposuresText } from './exposures.ts';
import { funnelText, livesText } from './funnel.ts';
import { lifecycleText, unitsOfLifecycleText } from './lifecycle.ts';
import { eventLists } from './list.ts';
import { pageText } from './page.ts';
import type { Budget, EventStore } from './port.ts';
import {
  displayNames,
  type ExposureRow,
  type FunnelEvent,
  type FunnelQuestion,
  type FunnelUnit,
  type LifecycleRow,
  type LifecycleStatus,
  type UnitsBehind,
  type UnitsQuestion,
} from './queries.ts';
import { gatherIntervals, intervalsText, isOfIntervals, retentionText, unitsOfRetentionText } from './retention.ts';
import { seriesText, unitsOfSeriesText } from './series.ts';
import { type Fragment, sql } from './sql.ts';
import { valuesText } from './values.ts';
import { readWeb } from './web.ts';

export function createEventStore(engine: Engine): EventStore {
  const { dialect } = engine;
  const rowsOf = <T>(text: Fragment, run: Budget, read: (row: unknown[]) => T) => readRows(engine, { text, run, read });

  return {
    series: (question, run) =>
      rowsOf(seriesText(dialect, question), run, ([bucket, number, isOther, ...values]) => ({
        bucket: Number(bucket),
        number: Number(number),
        isOther: Number(isOther) === 1,
        values: values.map(textOrNull),
      })),

    funnel: (question, run, each) => readFunnel(engine, { question, run, each }),

    lives(question, run, each) {
      const text = livesText(dialect, question);
      if (text === null) return readFunnel(engine, { question, run, each: (unit) => each(unit, 1) });
      const toEvents = question.breakdowns.length === 0 ? eventsOf : eventsWithValues;
      return engine.read(text, run, ([count, life]) => each({ events: toEvents(textOrNull(life)) }, Number(count)));
    },

    async retention(question, run) {
      // The range is empty.
      if (question.edges.length === 0) return [];
      if (isOfIntervals(question)) {
        const { add, rows } = gatherIntervals(question);
        await engine.read(intervalsText(dialect, question), run, add);
        return rows();
      }
      return rowsOf(retentionText(dialect, question), run, ([row, later, count, total, numbers, ...values]) => ({
        row: Number(row),
        later: Number(later),
        count: Number(count),
        total: Number(total),
        numbers: Number(numbers),
        values: values.map(textOrNull),
      }));
    },

    lifecycle: (question, run) =>
      rowsOf(
        lifecycleText(dialect, question),
        run,
        ([bucket, status, count]): LifecycleRow => ({
          bucket: Number(bucket),
          status: String(status) as LifecycleStatus,
          count: Number(count),
        }),
      ),

    web: (question, run) => readWeb(engine, question, run),

    units: (question, run) =>
      rowsOf(pageOfUnits(dialect, question), run, ([id, events, ...values]) => ({
        ...{ id: String(id), events: Number(events) },
        ...(values.length > 0 && { values }),
      })),

    page: (question, run) =>
      rowsOf(pageText(dialect, question, question.of && unitsText(dialect, question.of)), run, (row) => row),

    ...eventLists(engine),

    values: (question, run) => rowsOf(valuesText(dialect, question), run, ([name]) => String(name)),

    exposures: (question, run) => rowsOf(exposuresText(dialect, question), run, exposureOf),

    rows: ({ print }, run) => rowsOf(print(dialect.name), { ...run, isUserSql: true }, (row) => row),

    async earliest({ projectId, events }, run) {
      // Uses one index lookup per event name.
      const first = (isIt: Fragment) =>
        sql`(SELECT ${dialect.millis(sql`min(e.timestamp)`)} AS first ${fromEvents(dialect, { projectId })}
              WHERE e.project_id = ${sql.int(projectId)}${isIt})`;
      const names = events?.map((name) => first(sql` AND e.event = ${sql.text(name)}`)) ?? [first(sql``)];
      const found = await rowsOf(sql.join(names, ' UNION ALL '), run, ([time]) => time);
      const times = found.filter((time) => time !== null).map(Number);
      return times.length === 0 ? null : Math.min(...times);
    },
  };
}

function pageOfUnits(dialect: Dialect, question: UnitsQuestion): Fragment {
  const columns = question.columns.map((column) => sql`, ${column.print(dialect.name, 'result')}`);
  return sql`SELECT unit, events${sql.join(columns, ' ')} FROM (${unitsText(dialect, question.units)}) AS behind
             ${orderedUnits(dialect, question)} LIMIT ${sql.int(question.limit)} OFFSET ${sql.int(question.offset)}`;
}

interface FunnelRead {
  question: FunnelQuestion;
  run: Budget;
  each: (unit: FunnelUnit) => void;
}

async function readFunnel(engine: Engine, { question, run, each }: FunnelRead): Promise<void> {
  let unit: FunnelUnit | null = null;
  await engine.read(funnelText(engine.dialect, question), run, ([id, time, steps, exclusions, ...values]) => {
    if (unit?.id !== String(id)) {
      if (unit !== null) each(unit);
      unit = { id: String(id), events: [] };
    }
    unit.events.push({
      time: Number(time),
      steps: bitsOf(steps),
      exclusions: bitsOf(exclusions),
      values: values.map(textOrNull),
    });
  });
  if (unit !== null) each(unit);
}

/**
 * Sorts actors, and joins their records if the order needs them. The ID breaks ties, so that the order is the same
 * across pages.
 */
function orderedUnits(dialect: Dialect, { unit, projectId, order, columns: shown }: UnitsQuestion): Fragment {
  const isGroup = unit.of === 'group';
  const record = isGroup
    ? dialect.groupRecord(projectId, unit.index, sql`unit`)
    : dialect.personRecord(projectId, sql`unit`);
  // As text in byte order, so that all engines return the same order.
  const id = isGroup ? dialect.inByteOrder(sql`unit`) : dialect.uuidText(sql`unit`);
  const created = isGroup ? sql`${sql.numbered('g', unit.index)}.created_at` : sql`p.created_at`;
  const names = displayNames.map((key) => sql`nullif(${dialect.text({ of: 'person', key })}, '')`);
  const columns = {
    events: sql`events`,
    id,
    created_at: created,
    name: isGroup ? id : dialect.inByteOrder(sql`coalesce(${sql.join(names, ', ')}, '')`),
  };
  const needsRecord = shown.length > 0 || order.some(({ by }) => by !== 'events' && by !== 'id');
  const columnsInOrder = order.map(({ by, isDescending }) => {
    const value = typeof by === 'object' ? by.print(dialect.name, 'order') : columns[by];
    return isDescending ? sql`${value} DESC NULLS LAST` : sql`${value} ASC NULLS LAST`;
  });
  return sql`${needsRecord ? record : sql``} ORDER BY ${sql.join([...columnsInOrder, id], ', ')}`;
}

function exposureOf([variant, ...numbers]: unknown[]): ExposureRow {
  const [bucket = 0, exposures = 0, persons = 0, conversions = 0, read = 0] = numbers.map(Number);
  return { variant: String(variant), bucket, exposures, persons, conversions, read };
}

function unitsText(dialect: Dialect, question: UnitsBehind): Fragment {
  switch (question.behind) {
    case 'series':
      return unitsOfSeriesText(dialect, question.question, question.unit);
    case 'retention':
      return unitsOfRetentionText(dialect, question.question, question.row);
    case 'lifecycle':
      return unitsOfLifecycleText(dialect, question.question, question);
    case 'persons':
      return personsText(dialect, question.question);
    default:
      return question satisfies never;
  }
}

/** Converts lists of times and steps to events. Without a list, the actor reached only the first step. */
function eventsOf(life: string | null): FunnelEvent[] {
  const [times = [], steps = []]: number[][] = life === null ? [[0], [1]] : JSON.parse(life);
  return times
    .map((time, at) => ({ time, steps: (steps[at] ?? 0) >>> 0, exclusions: 0, values: [] }))
    .sort((a, b) => a.time - b.time || inOrderOfTexts(a.steps, b.steps));
}

/** Converts a list of times, steps and values, which is in order. */
function eventsWithValues(life: string | null): FunnelEvent[] {
  const events: [number, number, (string | null)[]][] = JSON.parse(life ?? '[]');
  return events.map(([time, steps, values]) => ({ time, steps: steps >>> 0, exclusions: 0, values }));
}

/** Sorts simultaneous events like their texts, in which the first step is the first character: `01` before `10`. */
function inOrderOfTexts(a: number, b: number): number {
  const differing = a ^ b;
  if (differing === 0) return 0;
  return (a & differing & -differing) === 0 ? -1 : 1;
}

/** Converts `101` to 5. The first character becomes the lowest bit. */
function bitsOf(marks: unknown): number {
  const text = String(marks);
  let bits = 0;
  for (let at = 0; at < text.length; at++) if (text[at] === '1') bits |= 1 << at;
  return bits >>> 0;
}
