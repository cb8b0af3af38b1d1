// Implements the event store for any engine: builds each query's SQL and converts its rows.

import { buildFromClause, buildPersonsSql } from './conditions.ts';
import type { Dialect } from './dialect.ts';
import { type Engine, readRows, textOrNull } from './engine.ts';
import { buildExposuresSql } from './exposures.ts';
import { buildFunnelPathsSql, buildFunnelSql } from './funnel.ts';
import { buildLifecycleActorsSql, buildLifecycleSql } from './lifecycle.ts';
import { createEventLists, toEventKey } from './list.ts';
import { buildPageSql } from './page.ts';
import { type Budget, type EventStore, withSharedDeadline } from './port.ts';
import {
  type ActorsSource,
  type ActorsStoreQuery,
  displayNames,
  type ExposureRow,
  type FunnelActor,
  type FunnelEvent,
  type FunnelStoreQuery,
  type LifecycleRow,
  type LifecycleStatus,
} from './queries.ts';
import { buildRetentionActorsSql, readRetention } from './retention.ts';
import { buildSeriesActorsSql, buildSeriesSql } from './series.ts';
import { type Fragment, sql } from './sql.ts';
import { buildValuesSql } from './values.ts';
import type { FunnelEntrances, FunnelTotals, WalkedFunnel } from './walked-funnel.ts';
import { readWeb } from './web.ts';

export function createEventStore(engine: Engine): EventStore {
  const { dialect } = engine;
  const rowsOf = <T>(text: Fragment, run: Budget, read: (row: unknown[]) => T) => readRows(engine, { text, run, read });

  return {
    series: (query, run) =>
      rowsOf(buildSeriesSql(dialect, query), run, ([bucket, number, isOther, ...values]) => ({
        bucket: Number(bucket),
        number: Number(number),
        isOther: Number(isOther) === 1,
        values: values.map(textOrNull),
      })),

    async funnelTotals(plan, run) {
      const found = dialect.funnel(plan);
      return found === null ? null : readFunnelTotals(plan, await rowsOf(found.totals, run, (row) => row));
    },

    async funnelActors(plan, page, run) {
      const found = dialect.funnel(plan);
      if (found === null) return null;
      return rowsOf(found.actors(page), run, ([id, events]) => ({ id: String(id), events: Number(events) }));
    },

    funnel: (query, run, each) => readFunnel(engine, { query, run, each }),

    funnelPaths(query, run, each) {
      const text = buildFunnelPathsSql(dialect, query);
      if (text === null) return readFunnel(engine, { query, run, each: (actor) => each(actor, 1) });
      const toEvents = query.breakdowns.length === 0 ? parsePath : parsePathWithValues;
      return engine.read(text, run, ([count, path]) => each({ events: toEvents(textOrNull(path)) }, Number(count)));
    },

    retention: (query, run) => readRetention(engine, query, run),

    lifecycle: (query, run) =>
      rowsOf(
        buildLifecycleSql(dialect, query),
        run,
        ([bucket, status, count]): LifecycleRow => ({
          bucket: Number(bucket),
          status: String(status) as LifecycleStatus,
          count: Number(count),
        }),
      ),

    web: (query, run) => readWeb(engine, query, run),

    actors: (query, run) =>
      rowsOf(buildActorsPageSql(dialect, query), run, ([id, events, ...values]) => ({
        id: String(id),
        events: Number(events),
        ...(values.length > 0 && { values }),
      })),

    page: (query, run) =>
      rowsOf(buildPageSql(dialect, query, query.of && buildActorsSql(dialect, query.of)), run, (row) => row),

    ...createEventLists(engine),

    values: (query, run) => rowsOf(buildValuesSql(dialect, query), run, ([name]) => String(name)),

    exposures: (query, run) => rowsOf(buildExposuresSql(dialect, query), run, toExposureRow),

    async rows({ print, page }, budget) {
      const run = withSharedDeadline({ ...budget, isUserSql: true });
      if (page === undefined || dialect.followsIndexes) return rowsOf(print(dialect.name), run, (row) => row);
      const keys = await rowsOf(page.keys(dialect.name), run, toEventKey);
      return keys.length === 0 ? [] : rowsOf(page.print(dialect.name, keys), run, (row) => row);
    },

    async earliest({ projectId, events }, run) {
      // Use one subquery per event name, so that each subquery needs a single index lookup.
      const first = (isIt: Fragment) =>
        sql`(SELECT ${dialect.millis(sql`min(e.timestamp)`)} AS first ${buildFromClause(dialect, { projectId })}
              WHERE e.project_id = ${sql.int(projectId)}${isIt})`;
      const names = events?.map((name) => first(sql` AND e.event = ${sql.text(name)}`)) ?? [first(sql``)];
      const found = await rowsOf(sql.join(names, ' UNION ALL '), run, ([time]) => time);
      const times = found.filter((time) => time !== null).map(Number);
      return times.length === 0 ? null : Math.min(...times);
    },
  };
}

function buildActorsPageSql(dialect: Dialect, query: ActorsStoreQuery): Fragment {
  const columns = query.columns.map((column) => sql`, ${column.print(dialect.name, 'result')}`);
  return sql`SELECT actor, events${sql.join(columns, ' ')} FROM (${buildActorsSql(dialect, query.source)}) AS source
             ${buildActorsOrder(dialect, query)} LIMIT ${sql.int(query.limit)} OFFSET ${sql.int(query.offset)}`;
}

