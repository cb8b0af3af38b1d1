// Random SQL queries on the data set of the SQL cases.

import { seededRandom } from '@millrace/testing/seeded-random';
import { columnsOf, type RandomTable, randomTables } from './random-sql-columns.ts';
import { aggregate, type Dice, expression, type Kind, scalarKinds } from './random-sql-expressions.ts';

export interface RandomSql {
  text: string;
  /** True if the query determines the order of the rows. */
  isOrdered: boolean;
}

/** Returns a query that depends only on the seed. */
export function randomSql(seed: number): RandomSql {
  const random = seededRandom(seed);
  const below = (count: number) => Math.floor(random() * count);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  const dice = { below, pick, chance: (share: number) => random() < share };
  const table = dice.chance(0.5) ? 'events' : pick(randomTables);
  const name = table.trim();
  return statement({ ...dice, columns: columnsOf({ '': table }), name });
}

interface From extends Dice {
  name: string;
}

const unordered = (text: string): RandomSql => ({ text, isOrdered: false });
const ordered = (text: string): RandomSql => ({ text, isOrdered: true });

const list = (count: number, make: () => string) =>
  Array.from({ length: count }, (_, at) => `${make()} AS x${at + 1}`).join(', ');
const scalar = (dice: Dice, depth = 2) => expression(dice, dice.pick(scalarKinds), depth);
const where = (dice: Dice) => (dice.chance(0.5) ? ` WHERE ${expression(dice, 'flag', 2)}` : '');
const order = (dice: Dice, count: number) =>
  `ORDER BY ${Array.from({ length: count }, (_, at) => `${at + 1}${dice.pick(['', ' DESC'])}`).join(', ')}`;
const plain = (from: From, count: number) =>
  `SELECT ${list(count, () => scalar(from))} FROM ${from.name}${where(from)}`;

function statement(from: From): RandomSql {
  return from.pick([
    () => ordered(`${plain(from, 2)} ${order(from, 2)} LIMIT ${1 + from.below(30)}`),
    () => ordered(`${plain(from, 3)} ${order(from, 3)} LIMIT ${1 + from.below(30)} OFFSET ${from.below(5)}`),
    () => ordered(`SELECT DISTINCT ${list(2, () => scalar(from))} FROM ${from.name}${where(from)} ${order(from, 2)}`),
    () =>
      unordered(
        `SELECT ${list(1, () => expression(from, from.pick(['text[]', 'int[]']), 3))} FROM ${from.name}${where(from)} LIMIT 1000`,
      ),
    () => aggregated(from),
    () => aggregated(from),
    () => nested(from),
    () => nested(from),
    () => joined(from),
    () => joined(from),
    () => union(from),
    () => windows(from),
    () => windows(from),
    () => limitBy(from),
    () => arrays(from),
    () => arrays(from),
    () => inQuery(from),
    () => tuples(from),
    () => clauses(from),
  ])();
}

function aggregated(from: From): RandomSql {
  const { below, pick } = from;
  return pick([
    () => unordered(`SELECT ${list(3, () => aggregate(from, 2))} FROM ${from.name}${where(from)}`),
    () =>
      unordered(
        `SELECT ${scalar(from)} AS k, ${list(2, () => aggregate(from, 2))} FROM ${from.name}${where(from)} GROUP BY k`,
      ),
    () =>
      unordered(
        `SELECT ${scalar(from, 1)} AS k, ${scalar(from, 1)} AS l, ${aggregate(from, 1)} AS x FROM ${from.name} GROUP BY 1, l`,
      ),
    () =>
      ordered(
        `SELECT ${scalar(from)} AS k, count() AS n FROM ${from.name} GROUP BY k HAVING n > ${below(4)} ORDER BY n DESC, k LIMIT 5`,
      ),
    () =>
      unordered(
        `SELECT ${scalar(from, 1)} AS k, ${aggregate(from, 1)} AS x FROM ${from.name} GROUP BY k HAVING x ${pick(['IS NULL', 'IS NOT NULL'])} OR count() > 2`,
      ),
    () =>
      unordered(
        `SELECT if(count() > ${below(20)}, toString(${aggregate(from, 1)}), 'few') AS x FROM ${from.name}${where(from)}`,
      ),
  ])();
}

