import { type Reader, ReadLimitExceeded } from '@millrace/db';
import type { Engine } from '../engine.ts';
import { OverBudget } from '../port.ts';
import { type Fragment, render, type Value, type ValueType } from '../sql.ts';
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

/** Runs queries in PostgreSQL. */
export function postgresEngine(reader: Pick<Reader, 'read'>): Engine {
  return {
    dialect: postgresDialect,
    async read(question, run, each) {
      const { text, values } = postgresStatement(question);
      try {
        await reader.read(text, values, run, each);
      } catch (error) {
        throw error instanceof ReadLimitExceeded ? new OverBudget(error.limit, { cause: error }) : error;
      }
    },
  };
}

export function postgresStatement(question: Fragment): { text: string; values: unknown[] } {
  const { text, values } = render(question, ({ type }, position) => `$${position}::${types[type]}`);
  return { text, values: values.map(toParameter) };
}

function toParameter({ type, value }: Value): unknown {
  if (type === 'time') return toText(value as number);
  if (type === 'times') return (value as number[]).map(toText);
  return value;
}

const toText = (time: number) => new Date(time).toISOString();
