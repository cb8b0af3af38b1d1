// Walks through funnels in ClickHouse, with the rules of `results/funnel-walk.ts`. Each row contains an actor's events
// in order. For each step and event, array functions compute which attempt had reached the step after the event.
//
// Array columns with one element per event, where k is the number of a step, from 1:
//   times, marks, places   the event's time (from 1), the steps and exclusions that it matches, its position from 1
//   s<k>, p<k>             after (s) or before (p) the event: start time of the latest attempt at step k, or 0
//   r<k>                   position of the event with which that attempt reached step k
//   g<k>                   position of the latest event that excludes an attempt at step k
// Number columns: c<k> is the position at which the best attempt reached step k if no attempt got further, and t<k> is
// when the best attempt reached step k.

import { buildBreakdownColumns } from '../conditions.ts';
import type { Dialect, FunnelSql } from '../dialect.ts';
import { buildRelevantEventsSql, buildStepEventCondition } from '../funnel.ts';
import { type Fragment, sql } from '../sql.ts';
import type { FunnelPage, WalkedFunnel } from '../walked-funnel.ts';

/**
 * Number of low bits that represent the steps and exclusions that an event matches. The high bits contain the event's
 * time.
 */
const markBits = 16;
/** The number of bits that order simultaneous events. */
const rankBits = 5;

/**
 * Builds the SQL of a funnel. Returns null for funnels with optional steps or with steps in any order, because the API
 * itself walks through their events.
 */
export function buildFunnelWalkSql(dialect: Dialect, plan: WalkedFunnel): FunnelSql | null {
  const { order, optional, storeQuery } = plan;
  if (order === 'unordered' || optional.length > 0) return null;
  if (storeQuery.steps.length + storeQuery.exclusions.length > markBits) return null;
  const totals = { steps: buildStepsSql, time_to_convert: buildTimesSql, trends: buildTrendsSql }[plan.shows];
  return { totals: totals(dialect, plan), actors: (page) => buildActorsSql(dialect, plan, page) };
}

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at + 1);
const list = (pieces: readonly Fragment[]) => sql.join(pieces, ', ');
const shifted = (array: Fragment) => sql`arrayPopBack(arrayPushFront(${array}, 0))`;
const hasStep = (k: number) => sql`bitTest(m, ${sql.literal(k - 1)})`;

/**
 * Selects how many actors reached each step. The columns are: whether the row combines all breakdown values beyond the
 * limit, the breakdown values, the number of actors at each step, and the average and median milliseconds from each
 * step to the next.
 */
function buildStepsSql(dialect: Dialect, plan: WalkedFunnel): Fragment {
  const steps = numbers(plan.storeQuery.steps.length);
  const later = steps.slice(1);
  const [count, spans] = [(k: number) => sql.numbered('c', k), (k: number) => sql.numbered('d', k)];
  const counted = steps.map((k) => sql`countIf(reached >= ${sql.literal(k)}) AS ${count(k)}`);
  const collected = later.map((k) => {
    const span = sql`${sql.numbered('t', k)} - ${sql.numbered('t', k - 1)}`;
    return sql`groupArrayIf(${span}, reached >= ${sql.literal(k)} AND ${span} > 0) AS ${spans(k)}`;
  });
  const byValue = sql`SELECT value, ${list([...counted, ...collected])} FROM (${walked(dialect, plan)}) GROUP BY value`;
  return sql`SELECT isOther, shown, ${list([
    ...steps.map((k) => sql`sum(${count(k)})`),
    ...later.map((k) => sql`avgArray(${spans(k)})`),
    ...later.map((k) => sql`quantileExactInclusiveArray(0.5)(${spans(k)})`),
  ])}
    FROM (${ranked(plan, sql`SELECT *, row_number() OVER (ORDER BY c1 DESC, arrayStringConcat(value, char(0))) AS rank FROM (${byValue})`)})
   GROUP BY isOther, shown`;
}

/**
 * Selects a single row: the shortest conversion time in seconds, the width of a bin in seconds, the average conversion
 * time in milliseconds, and the number of actors in each bin. `bins` is the number of bins.
 */