function readFunnelTotals({ shows, storeQuery, period }: WalkedFunnel, rows: unknown[][]): FunnelTotals {
  const valuesOf = ([isOther, values]: unknown[]) => (isOther ? null : (values as unknown[]).map(String));
  // The average of an empty list of times is NaN.
  const seconds = (millis: unknown) => (Number.isFinite(Number(millis ?? Number.NaN)) ? Number(millis) / 1000 : null);
  switch (shows) {
    case 'steps': {
      const steps = storeQuery.steps.length;
      return {
        shows,
        rows: rows.map((row) => ({
          values: valuesOf(row),
          counts: row.slice(2, 2 + steps).map(Number),
          averages: [null, ...row.slice(2 + steps, 1 + 2 * steps).map(seconds)],
          medians: [null, ...row.slice(1 + 2 * steps).map(seconds)],
        })),
      };
    }
    case 'time_to_convert': {
      const [[low, width, average, counts] = [0, 0, null, []]] = rows;
      const bins = (counts as unknown[]).map((count, at): [number, number] => [
        Number(low) + at * Number(width),
        Number(count),
      ]);
      return { shows, bins, average: seconds(average) };
    }
    case 'trends': {
      const zeros = period.edges.map(() => 0);
      const all = new Map<string, FunnelEntrances>();
      for (const row of rows) {
        const [, , bucket, entered, converted] = row;
        const values = valuesOf(row);
        const sum = all.get(JSON.stringify(values)) ?? { values, entered: [...zeros], converted: [...zeros] };
        all.set(JSON.stringify(values), sum);
        sum.entered[Number(bucket)] = Number(entered);
        sum.converted[Number(bucket)] = Number(converted);
      }
      return { shows, rows: [...all.values()] };
    }
    default:
      return shows satisfies never;
  }
}

interface FunnelRead {
  query: FunnelStoreQuery;
  run: Budget;
  each: (actor: FunnelActor) => void;
}

async function readFunnel(engine: Engine, { query, run, each }: FunnelRead): Promise<void> {
  let actor: FunnelActor | null = null;
  await engine.read(buildFunnelSql(engine.dialect, query), run, ([id, time, steps, exclusions, ...values]) => {
    if (actor?.id !== String(id)) {
      if (actor !== null) each(actor);
      actor = { id: String(id), events: [] };
    }
    actor.events.push({
      time: Number(time),
      steps: parseBits(steps),
      exclusions: parseBits(exclusions),
      values: values.map(textOrNull),
    });
  });
  if (actor !== null) each(actor);
}

/**
 * Sorts actors, and joins the actors' records if the order depends on the records. The ID breaks ties, so that the
 * order is the same across pages.
 */
function buildActorsOrder(
  dialect: Dialect,
  { actorType, projectId, order, columns: shown }: ActorsStoreQuery,
): Fragment {
  const isGroup = actorType.of === 'group';
  const record = isGroup
    ? dialect.groupRecord(projectId, actorType.index, sql`actor`)
    : dialect.personRecord(projectId, sql`actor`);
  // Sort IDs as text in byte order, so that all engines return the same order.
  const id = isGroup ? dialect.inByteOrder(sql`actor`) : dialect.uuidText(sql`actor`);
  const created = isGroup ? sql`${sql.numbered('g', actorType.index)}.created_at` : sql`p.created_at`;
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

function toExposureRow([variant, ...numbers]: unknown[]): ExposureRow {
  const [bucket = 0, exposures = 0, persons = 0, conversions = 0, read = 0] = numbers.map(Number);
  return { variant: String(variant), bucket, exposures, persons, conversions, read };
}

function buildActorsSql(dialect: Dialect, query: ActorsSource): Fragment {
  switch (query.kind) {
    case 'series':
      return buildSeriesActorsSql(dialect, query.query, query.actorType);
    case 'retention':
      return buildRetentionActorsSql(dialect, query.query, query.row);
    case 'lifecycle':
      return buildLifecycleActorsSql(dialect, query.query, query);
    case 'persons':
      return buildPersonsSql(dialect, query.query);
    default:
      return query satisfies never;
  }
}

/** Converts lists of times and steps to events. A missing list means that the actor reached only the first step. */
function parsePath(path: string | null): FunnelEvent[] {
  const [times = [], steps = []]: number[][] = path === null ? [[0], [1]] : JSON.parse(path);
  return times
    .map((time, at) => ({ time, steps: (steps[at] ?? 0) >>> 0, exclusions: 0, values: [] }))
    .sort((a, b) => a.time - b.time || compareAsTexts(a.steps, b.steps));
}

/** Converts a sorted list of times, steps and breakdown values to events. */
function parsePathWithValues(path: string | null): FunnelEvent[] {
  const events: [number, number, (string | null)[]][] = JSON.parse(path ?? '[]');
  return events.map(([time, steps, values]) => ({ time, steps: steps >>> 0, exclusions: 0, values }));
}

/**
 * Compares two sets of steps as PostgreSQL sorts their bit strings. The first bit is the first step, so `01` sorts
 * before `10`.
 */
function compareAsTexts(a: number, b: number): number {
  const differing = a ^ b;
  if (differing === 0) return 0;
  return (a & differing & -differing) === 0 ? -1 : 1;
}

/** Converts `101` to 5. The first character is the lowest bit. */
function parseBits(marks: unknown): number {
  const text = String(marks);
  let bits = 0;
  for (let at = 0; at < text.length; at++) if (text[at] === '1') bits |= 1 << at;
  return bits >>> 0;
}