function nested(from: From): RandomSql {
  const { pick } = from;
  return pick([
    () =>
      ordered(
        `SELECT x1, count() AS n, max(x2) AS m FROM (${plain(from, 2)}) AS t WHERE x1 IS NOT NULL GROUP BY x1 ORDER BY n DESC, x1 LIMIT 10`,
      ),
    () =>
      unordered(
        `WITH t AS (${plain(from, 2)}) SELECT a.x1, count() AS n FROM t AS a INNER JOIN t AS b ON a.x1 = b.x1 GROUP BY a.x1`,
      ),
    () =>
      unordered(
        `WITH t AS (${plain(from, 2)}), u AS (SELECT x1, count() AS n FROM t GROUP BY x1) SELECT n, count() AS m, min(x1) AS l FROM u GROUP BY n`,
      ),
    () =>
      unordered(
        `WITH ${pick(['3', "'a'", 'now()', "toDate('2026-03-10')"])} AS k SELECT k, ${aggregate(from, 1)} AS x FROM ${from.name}`,
      ),
    () =>
      unordered(
        `SELECT ${scalar(from, 1)} AS x1, (SELECT ${aggregate(from, 1)} FROM ${from.name}) AS x2 FROM ${from.name} LIMIT 1000`,
      ),
  ])();
}

const joins = [
  ['events', 'persons', 'a.person_id = b.id'],
  ['events', 'groups', 'a.$group_0 = b.key'],
  ['events', 'cohort_people', 'a.person_id = b.person_id'],
  ['events', 'person_distinct_ids', 'a.distinct_id = b.distinct_id'],
  ['events', 'sessions', 'a.$session_id = b.session_id'],
  ['sessions', 'person_distinct_ids', 'a.distinct_id = b.distinct_id'],
  ['persons', 'cohort_people', 'a.id = b.person_id'],
  ['persons', 'person_distinct_ids', 'a.id = b.person_id'],
  ['events', 'events', 'a.person_id = b.person_id AND a.event = b.event'],
] as const satisfies [RandomTable, RandomTable, string][];
const joinWords = ['INNER JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN'] as const;

function joined(from: From): RandomSql {
  const { pick, chance } = from;
  if (chance(0.2)) return joinedThreeTimes(from);
  if (chance(0.5)) {
    const [left, right, on] = pick(joins);
    const both: Dice = { ...from, columns: columnsOf({ a: left, b: right }) };
    const tables = `FROM ${left} AS a ${pick(joinWords)} ${right} AS b ON ${on}`;
    return pick([
      () => unordered(`SELECT ${list(2, () => scalar(both))} ${tables}${where(both)} LIMIT 5000`),
      () => unordered(`SELECT ${scalar(both)} AS k, ${aggregate(both, 1)} AS x ${tables}${where(both)} GROUP BY k`),
    ])();
  }
  const kind = pick(scalarKinds);
  const part = () =>
    `(SELECT ${expression(from, kind, 2)} AS k, ${scalar(from, 1)} AS x FROM ${from.name}${where(from)})`;
  const on = pick(['ON a.k = b.k', 'USING k']);
  return unordered(
    `SELECT a.k, count() AS n, min(a.x) AS l, max(b.x) AS m FROM ${part()} AS a ${pick(joinWords)} ${part()} AS b ${on} GROUP BY a.k`,
  );
}

function joinedThreeTimes(from: From): RandomSql {
  const { pick, below } = from;
  const all: Dice = { ...from, columns: columnsOf({ a: 'events', b: 'persons', c: 'cohort_people' }) };
  const tables = `FROM events AS a ${pick(joinWords)} persons AS b ON a.person_id = b.id ${pick(['INNER JOIN', 'LEFT JOIN'])} cohort_people AS c ON b.id = c.person_id`;
  return pick([
    () => unordered(`SELECT ${scalar(all)} AS k, ${aggregate(all, 1)} AS x ${tables}${where(all)} GROUP BY k`),
    () =>
      unordered(
        `SELECT ${list(2, () => scalar(from))}, few.n FROM ${from.name} CROSS JOIN (SELECT arrayJoin(range(${1 + below(3)})) AS n) AS few LIMIT 5000`,
      ),
  ])();
}