function buildTimesSql(dialect: Dialect, plan: WalkedFunnel): Fragment {
  const { fromStep, toStep, binCount } = plan;
  const span = sql`${sql.numbered('t', toStep + 1)} - ${sql.numbered('t', fromStep + 1)}`;
  const bins =
    binCount === null ? sql`least(60, greatest(1, ceil(cbrt(length(spans)))))` : sql`${sql.literal(binCount)}`;
  return sql`SELECT low, width, average, arrayMap(bin -> countEqual(filled, bin), range(toUInt32(bins + 1)))
    FROM (SELECT *, arrayMap(span -> intDiv(intDiv(span, 1000) - low, width), spans) AS filled
      FROM (SELECT *, if(high > low, toInt64(ceil((high - low) / bins)), 60) AS width
        FROM (SELECT spans, ${bins} AS bins, arrayAvg(spans) AS average, intDiv(arrayMin(spans), 1000) AS low,
                     toInt64(ceil(arrayMax(spans) / 1000)) AS high
                FROM (SELECT groupArray(${span}) AS spans FROM (${walked(dialect, plan)})
                       WHERE reached > ${sql.literal(toStep)}) WHERE notEmpty(spans))))`;
}

/**
 * For each breakdown value and interval, selects how many actors entered the funnel in the interval, and how many of
 * them converted.
 */
function buildTrendsSql(dialect: Dialect, plan: WalkedFunnel): Fragment {
  const counted = sql`SELECT value, bucket, count() AS entered, countIf(reached > ${sql.literal(plan.toStep)}) AS converted
    FROM (${walked(dialect, plan, { byInterval: true })}) WHERE reached > ${sql.literal(plan.fromStep)} GROUP BY value, bucket`;
  const inOrder = sql`SELECT *, dense_rank() OVER (ORDER BY total DESC, arrayStringConcat(value, char(0))) AS rank
    FROM (SELECT *, sum(entered) OVER (PARTITION BY value) AS total FROM (${counted}))`;
  return sql`SELECT isOther, shown, bucket, sum(entered), sum(converted) FROM (${ranked(plan, inOrder)})
    GROUP BY isOther, shown, bucket`;
}

/** Selects a page of the actors that a number in the funnel's result counts, with each actor's event count. */
function buildActorsSql(dialect: Dialect, plan: WalkedFunnel, { point, order, limit, offset }: FunnelPage): Fragment {
  const { entrance, reached, values } = point;
  const atLeast = (step: number) => sql`reached >= ${sql.literal(step)}`;
  const conditions = [
    ...(values === null ? [] : [sql`value = ${sql.texts(values)}`]),
    ...(entrance !== null
      ? [
          sql`bucket = ${sql.literal(entrance.bucket)}`,
          atLeast(plan.fromStep + 1),
          entrance.isConverted ? atLeast(plan.toStep + 1) : sql`NOT ${atLeast(plan.toStep + 1)}`,
        ]
      : 'furthest' in reached
        ? [sql`has(${sql.ints(reached.furthest)}, reached)`]
        : [atLeast(reached.step), ...(reached.butNot === null ? [] : [sql`NOT ${atLeast(reached.butNot)}`])]),
  ];
  const id = dialect.uuidText(sql`actor`);
  const inOrder = order.map(({ by, isDescending }) => {
    const column = by === 'events' ? sql`number` : id;
    return isDescending ? sql`${column} DESC` : column;
  });
  return sql`SELECT actor, max(events) AS number FROM (${walked(dialect, plan, { byInterval: entrance !== null, isListed: true })})
    WHERE ${sql.join(conditions, ' AND ')} GROUP BY actor
    ORDER BY ${list([...inOrder, id])} LIMIT ${sql.int(limit)} OFFSET ${sql.int(offset)}`;
}

/** Combines the breakdown values whose `rank` exceeds the limit. */
function ranked({ storeQuery, breakdown: { limit, hidesOther } }: WalkedFunnel, rows: Fragment): Fragment {
  const beyond = storeQuery.breakdowns.length === 0 ? sql`false` : sql`rank > ${sql.literal(limit)}`;
  return sql`SELECT *, ${beyond} AS isOther, if(isOther, [], value) AS shown FROM (${rows})
    ${hidesOther ? sql`WHERE NOT isOther` : sql``}`;
}

