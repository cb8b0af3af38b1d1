// Sessions of a website, from their page views and from all that happened in them: one text.

import { condition, fromEvents, selected } from './conditions.ts';
import type { Dialect } from './dialect.ts';
import { type Engine, readRows, textOrNull } from './engine.ts';
import { type Budget, type Condition, pageViews, type WebBreakdown, type WebQuestion, type WebRow } from './port.ts';
import { longestSessionMs } from './series.ts';
import { type Fragment, sql } from './sql.ts';

export async function readWeb(engine: Engine, question: WebQuestion, run: Budget): Promise<WebRow[]> {
  // The range ends before it begins.
  if (question.select.from >= question.select.to) return [];
  const read = ([value, ...numbers]: unknown[]): WebRow => {
    const [bucket = 0, visitors = 0, views = 0, sessions = 0, seconds = 0, ...rest] = numbers.map(Number);
    const [bounced = 0, rated = 0, total = 0] = rest;
    return { value: textOrNull(value), bucket, visitors, views, sessions, seconds, bounced, rated, total };
  };
  return readRows(engine, { text: webText(engine.dialect, question), run, read });
}

/** A session that is shorter, has one page view and no autocaptured event is a bounce. */
const shortestStayMs = 10_000;

/**
 * Rows of value, bucket, visitors, views, sessions, seconds, bounced, rated and total.
 *
 * `views` are the selected page views of each session and value. `sessions` says of all sessions around when they began, how long
 * they lasted and whether they bounced, whatever is selected of them. A session is counted in the time in which it began. All its views
 * count for one person, so that visitors are never more than sessions.
 */
function webText(dialect: Dialect, question: WebQuestion): Fragment {
  const { edges, breakdown, limit, offset } = question;
  const bucket = edges.length === 0 ? sql`0` : dialect.bucket(sql`s.started`, edges);
  const value = breakdown === null ? sql`NULL` : { view: sql`v.b0`, entry: sql`f.b0`, exit: sql`l.b0` }[breakdown.of];
  const hasEntries = breakdown?.of === 'entry' || breakdown?.ratesEntries || !isAll(question.entry);
  const hasExits = breakdown?.of === 'exit' || !isAll(question.exit);
  const entered = breakdown?.ratesEntries ? sql`, entered AS (${bouncesOfEntries()})` : sql``;
  return sql`WITH views AS (${views(dialect, question)}), sessions AS (${sessions(dialect, question)})
    ${hasEntries ? sql`, entries AS (${outermost(dialect, question, 'entry')})` : sql``}
    ${hasExits ? sql`, exits AS (${outermost(dialect, question, 'exit')})` : sql``}
    ${entered},
    visits AS (
      SELECT ${bucket} AS bucket, ${value} AS b0, v.person, v.views, s.lasted, s.bounced
        FROM views v JOIN sessions s ON s.session = v.session
        ${hasEntries ? sql`JOIN entries f ON f.session = v.session` : sql``}
        ${hasExits ? sql`JOIN exits l ON l.session = v.session` : sql``}),
    persons AS (
      SELECT bucket, b0, person, sum(views) AS views, count(*) AS sessions, sum(lasted) AS lasted, sum(bounced) AS bounced
        FROM visits ${wanted(breakdown)} GROUP BY bucket, b0, person),
    numbers AS (
      SELECT bucket, b0, count(*) AS visitors, sum(views) AS views, sum(sessions) AS sessions, sum(lasted) AS lasted,
             sum(bounced) AS bounced
        FROM persons GROUP BY bucket, b0),
    rated AS (${rated(breakdown)})
    SELECT b0, bucket, visitors, views, sessions, lasted / 1000.0, bounced, rated,
           sum(${question.order.by === 'views' ? sql`views` : sql`visitors`}) OVER () AS total
      FROM rated ORDER BY ${inOrder(dialect, question)} LIMIT ${sql.int(limit)} OFFSET ${sql.int(offset)}`;

  function bouncesOfEntries(): Fragment {
    return sql`SELECT f.b0 AS b0, count(*) AS rated, sum(s.bounced) AS bounced
      FROM sessions s JOIN entries f ON f.session = s.session ${hasExits ? sql`JOIN exits l ON l.session = s.session` : sql``}
     WHERE s.session IN (SELECT session FROM views) GROUP BY f.b0`;
  }
}