function union(from: From): RandomSql {
  const { pick, below, chance } = from;
  const kinds: readonly Kind[] = [pick(scalarKinds), pick(scalarKinds)];
  const other = pick(randomTables);
  const others: From = { ...from, name: other.trim(), columns: columnsOf({ '': other }) };
  const part = (one: From) =>
    `SELECT ${kinds.map((kind, at) => `${expression(one, kind, 2)} AS x${at + 1}`).join(', ')} FROM ${one.name}${where(one)}`;
  const limited = `(${part(from)} ${order(from, 2)} LIMIT ${1 + below(9)})`;
  const first = chance(0.3) ? `SELECT x1, x2 FROM ${limited} AS s` : part(from);
  return unordered(
    `SELECT x1, x2, count() AS n FROM (${first} ${pick(['UNION ALL', 'UNION DISTINCT', 'EXCEPT', 'INTERSECT'])} ${part(others)}) AS t GROUP BY x1, x2`,
  );
}

function windows(from: From): RandomSql {
  const { pick, below, chance } = from;
  const key = { events: 'uuid', sessions: 'session_id', persons: 'id', groups: 'key' }[from.name];
  if (key === undefined) return aggregated(from);
  const value = () => scalar(from, 1);
  const own = () =>
    pick([
      () => pick(['row_number()', 'rank()', 'dense_rank()']),
      () => `${pick(['lag', 'lead'])}(${value()}${pick(['', `, ${below(3)}`])})`,
      () => `${pick(['lag', 'lead'])}(${pick(from.columns.text)}, ${1 + below(2)}, 'none')`,
      () => `lagInFrame(${value()})`,
    ])();
  const framed = () =>
    pick([
      () => `${pick(['first_value', 'last_value', 'min', 'max'])}(${value()})`,
      () => `nth_value(${value()}, ${1 + below(3)})`,
      () => `${pick(['sum', 'avg', 'count'])}(${expression(from, pick(['int', 'float']), 1)})`,
      () => 'count()',
      () => `countIf(${expression(from, 'flag', 1)})`,
    ])();
  const bounds = ['UNBOUNDED PRECEDING', `${1 + below(3)} PRECEDING`, 'CURRENT ROW'];
  const frame = chance(0.5)
    ? ''
    : ` ROWS BETWEEN ${pick(bounds)} AND ${pick(['CURRENT ROW', '1 FOLLOWING', 'UNBOUNDED FOLLOWING'])}`;
  const partition = chance(0.7) ? `PARTITION BY ${scalar(from, 1)} ` : '';
  const over = `${partition}ORDER BY ${scalar(from, 1)}${pick(['', ' DESC'])}, ${key}`;
  const named = chance(0.2);
  const call = chance(0.5) ? own() : framed();
  const isFramed = !/^(row_number|rank|dense_rank|lag|lead)/.test(call);
  const clause = `${over}${isFramed ? frame : ''}`;
  return unordered(
    `SELECT ${key}, ${call} OVER ${named ? 'w' : `(${clause})`} AS x FROM ${from.name}${where(from)}${named ? ` WINDOW w AS (${clause})` : ''} LIMIT 1000`,
  );
}

function limitBy(from: From): RandomSql {
  const { below, pick } = from;
  const offset = pick(['', '', ' OFFSET 1']);
  return ordered(
    `SELECT ${list(2, () => scalar(from))} FROM ${from.name}${where(from)} ${order(from, 2)} LIMIT ${1 + below(3)}${offset} BY x1 LIMIT 20`,
  );
}