interface Walking {
  /**
   * Whether to walk through the funnel separately for each interval in which the actor takes the first step. In each
   * walk, only first steps in that interval start an attempt.
   */
  byInterval?: boolean;
  /** Whether to list the actors by ID instead of only counting them. */
  isListed?: boolean;
}

/** Selects `actor`, `events` (a number), `value` (the breakdown values), `bucket`, `reached` and `t<k>`. */
function walked(dialect: Dialect, plan: WalkedFunnel, walking: Walking = {}): Fragment {
  const { byInterval = false } = walking;
  const steps = byInterval ? plan.toStep + 1 : plan.storeQuery.steps.length;
  let rows = inOrder(plan, partsOf(dialect, plan, walking));
  for (const k of numbers(steps)) rows = sql`SELECT *, ${step(plan, k, steps)} FROM (${rows})`;
  const column = (name: 'a' | 'c' | 'r' | 's' | 't', k: number) => sql.numbered(name, k);
  const furthest = numbers(steps).reverse();
  const didReach = (k: number) =>
    plan.exclusions.length === 0 ? sql`${column('c', k)} > 0` : sql`arrayExists(s -> s > 0, ${column('s', k)})`;
  const reached = sql`multiIf(${list(furthest.map((k) => sql`${didReach(k)}, if(${column('c', k)} > 0, ${sql.literal(k)}, 0)`))}, 0)`;
  // Trace the attempt back from its last step. It reached each earlier step with the latest matching event before the
  // next step.
  const positions = furthest.map((k) => {
    const last = sql`if(reached = ${sql.literal(k)}, ${column('c', k)}, 0)`;
    const earlier = sql`${column('r', k)}[${column('a', k + 1)} - 1]`;
    const position = k === steps ? last : sql`if(reached > ${sql.literal(k)}, ${earlier}, ${last})`;
    return sql`${position} AS ${column('a', k)}, times[${column('a', k)}] AS ${column('t', k)}`;
  });
  return sql`SELECT actor, events, value, bucket, reached, ${list(positions)} FROM (SELECT *, ${reached} AS reached FROM (${rows})) WHERE reached > 0`;
}

function step({ order, windowMs, exclusions, storeQuery }: WalkedFunnel, k: number, steps: number): Fragment {
  const column = (name: 's' | 'p' | 'r' | 'g' | 'c', at = k) => sql.numbered(name, at);
  const isWithin = (time: Fragment) => sql`${time} - s <= ${sql.literal(windowMs)}`;
  const excludes = (at: number) => {
    const marks = exclusions.map(({ from, to }, one) =>
      from < at && at <= to ? 2 ** (storeQuery.steps.length + one) : 0,
    );
    return marks.reduce((sum, mark) => sum + mark, 0);
  };
  // In a strict funnel, an event that does not match step k ends the attempts that have reached step k.
  const unchanged = order === 'strict' ? sql`if(${hasStep(k)}, -1, 0)` : sql`-1`;
  const starts =
    k === 1
      ? sql`arrayMap((t, m) -> if(${hasStep(1)}, t, ${unchanged}), times, marks)`
      : excludes(k - 1) === 0
        ? sql`arrayMap((t, m, s) -> if(${hasStep(k)} AND s > 0 AND ${isWithin(sql`t`)}, s, ${unchanged}), times, marks, ${column('p', k - 1)})`
        : sql`arrayMap((t, m, s, g, r) -> if(${hasStep(k)} AND s > 0 AND ${isWithin(sql`t`)} AND g <= r, s, ${unchanged}),
                times, marks, ${column('p', k - 1)}, ${column('g', k - 1)}, ${shifted(column('r', k - 1))})`;
  // Each event that matches the first step starts an attempt. An attempt reaches each later step only once.
  const isReached = k === 1 ? hasStep(1) : sql`s > 0 AND s != p`;
  const columns = [
    sql`arrayFill(s -> s >= 0, ${starts}) AS ${column('s')}`,
    sql`${shifted(column('s'))} AS ${column('p')}`,
    sql`arrayFill(r -> r > 0, arrayMap((place, m, s, p) -> if(${isReached}, place, 0), places, marks, ${column('s')}, ${column('p')})) AS ${column('r')}`,
  ];
  const mark = sql.literal(excludes(k));
  if (excludes(k) === 0 || k === steps) {
    columns.push(sql`arrayFirstIndex(s -> s > 0, ${column('s')}) AS ${column('c')}`);
  } else {
    const isExclusion = sql`bitAnd(m, ${mark}) != 0`;
    const next = sql`arrayReverseFill(t -> t > 0, arrayMap((t, m, p) -> if(${isExclusion} AND p > 0, t, 0), times, marks, ${column('p')}))`;
    columns.push(
      sql`arrayFill(g -> g > 0, arrayMap((place, m) -> if(${isExclusion}, place, 0), places, marks)) AS ${column('g')}`,
      // The best attempt is the first one that no exclusion ends.
      sql`arrayFirstIndex((m, s, p, x) -> ${isReached} AND NOT (x > 0 AND ${isWithin(sql`x`)}),
            marks, ${column('s')}, ${column('p')}, arrayPushBack(arrayPopFront(${next}), 0)) AS ${column('c')}`,
    );
  }
  return list(columns);
}