/** Selected page views of each session, of each value where they have one of their own. */
function views(dialect: Dialect, { select, breakdown }: WebQuestion): Fragment {
  const id = dialect.unit({ of: 'session' });
  const label = breakdown?.of === 'view' ? dialect.label(breakdown.value) : sql`NULL`;
  const person = dialect.text({ of: 'column', key: 'person_id' });
  const from = fromEvents(dialect, {
    projectId: select.projectId,
    units: [{ of: 'person' }],
    conditions: [select.where],
    properties: breakdown?.of === 'view' ? [breakdown.value.property] : [],
  });
  return sql`SELECT session, b0, min(${dialect.inByteOrder(sql`person`)}) AS person, count(*) AS views
    FROM (SELECT ${id} AS session, ${label} AS b0, ${person} AS person ${from}
           WHERE ${selected(dialect, select)} AND ${id} IS NOT NULL) AS seen
   GROUP BY session, b0`;
}

/** All sessions that began in the selected time. */
function sessions(dialect: Dialect, { select }: WebQuestion): Fragment {
  const { projectId, from, to } = select;
  const id = dialect.unit({ of: 'session' });
  const time = dialect.millis(sql`e.timestamp`);
  const lasted = sql`max(${time}) - min(${time})`;
  const count = (isIt: Fragment) => sql`sum(CASE WHEN ${isIt} THEN 1 ELSE 0 END)`;
  const isBounce = sql`${count(isPageView)} = 1 AND ${count(sql`e.event = '$autocapture'`)} = 0 AND ${lasted} < ${sql.int(shortestStayMs)}`;
  return sql`SELECT ${id} AS session, min(e.timestamp) AS started, ${lasted} AS lasted, CASE WHEN ${isBounce} THEN 1 ELSE 0 END AS bounced
      ${fromEvents(dialect, { projectId })}
     WHERE ${selected(dialect, { ...around(select), events: null })} AND ${id} IS NOT NULL
     GROUP BY 1 HAVING min(e.timestamp) >= ${sql.time(from)} AND min(e.timestamp) < ${sql.time(to)}`;
}

const isPageView = sql`e.event IN (${sql.join(
  pageViews.map((name) => sql`${sql.text(name)}`),
  ', ',
)})`;

/** Sessions that began before or go on behind the selected time are found whole. */
const around = ({ projectId, from, to }: WebQuestion['select']) => ({
  projectId,
  events: [...pageViews],
  from: from - longestSessionMs,
  to: to + longestSessionMs,
  where: { all: [] },
});

const isAll = (one: Condition) => 'all' in one && one.all.length === 0;

/** The first or the last page view of each session, if it meets its condition: rows of session and value. */
function outermost(dialect: Dialect, question: WebQuestion, which: 'entry' | 'exit'): Fragment {
  const { select, breakdown } = question;
  const { projectId } = select;
  const where = question[which];
  const hasValue = breakdown?.of === which || (which === 'entry' && breakdown?.ratesEntries);
  const label = hasValue && breakdown ? dialect.label(breakdown.value) : sql`NULL`;
  const id = dialect.unit({ of: 'session' });
  const from = fromEvents(dialect, {
    projectId,
    conditions: [where],
    properties: hasValue && breakdown ? [breakdown.value.property] : [],
  });
  const direction = which === 'entry' ? sql`ASC` : sql`DESC`;
  return sql`SELECT session, b0 FROM (
      SELECT session, b0, holds, row_number() OVER (PARTITION BY session ORDER BY at ${direction}, id ${direction}) AS place
        FROM (SELECT ${id} AS session, ${label} AS b0, e.timestamp AS at, ${dialect.uuidText(sql`e.uuid`)} AS id,
                     CASE WHEN ${condition(dialect, where, projectId)} THEN 1 ELSE 0 END AS holds ${from}
               WHERE ${selected(dialect, around(select))} AND ${id} IS NOT NULL) AS seen) AS placed
     WHERE place = 1 AND holds = 1`;
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

/** The numbers with the sessions that the bounce rate is of. */
function rated(breakdown: WebBreakdown | null): Fragment {
  const own = sql`n.b0, n.bucket, n.visitors, n.views, n.sessions, n.lasted`;
  if (!breakdown?.ratesEntries) return sql`SELECT ${own}, n.bounced, n.sessions AS rated FROM numbers n`;
  return sql`SELECT ${own}, coalesce(t.bounced, 0) AS bounced, coalesce(t.rated, 0) AS rated
               FROM numbers n LEFT JOIN entered t ON t.b0 = n.b0`;
}

/** Equal rows come in the order of their values: so they are alike on all engines. */
function inOrder(dialect: Dialect, { order, edges }: WebQuestion): Fragment {
  if (edges.length > 0) return sql`bucket`;
  const direction = order.isDescending ? sql`DESC` : sql`ASC`;
  const rate = sql`CASE WHEN rated = 0 THEN NULL ELSE bounced * 1.0 / rated END`;
  const column = { visitors: sql`visitors`, views: sql`views`, bounces: rate }[order.by];
  return sql`${column} ${direction} NULLS LAST, visitors ${direction}, views ${direction}, ${dialect.inByteOrder(sql`b0`)} ASC NULLS LAST`;
}
