// Runs event queries in PostgreSQL, and renders SQL text with numbered parameters.

import { ReadLimitExceeded, type ReadPool, type Sql, unpreparedPrefix } from '@millrace/db';
import { buildCondition } from '../conditions.ts';
import type { Engine } from '../engine.ts';
import { OverBudget } from '../port.ts';
import type { Condition } from '../selection.ts';
import { type Fragment, renderFragment, type Value, type ValueType } from '../sql.ts';
import { postgresDialect } from './dialect.ts';

const types: Record<ValueType, string> = {
  text: 'text',
  texts: 'text[]',
  int: 'int',
  ints: 'int[]',
  long: 'int8',
  float: 'float8',
  floats: 'float8[]',
  time: 'timestamptz',
  times: 'timestamptz[]',
  date: 'date',
  uuid: 'uuid',
  uuids: 'uuid[]',
};

export function createPostgresEngine(reader: Pick<ReadPool, 'read'>): Engine {
  return {
    dialect: postgresDialect,
    async read(query, run, each) {
      const { text, values } = renderPostgresStatement(query);
      try {
        await reader.read(text, values, run, each);
      } catch (error) {
        throw error instanceof ReadLimitExceeded ? new OverBudget(error.limit, { cause: error }) : error;
      }
    },
  };
}

/** SQLSTATE of a statement that was canceled, for example because it exceeded its time limit. */
const queryCanceled = '57014';

/**
 * Runs queries in PostgreSQL on connections that have their own time limit, so a query's budget does not apply. The
 * columns of a query must have distinct names.
 * @param isRepeated whether only a few different statements are used, so that the server can prepare them
 */
export function createSqlEngine(sql: Sql, { isRepeated }: { isRepeated: boolean }): Engine {
  return {
    dialect: postgresDialect,
    async read(query, _run, each) {
      const { text, values } = renderPostgresStatement(query);
      const rows = await sql.query(isRepeated ? text : unpreparedPrefix + text, values).catch((error: unknown) => {
        const { code } = error as { code?: unknown };
        throw code === queryCanceled ? new OverBudget('time', { cause: error }) : error;
      });
      for (const row of rows) each(Object.values(row));
    },
  };
}

/**
 * Generates the SQL of a condition on persons for use in another statement: a FROM clause that reads the project's
 * persons as `p`, and a WHERE condition.
 * @param parameter a function that registers a value and returns its placeholder
 */
export function printPersonCondition(
  { projectId, where }: { projectId: number; where: Condition },
  parameter: (value: unknown) => string,
): { from: string; condition: string } {
  const print = (fragment: Fragment) =>
    renderFragment(fragment, (value) => `${parameter(toParameter(value))}::${types[value.type]}`).text;
  return {
    from: print(postgresDialect.everyone(projectId)),
    condition: print(buildCondition(postgresDialect, where, projectId)),
  };
}

export function renderPostgresStatement(query: Fragment): { text: string; values: unknown[] } {
  const { text, values } = renderFragment(query, ({ type }, position) => `$${position}::${types[type]}`);
  return { text, values: values.map(toParameter) };
}

function toParameter({ type, value }: Value): unknown {
  if (type === 'time') return toText(value as number);
  if (type === 'times') return (value as (number | null)[]).map((time) => (time === null ? null : toText(time)));
  return value;
}

const toText = (time: number) => new Date(time).toISOString();
