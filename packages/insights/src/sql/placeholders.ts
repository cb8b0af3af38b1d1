// Replaces placeholders in the syntax tree with constants. Values never become part of the query text.

import type { Node, Placeholder } from './ast.ts';
import { closestName } from './functions/index.ts';
import { fieldPath, printed } from './names.ts';
import { SqlProblem } from './problem.ts';

type Scalar = string | number | boolean | null;

export interface Placeholders {
  values: Readonly<Record<string, unknown>>;
  variables: Readonly<Record<string, unknown>>;
  /** Code names of variables that the query uses but the project does not have. */
  unknownVariables?: readonly string[];
  /** The bounds of the date range as ISO times. A bound that is not set is null. */
  dateRange: { from: string | null; to: string | null };
}

export function substitute<T extends Node>(tree: T, placeholders: Placeholders): T {
  return replace(tree) as T;

  function replace(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(replace);
    if (typeof value !== 'object' || value === null) return value;
    if ('node' in value && value.node === 'Placeholder') return replacement(value as Placeholder, placeholders);
    return Object.fromEntries(
      Object.entries(value).map(([key, child]) => [key, key === 'place' ? child : replace(child)]),
    );
  }
}

function replacement(node: Placeholder, { values, variables, unknownVariables = [], dateRange }: Placeholders): Node {
  const { place } = node;
  const path = fieldPath(node.expr);
  if (path === null)
    throw new SqlProblem(
      'A placeholder must be a name, such as {name}. Expressions in placeholders are not supported.',
      place,
    );
  const [first = '', second, third] = path;
  if (first === 'filters') {
    if (second === undefined) return { node: 'Injected', what: 'filters', place };
    if (second !== 'dateRange' || (third !== 'from' && third !== 'to'))
      throw new SqlProblem(`Placeholder {${path.join('.')}} is not available in this context.`, place);
    const bound = dateRange[third];
    return bound === null ? { node: 'Injected', what: 'no bound', place } : { node: 'Constant', value: bound, place };
  }
  if (first === 'variables' && second !== undefined) {
    if (!Object.hasOwn(variables, second))
      throw new SqlProblem(missingVariable(second, { names: Object.keys(variables), unknownVariables }), place);
    return constantOf(variables[second], node);
  }
  if (path.length > 1 || !Object.hasOwn(values, first)) {
    const names = Object.keys(values);
    const hint = names.length === 0 ? '' : ` You can use the following: ${names.join(', ')}`;
    throw new SqlProblem(`Placeholder {${path.join('.')}} is not available in this context.${hint}`, place);
  }
  return constantOf(values[first], node);
}

function missingVariable(
  name: string,
  { names, unknownVariables }: { names: string[]; unknownVariables: readonly string[] },
): string {
  if (unknownVariables.includes(name)) return `Variable ${name} does not exist. Create it with insight_variables/.`;
  const closest = closestName(name, names);
  return `Variable ${name} is missing from query${closest === null ? '' : `. Did you mean: ${closest}?`}`;
}

const isScalar = (value: unknown): value is Scalar =>
  value === null ||
  ['string', 'boolean'].includes(typeof value) ||
  (typeof value === 'number' && Number.isFinite(value));

function constantOf(value: unknown, { place, expr }: Placeholder): Node {
  if (isScalar(value)) return { node: 'Constant', value, place };
  if (Array.isArray(value) && value.every(isScalar)) return { node: 'Constant', value, place };
  throw new SqlProblem(
    `The value of {${printed(expr)}} must be a text, a number, a Boolean value, null or a list of these.`,
    place,
  );
}
