import { type Reader, ReadLimitExceeded } from '@millrace/db';
import type { Engine } from '../engine.ts';
import { OverBudget } from '../port.ts';
import { render, type Value, type ValueType } from '../sql.ts';
import { postgresDialect } from './dialect.ts';

const types: Record<ValueType, string> = {
  text: 'text',
  texts: 'text[]',
  int: 'int',
  ints: 'int[]',
  float: 'float8',
  floats: 'float8[]',
  time: 'timestamptz',
  times: 'timestamptz[]',
  uuid: 'uuid',
  uuids: 'uuid[]',
};

/** Stored events in PostgreSQL. */
export function postgresEngine(reader: Pick<Reader, 'read'>): Engine {
  return {
    dialect: postgresDialect,
    async read(question, run, each) {
      const { text, values } = render(question, ({ type }, position) => `$${position}::${types[type]}`);
      try {
        await reader.read(text, values.map(toParameter), run, each);
      } catch (error) {
        throw error instanceof ReadLimitExceeded ? new OverBudget(error.limit, { cause: error }) : error;
      }
    },
  };
}

function toParameter({ type, value }: Value): unknown {
  if (type === 'time') return toText(value as number);
  if (type === 'times') return (value as number[]).map(toText);
  return value;
}

const toText = (time: number) => new Date(time).toISOString();
