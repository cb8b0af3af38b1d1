// Random SQL queries over the data set of the SQL cases.

import { seededRandom } from '@millrace/testing/seeded-random';
import { aggregate, type Dice, expression, scalarKinds } from './random-sql-expressions.ts';

/** Returns a query that depends only on the seed. */
export function randomSql(seed: number): string {
  const random = seededRandom(seed);
  const below = (count: number) => Math.floor(random() * count);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  return statement({ below, pick, chance: (share) => random() < share });
}

function statement(dice: Dice): string {
  const { below, pick, chance } = dice;
  const sortable = () => pick(scalarKinds);
  const where = () => (chance(0.5) ? ` WHERE ${expression(dice, 'flag', 2)}` : '');
  const list = (count: number, make: () => string) =>
    Array.from({ length: count }, (_, at) => `${make()} AS x${at + 1}`).join(', ');
  const order = (count: number) =>
    `ORDER BY ${Array.from({ length: count }, (_, at) => `${at + 1}${pick(['', ' DESC'])}`).join(', ')}`;
  const plain = (count: number) => `SELECT ${list(count, () => expression(dice, sortable(), 2))} FROM events${where()}`;

  return pick([
    () => `${plain(2)} ${order(2)} LIMIT ${1 + below(30)}`,
    () => `${plain(3)} ${order(3)} LIMIT ${1 + below(30)} OFFSET ${below(5)}`,
    () => `SELECT ${list(1, () => expression(dice, pick(['text[]', 'int[]']), 3))} FROM events${where()} LIMIT 1000`,
    () => `SELECT ${list(3, () => aggregate(dice, 2))} FROM events${where()}`,
    () =>
      `SELECT ${expression(dice, sortable(), 2)} AS k, ${list(2, () => aggregate(dice, 2))} FROM events${where()} GROUP BY k`,
    () =>
      `SELECT ${expression(dice, sortable(), 2)} AS k, count() AS n FROM events GROUP BY k HAVING n > ${below(4)} ORDER BY n DESC, k LIMIT 5`,
    () => `SELECT DISTINCT ${list(2, () => expression(dice, sortable(), 2))} FROM events${where()} ${order(2)}`,
    () =>
      `SELECT x1, count() AS n, max(x2) AS m FROM (${plain(2)}) AS t WHERE x1 IS NOT NULL GROUP BY x1 ORDER BY n DESC, x1 LIMIT 10`,
    () =>
      `WITH t AS (${plain(2)}) SELECT a.x1, count() AS n FROM t AS a INNER JOIN t AS b ON a.x1 = b.x1 GROUP BY a.x1`,
    () => {
      const [kind, other] = [sortable(), sortable()];
      const part = () =>
        `SELECT ${expression(dice, kind, 2)} AS x1, ${expression(dice, other, 2)} AS x2 FROM events${where()}`;
      return `SELECT x1, x2, count() AS n FROM (${part()} ${pick(['UNION ALL', 'UNION DISTINCT', 'EXCEPT', 'INTERSECT'])} ${part()}) AS t GROUP BY x1, x2`;
    },
    () =>
      `SELECT uuid, ${expression(dice, sortable(), 2)} AS k FROM events ORDER BY k, uuid LIMIT ${1 + below(3)} BY k LIMIT 20`,
    () =>
      `SELECT uuid, ${pick(['row_number()', 'lag(event)', 'lead(event)', 'count()', 'sum(properties.amount)', 'max(timestamp)'])} OVER (PARTITION BY ${expression(dice, 'text', 1)} ORDER BY timestamp, uuid) AS w FROM events${where()}`,
    () => `SELECT arrayJoin(${expression(dice, 'text[]', 2)}) AS a, count() AS n FROM events${where()} GROUP BY a`,
    () =>
      `SELECT p.properties.plan AS plan, count() AS n, count(e.uuid) AS m FROM persons AS p
         LEFT JOIN (SELECT uuid, person_id FROM events${where()}) AS e ON e.person_id = p.id GROUP BY plan`,
    () =>
      `SELECT count() AS n FROM events WHERE person_id ${pick(['IN', 'NOT IN'])} (SELECT person_id FROM events${where()})`,
  ])();
}