/** Selects an actor's events in order, separately for each breakdown value. */
function inOrder({ order, storeQuery: { steps } }: WalkedFunnel, parts: Fragment): Fragment {
  const m = sql`bitAnd(key, ${sql.literal(2 ** markBits - 1)})`;
  // Among simultaneous events, exclusions come first, then events that match nothing, and then the steps in their
  // order.
  const rank = sql`multiIf(m >= ${sql.literal(2 ** steps.length)}, 0, m = 0, 1, bitCount(bitXor(m, m - 1)) + 1)`;
  const ranks = sql`(key, m) -> bitShiftLeft(bitShiftRight(key, ${sql.literal(markBits)}), ${sql.literal(markBits + rankBits)})
    + bitShiftLeft(toUInt64(${rank}), ${sql.literal(markBits)}) + m`;
  // Events that do not match a step matter only in a strict funnel.
  const relevant = order === 'strict' ? sql`keys` : sql`arrayFilter(key -> ${m} != 0, keys)`;
  return sql`SELECT actor, events, bucket, value, arrayEnumerate(sorted) AS places,
      arrayMap(key -> toInt64(bitShiftRight(key, ${sql.literal(markBits + rankBits)})) + 1, sorted) AS times,
      arrayMap(key -> ${m}, sorted) AS marks
    FROM (SELECT *, arraySort(arrayMap(${ranks}, used, arrayMap(key -> ${m}, used))) AS sorted
            FROM (SELECT *, ${relevant} AS used FROM (${parts})))`;
}

/**
 * Selects `actor`, `events`, `bucket`, `value` (the breakdown values), and `keys`, the actor's events that have these
 * values.
 */
