// Builds the SQL for web analytics. A single query reads sessions with their page views and all their other events, and
// reads each event once.

import { buildCondition, buildFromClause, buildSelectionCondition } from './conditions.ts';
import type { Dialect } from './dialect.ts';
import { positionKeyLength } from './dialect.ts';
import { type Engine, readRows, textOrNull } from './engine.ts';
import type { Budget } from './port.ts';
import { pageViews, type WebBreakdown, type WebRow, type WebStoreQuery } from './queries.ts';
import { longestSessionMs } from './series.ts';
import { type Fragment, sql } from './sql.ts';

export async function readWeb(engine: Engine, query: WebStoreQuery, run: Budget): Promise<WebRow[]> {
  if (query.select.from >= query.select.to) return [];
  const read = ([value, ...numbers]: unknown[]): WebRow => {
    const [bucket = 0, visitors = 0, views = 0, sessions = 0, seconds = 0, ...rest] = numbers.map(Number);
    const [bounced = 0, rated = 0, total = 0] = rest;
    return { value: textOrNull(value), bucket, visitors, views, sessions, seconds, bounced, rated, total };
  };
  return readRows(engine, { text: webText(engine.dialect, query), run, read });
}

/** The duration below which a session is a bounce if it has exactly one page view and no autocaptured event. */
export const shortestStayMs = 10_000;

/**
 * Computes a website's metrics. Each row has the columns value, interval, visitors, views, sessions, seconds, bounced,
 * rated and total. The query aggregates events into sessions, sessions into persons, and persons into numbers. A
 * session counts in the interval in which it started. All of a session's page views with the same breakdown value count
 * for one person, so the number of visitors never exceeds the number of sessions. The query has no joins, because
 * PostgreSQL cannot estimate the number of sessions and would compare each session with every other one.
 */
function webText(dialect: Dialect, query: WebStoreQuery): Fragment {
  const { order, limit, offset } = query;
  return sql`WITH web_event AS (${webEvents(dialect, query)}),
    sessions AS (${sessions(dialect, query)}),
    visits AS (${visits(dialect, query)}),
    persons AS (
      SELECT bucket, b0, person, sum(views) AS views, count(*) AS sessions, sum(lasted) AS lasted, sum(bounced) AS bounced, sum(rated) AS rated
        FROM visits ${wanted(query.breakdown)} GROUP BY bucket, b0, person),
    numbers AS (
      SELECT bucket, b0, count(*) AS visitors, sum(views) AS views, sum(sessions) AS sessions, sum(lasted) AS lasted,
             sum(bounced) AS bounced, sum(rated) AS rated
        FROM persons GROUP BY bucket, b0)
    SELECT b0, bucket, visitors, views, sessions, lasted / 1000.0, bounced, rated,
           sum(${order.by === 'views' ? sql`views` : sql`visitors`}) OVER () AS total
      FROM numbers ORDER BY ${inOrder(dialect, query)} LIMIT ${sql.int(limit)} OFFSET ${sql.int(offset)}`;
}

/** Returns whether the query needs a session's first page view (`entry`) and its last page view (`exit`). */
function ends({ breakdown, entry, exit }: WebStoreQuery): { entry: boolean; exit: boolean } {
  const isAll = (one: WebStoreQuery['entry']) => 'all' in one && one.all.length === 0;
  return {
    entry: breakdown?.of === 'entry' || !isAll(entry),
    exit: breakdown?.of === 'exit' || !isAll(exit),
  };
}

export const isView = sql`e.event IN (${sql.join(
  pageViews.map((name) => sql`${sql.text(name)}`),
  ', ',
)})`;

/**
 * Selects all events of the sessions that may match, and marks the events that are page views, that are clicks, and
 * that the query selects.
 */
function webEvents(dialect: Dialect, query: WebStoreQuery): Fragment {
  const { select, breakdown } = query;
  const { projectId, from, to } = select;
  const [hasEnds, id] = [ends(query), dialect.actorId({ of: 'session' })];
  const reads = buildFromClause(dialect, {
    projectId,
    actorTypes: [{ of: 'person' }],
    conditions: [select.where, query.entry, query.exit],
    properties: breakdown === null ? [] : [breakdown.value.property],
  });
  const flag = (test: Fragment) => sql`CASE WHEN ${test} THEN 1 ELSE 0 END`;
  const isSeen = sql`${isView} AND ${buildSelectionCondition(dialect, select)}`;
  const person = dialect.text({ of: 'column', key: 'person_id' });
  const end = (which: 'entry' | 'exit') => {
    const label = breakdown?.of === which ? sql`coalesce('1' || ${dialect.label(breakdown.value)}, '0')` : sql`'0'`;
    const holds = sql`CASE WHEN ${buildCondition(dialect, query[which], projectId)} THEN '1' ELSE '0' END`;
    return sql`CASE WHEN ${isView} THEN ${dialect.positionKey} || ${holds} || ${label} END`;
  };
  const columns = [
    sql`${id} AS session, e.timestamp AS at, ${dialect.millis(sql`e.timestamp`)} AS ms`,
    sql`${flag(isView)} AS page, ${flag(sql`e.event = '$autocapture'`)} AS click, ${flag(isSeen)} AS seen`,
    sql`CASE WHEN ${isSeen} THEN ${person} END AS person`,
    ...(breakdown?.of === 'view' ? [sql`CASE WHEN ${isSeen} THEN ${dialect.label(breakdown.value)} END AS b0`] : []),
    ...(breakdown?.ratesEntries
      ? [sql`CASE WHEN ${isView} THEN ${dialect.millis(sql`e.timestamp`)} END AS view_ms`]
      : []),
    ...(hasEnds.entry ? [sql`${end('entry')} AS entry`] : []),
    ...(hasEnds.exit ? [sql`${end('exit')} AS leaving`] : []),
  ];
  // Extend the range at both ends, because sessions can start before it or end after it.
  const around = {
    projectId,
    events: null,
    where: { all: [] },
    from: from - longestSessionMs,
    to: to + longestSessionMs,
  };
  return sql`SELECT ${sql.join(columns, ', ')} ${reads} WHERE ${buildSelectionCondition(dialect, around)} AND ${id} IS NOT NULL`;
}