function arrays(from: From): RandomSql {
  const { pick, chance } = from;
  const items = () => expression(from, pick(['text[]', 'int[]']), 2);
  return pick([
    () => unordered(`SELECT arrayJoin(${items()}) AS a, count() AS n FROM ${from.name}${where(from)} GROUP BY a`),
    () =>
      unordered(
        `SELECT a, ${aggregate(from, 1)} AS x FROM ${from.name} ${pick(['', 'LEFT '])}ARRAY JOIN ${items()} AS a${where(from)} GROUP BY a`,
      ),
    () =>
      unordered(
        `SELECT k, groupArray${pick(['', '(3)'])}(x) AS a, ${pick(['uniq(x)', 'argMax(x, x)', 'groupUniqArray(x)'])} AS b FROM (SELECT ${expression(from, 'text', 1)} AS k, ${expression(from, 'text', 1)} AS x FROM ${from.name} ORDER BY x DESC, k) GROUP BY k`,
      ),
    () => {
      const lists = `arraySort(groupArray${chance(0.3) ? '(DISTINCT ' : '('}${expression(from, 'text', 1)}))`;
      return unordered(
        `SELECT ${scalar(from, 1)} AS k, ${pick([`${lists}[1]`, `arrayStringConcat(${lists}, '-')`, `length(${lists})`, `arrayMap(x -> upper(x), ${lists})`])} AS x FROM ${from.name} GROUP BY k`,
      );
    },
  ])();
}

function inQuery(from: From): RandomSql {
  const { pick } = from;
  const kinds = [pick(scalarKinds), pick(scalarKinds)];
  const values = (one: readonly Kind[]) => one.map((kind) => expression(from, kind, 1)).join(', ');
  const subquery = (one: readonly Kind[]) => `SELECT ${values(one)} FROM ${from.name}${where(from)}`;
  const one = kinds.slice(0, 1);
  return unordered(
    pick([
      () =>
        `SELECT count() AS n FROM ${from.name} WHERE (${values(kinds)}) ${pick(['IN', 'NOT IN'])} (${subquery(kinds)})`,
      () => `SELECT count() AS n FROM ${from.name} WHERE ${values(one)} ${pick(['IN', 'NOT IN'])} (${subquery(one)})`,
    ])(),
  );
}

function tuples(from: From): RandomSql {
  const { pick } = from;
  const tuple = () => `(${scalar(from, 1)}, ${scalar(from, 1)})`;
  return pick([
    () => unordered(`SELECT ${tuple()} AS t, t.1 AS x, count() AS n FROM ${from.name}${where(from)} GROUP BY t`),
    () => unordered(`SELECT t.2 AS x, max(t.1) AS m FROM (SELECT ${tuple()} AS t FROM ${from.name}) AS s GROUP BY x`),
    () =>
      unordered(
        `SELECT ${scalar(from, 1)} AS k, arrayMap(pair -> pair.1, arraySort(groupArray(tuple(${expression(from, 'text', 1)}, 1)))) AS x FROM ${from.name} GROUP BY k`,
      ),
  ])();
}

/** Returns a query with a rare clause, such as SAMPLE or PREWHERE. */
function clauses(from: From): RandomSql {
  const { pick } = from;
  const filters = { events: 'timestamp', sessions: '$start_timestamp', groups: 'created_at' };
  const filtered = from.name in filters ? '{filters}' : '{none} IS NULL';
  return pick([
    () => unordered(`SELECT ${scalar(from, 1)} AS k, ${aggregate(from, 1)} AS x FROM ${from.name} SAMPLE 1 GROUP BY k`),
    () => ordered(`${plain({ ...from, chance: () => false }, 2)} PREWHERE ${filtered} ${order(from, 2)} LIMIT 20`),
    () =>
      unordered(
        `SELECT ${scalar(from, 1)} AS k, count() AS n FROM ${from.name} WHERE ${filtered} AND ${expression(from, 'flag', 2)} GROUP BY k`,
      ),
    () => unordered(`${plain(from, 1)} LIMIT 1000 UNION ALL SELECT NULL AS x1`),
  ])();
}