function partsOf(dialect: Dialect, plan: WalkedFunnel, walking: Walking): Fragment {
  const { attribution, storeQuery } = plan;
  const own = ownEvents(dialect, plan, walking);
  const first = sql.literal(1);
  const [key, withKey] =
    storeQuery.breakdowns.length === 0
      ? [sql`event`, (changed: Fragment) => changed]
      : [sql`event.3`, (changed: Fragment) => sql`(event.1, event.2, ${changed}, event.4)`];
  const without = (mark: Fragment) => withKey(sql`bitXor(${key}, bitAnd(${key}, ${mark}))`);
  const edges = plan.period.edges.map((edge) => edge - storeQuery.select.from);
  const interval = sql`arrayCount(edge -> edge <= toInt64(bitShiftRight(${key}, ${sql.literal(markBits)})), ${sql.times(edges)}) - 1`;
  const isFirst = sql`bitTest(${key}, 0)`;
  const attempts = !walking.byInterval
    ? sql`SELECT *, 0 AS bucket, own AS chosen FROM (${own})`
    : sql`SELECT *, arrayMap(event -> if(${isFirst} AND ${interval} != bucket, ${without(first)}, event), own) AS chosen
            FROM (SELECT *, arrayJoin(arrayDistinct(arrayMap(event -> ${interval}, arrayFilter(event -> ${isFirst}, own)))) AS bucket FROM (${own}))`;
  if (storeQuery.breakdowns.length === 0)
    return sql`SELECT actor, events, bucket, CAST([], 'Array(String)') AS value, chosen AS keys FROM (${attempts})`;
  const marks = sql`bitAnd(event.3, ${sql.literal(2 ** markBits - 1)})`;
  const keys = sql`arrayMap(event -> event.3, chosen)`;
  const values = (some: Fragment) => sql`arrayDistinct(arrayMap(event -> event.4, ${some}))`;
  const parts = (): Fragment => {
    switch (attribution.by) {
      case 'first_touch':
      case 'last_touch': {
        const touches = sql`arrayFilter(event -> ${marks} != 0 AND arrayExists(one -> one != '', event.4), chosen)`;
        const place = attribution.by === 'first_touch' ? first : sql.literal(-1);
        const none = sql`arrayMap(one -> '', range(${sql.literal(storeQuery.breakdowns.length)}))`;
        return sql`[(if(empty(${touches}), ${none}, ${touches}[${place}].4), ${keys})]`;
      }
      case 'all_events':
        return sql`arrayMap(one -> (one, arrayMap(event -> event.3, arrayFilter(event -> event.4 = one, chosen))), ${values(sql`chosen`)})`;
      case 'step': {
        const mark = sql.literal(2 ** attribution.step);
        const steps = sql`arrayFilter(event -> bitAnd(event.3, ${mark}) != 0, chosen)`;
        return sql`arrayMap(one -> (one, arrayMap(event -> if(event.4 = one, event.3, bitXor(event.3, bitAnd(event.3, ${mark}))), chosen)), ${values(steps)})`;
      }
      default:
        return attribution satisfies never;
    }
  };
  return sql`SELECT actor, events, bucket, part.1 AS value, part.2 AS keys
    FROM (SELECT actor, events, bucket, arrayJoin(${parts()}) AS part FROM (${attempts}))`;
}

/**
 * Selects each actor that took the first step, the number of its events, and the events themselves. An event is a
 * number that combines the milliseconds since the start of the range with the steps and exclusions that it matches.
 * With a breakdown, an event is a tuple of the time, the ID, this number and the breakdown values.
 */
function ownEvents(dialect: Dialect, plan: WalkedFunnel, { byInterval, isListed }: Walking): Fragment {
  const { storeQuery, order } = plan;
  const { select, actorType, steps, exclusions, breakdowns, second } = storeQuery;
  const actor = isListed ? dialect.actorId(actorType) : dialect.actorKey(actorType);
  const { columns, names } = buildBreakdownColumns(dialect, breakdowns);
  const marks = [...steps, ...exclusions].map(
    (one, at) => sql`if(${buildStepEventCondition(dialect, one, { at, select })}, ${sql.literal(2 ** at)}, 0)`,
  );
  const key = sql`toUInt64(at - ${sql.literal(select.from)}) * ${sql.literal(2 ** markBits)} + marks`;
  const isRelevant = order === 'strict' ? sql`true` : sql`marks > 0`;
  const values = names.map((name) => sql`coalesce(${name}, '')`);
  const own =
    names.length === 0
      ? sql`groupArrayIf(${key}, ${isRelevant})`
      : sql`arraySort(groupArrayIf((at, UUIDStringToNum(uuid), ${key}, [${list(values)}]), ${isRelevant}))`;
  const mayGetFurther = (second ?? []).reduce((sum, at) => sum + 2 ** at, 0);
  // Most actors do not get past the first step. If only their number matters, do not read their events.
  const isShort = names.length === 0 && exclusions.length === 0 && !byInterval;
  const events = isShort ? sql`if(max(bitAnd(marks, ${sql.literal(mayGetFurther)})) > 0, ${own}, [toUInt64(1)])` : own;
  const uuid = names.length === 0 ? sql`` : sql`, ${dialect.uuidText(sql`e.uuid`)} AS uuid`;
  return sql`SELECT actor, count() AS events, ${events} AS own
    FROM (${buildRelevantEventsSql(dialect, storeQuery, { actor, columns: sql`${sql.join(marks, ' + ')} AS marks${uuid}${columns}` })}) AS marked
   GROUP BY actor HAVING max(bitAnd(marks, 1)) > 0 ${dialect.settingsOfGroups}`;
}