/**
 * Selects one row per session. With a breakdown by a page view property, selects one row per session and value, each
 * with the session's totals.
 */
function sessions(dialect: Dialect, query: WebStoreQuery): Fragment {
  const hasEnds = ends(query);
  const byValue = query.breakdown?.of === 'view';
  const rates = query.breakdown?.ratesEntries;
  const ordered = (column: Fragment) => dialect.inByteOrder(column);
  const part = sql`SELECT session, min(at) AS started, min(ms) AS first_ms, max(ms) AS last_ms, sum(page) AS pages, sum(click) AS clicks,
      sum(seen) AS views, min(${ordered(sql`person`)}) AS person
      ${byValue ? sql`, seen, b0` : sql``}${rates ? sql`, min(view_ms) AS view_ms` : sql``}
      ${hasEnds.entry ? sql`, min(${ordered(sql`entry`)}) AS entry` : sql``}
      ${hasEnds.exit ? sql`, max(${ordered(sql`leaving`)}) AS leaving` : sql``}
    FROM web_event GROUP BY session${byValue ? sql`, seen, b0` : sql``}`;
  if (!byValue) return part;
  const over = sql`OVER (PARTITION BY ${ordered(sql`session`)})`;
  return sql`SELECT b0, views, person, min(started) ${over} AS started, min(first_ms) ${over} AS first_ms, max(last_ms) ${over} AS last_ms,
      sum(pages) ${over} AS pages, sum(clicks) ${over} AS clicks
      ${rates ? sql`, view_ms, min(view_ms) ${over} AS entry_ms` : sql``}
      ${hasEnds.entry ? sql`, min(${ordered(sql`entry`)}) ${over} AS entry` : sql``}
      ${hasEnds.exit ? sql`, max(${ordered(sql`leaving`)}) ${over} AS leaving` : sql``}
    FROM (${part}) AS parts`;
}

/** Selects the matching sessions with their breakdown values. */
function visits(dialect: Dialect, query: WebStoreQuery): Fragment {
  const { select, edges, breakdown } = query;
  const hasEnds = ends(query);
  const holds = (place: Fragment) => sql`substring(${place}, ${sql.int(positionKeyLength + 1)}, 1) = '1'`;
  const label = (place: Fragment) =>
    sql`CASE WHEN substring(${place}, ${sql.int(positionKeyLength + 2)}, 1) = '1' THEN substring(${place}, ${sql.int(positionKeyLength + 3)}) END`;
  const values = { view: sql`b0`, entry: label(sql`entry`), exit: label(sql`leaving`) };
  const lasted = sql`last_ms - first_ms`;
  const isBounce = sql`pages = 1 AND clicks = 0 AND ${lasted} < ${sql.int(shortestStayMs)}`;
  // If two pages were first viewed in the same millisecond, the session counts as starting with both pages.
  const isRated = breakdown?.ratesEntries ? sql`view_ms = entry_ms` : sql`1 = 1`;
  const tests = [
    sql`views > 0 AND started >= ${sql.time(select.from)} AND started < ${sql.time(select.to)}`,
    ...(hasEnds.entry ? [holds(sql`entry`)] : []),
    ...(hasEnds.exit ? [holds(sql`leaving`)] : []),
  ];
  return sql`SELECT ${edges.length === 0 ? sql`0` : dialect.bucket(sql`started`, edges)} AS bucket,
      ${breakdown === null ? sql`NULL` : values[breakdown.of]} AS b0, person, views, ${lasted} AS lasted,
      CASE WHEN ${isBounce} AND ${isRated} THEN 1 ELSE 0 END AS bounced, CASE WHEN ${isRated} THEN 1 ELSE 0 END AS rated
    FROM sessions WHERE ${sql.join(tests, ' AND ')}`;
}

function wanted(breakdown: WebBreakdown | null): Fragment {
  if (breakdown === null) return sql``;
  const { only, hidesNull } = breakdown;
  const isSet = hidesNull ? sql`b0 IS NOT NULL` : sql`1 = 1`;
  if (only === null) return sql`WHERE ${isSet}`;
  const values = only.filter((value) => value !== null);
  const ways = [
    ...values.map((value) => sql`b0 = ${sql.text(value)}`),
    ...(only.includes(null) ? [sql`b0 IS NULL`] : []),
    sql`1 = 0`,
  ];
  return sql`WHERE ${isSet} AND (${sql.join(ways, ' OR ')})`;
}

/** Sorts the rows. Ties are sorted by value, so that the order is the same on all engines. */
function inOrder(dialect: Dialect, { order, edges }: WebStoreQuery): Fragment {
  if (edges.length > 0) return sql`bucket`;
  const direction = order.isDescending ? sql`DESC` : sql`ASC`;
  const rate = sql`CASE WHEN rated = 0 THEN NULL ELSE bounced * 1.0 / rated END`;
  const column = { visitors: sql`visitors`, views: sql`views`, bounces: rate }[order.by];
  return sql`${column} ${direction} NULLS LAST, visitors ${direction}, views ${direction}, ${dialect.inByteOrder(sql`b0`)} ASC NULLS LAST`;
}
