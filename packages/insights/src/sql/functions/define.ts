// Format of the function table. A row contains the signature and the SQL for both engines, so that other code can read
// the table as data.

import type { Fragment } from '../../event-store/sql.ts';
import { Fragment as Sql } from '../../event-store/sql.ts';

declare const isTemplate: unique symbol;
/**
 * SQL with slots that the printer fills:
 * | Slot | Content |
 * |---|---|
 * | `{1}` | the first argument |
 * | `{1:order}` | the first argument in a form for comparisons |
 * | `{1:low}`, `{1:high}` | the first argument, where NaN is the lowest or the highest number |
 * | `{1:equal}` | the first argument in a form that equals no element of a list if it is NaN |
 * | `{1:text}` | the first argument as text |
 * | `{1:sorted}` | in PostgreSQL, the order of the items of the first argument, which is a list |
 * | `{*}` | all arguments |
 * | `{f}` | the filter of an aggregate |
 * | `{d}` | DISTINCT, if the aggregate ignores duplicates |
 * | `{o}` | in PostgreSQL, the order in which a subquery returns the rows |
 * | `{z}` | the time zone of the first time |
 * | `{p}` | the parameters of a function, such as 0.9 in `quantile(0.9)(x)` |
 * | `{r}` | the path of a JSON function |
 * | `{0}` | in PostgreSQL, the first parameter of a lambda; in ClickHouse, all parameters |
 * | `{0:row}` | the elements of all lists, with their position |
 * | `{0:place}` | in PostgreSQL, the position in the lists |
 * | `{l}` | the lists that a lambda processes, which must have the same length |
 *
 * Only `t` creates templates, so they are always literals in the code.
 */
export type Template = string & { readonly [isTemplate]: true };

export function t(strings: TemplateStringsArray): Template {
  return (strings[0] ?? '') as Template;
}

export function fill(template: Template, slot: (name: string) => Fragment): Fragment {
  const pieces = template.split(/\{([0-9*dfozprl](?::\w+)?)\}/);
  return Sql.of(
    pieces.filter((_, at) => at % 2 === 0),
    pieces.filter((_, at) => at % 2 === 1).map(slot),
  );
}

export interface Argument {
  /** The kind of argument that the parameter accepts. `resolve/calls.ts` checks arguments against it. */
  kind: string;
  isOptional: boolean;
  isRepeated: boolean;
}

export interface SqlFunction {
  name: string;
  args: readonly Argument[];
  /** Type of the result: a name that `resolve/calls.ts` defines. */
  result: string;
  /**
   * How null arguments affect the result: with `pass`, a null argument makes the result null; with `never`, the result
   * is never null; with `always`, the result can be null for any arguments.
   */
  nulls: 'pass' | 'never' | 'always';
  isAggregate: boolean;
  postgres: Template;
  clickhouse: Template;
}

/**
 * `name(kinds) result`, the SQL for PostgreSQL, and the SQL for ClickHouse if it differs. A result with `!` is never
 * null, and a result with `?` can be null.
 */
export type Row = readonly [signature: string, postgres: Template, clickhouse?: Template];

export function define(rows: readonly Row[], isAggregate = false): SqlFunction[] {
  return rows.map(([signature, postgres, clickhouse = postgres]) => {
    const match = /^(\w+)\((.*)\) ([\w[\]]+)([!?]?)$/.exec(signature);
    if (match === null) throw new Error(`The signature ${signature} is not valid.`);
    const [, name = '', args = '', result = '', mark = ''] = match;
    return {
      name,
      args: args === '' ? [] : args.split(', ').map(argument),
      result,
      nulls: mark === '!' ? 'never' : mark === '?' ? 'always' : 'pass',
      isAggregate,
      postgres,
      clickhouse,
    };
  });
}

function argument(word: string): Argument {
  return { kind: word.replace(/[?.]+$/, ''), isOptional: word.endsWith('?'), isRepeated: word.endsWith('...') };
}

/** Readable names for the kinds of arguments and results whose own names are not clear. */
const kindNames: Readonly<Record<string, string>> = {
  int: 'integer',
  float: 'number',
  flag: 'condition',
  bool: 'Boolean',
  uuid: 'UUID',
  moment: 'date or time',
  anything: 'value',
  comparable: 'value',
  list: 'array',
  document: 'JSON',
  path: 'key or position',
  separator: 'constant text',
  character: 'constant character',
  small: 'constant integer',
  pattern: 'regular expression',
  like: 'LIKE pattern',
  lambda: 'lambda',
  condition: 'lambda',
  count: 'integer',
  total: 'integer',
  part: 'integer',
  seconds: 'integer',
  start: 'time',
  same: 'like the first argument',
  filled: 'like the first argument',
  item: 'element',
  'body[]': 'array',
  'int[]': 'array of integers',
  'float[]': 'array of numbers',
  'text[]': 'array of texts',
  numbers: 'array of integers',
  longs: 'array of integers',
  pairs: 'array of tuples',
};
/** Returns the name of a kind for documents and error messages. */
export const kindName = (kind: string) => kindNames[kind] ?? kind;
