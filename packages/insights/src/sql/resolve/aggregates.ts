// Resolves aggregates: chooses the variant for the type of the argument, and determines the type of the result.

import type { Call } from '../ast.ts';
import type { SqlFunction } from '../functions/define.ts';
import { aggregateAliases, aggregates, scalars, toFunctionTableName } from '../functions/index.ts';
import { SqlProblem } from '../problem.ts';
import { type CallExpression, type Expression, mayBeNan, someOf } from '../tree.ts';
import { flag, nullable, type SqlType } from '../types.ts';
import { checkCount, convertArguments, resultType, wrongTypes } from './calls.ts';
import { nestedAggregate, type Scope } from './scope.ts';
import { rejectNestedList, toCondition } from './values.ts';

/** Resolves an aggregate, with or without the suffix `If`. */
export function resolveAggregate(node: Call, scope: Scope, isWindow = false): CallExpression | null {
  const { place } = node;
  const written = toFunctionTableName(node.name);
  const isIf = !aggregates.has(written) && !aggregateAliases.has(written) && written.endsWith('If');
  const base = isIf ? written.slice(0, -2) : written;
  const name = aggregateAliases.get(base) ?? base;
  const options = aggregates.get(name);
  if (options === undefined) return null;
  if (scope.aggregate !== null && !isWindow) throw nestedAggregate(written, scope.aggregate, place);
  if (scope.withoutAggregates !== null)
    throw new SqlProblem(`Aggregation '${written}' is not allowed in ${scope.withoutAggregates}. Use HAVING.`, place);
  const inner: Scope = isWindow ? scope : { ...scope, aggregate: written };
  const nodes = node.args.filter((arg) => !(arg.node === 'Field' && arg.chain[0] === '*'));
  const conditionNode = isIf ? nodes.pop() : undefined;
  if (isIf && conditionNode === undefined)
    throw new SqlProblem(`Aggregation '${written}' expects at least 1 argument, found 0`, place);
  const given = nodes.map((arg) => scope.run.expression(arg, inner));
  const filters =
    conditionNode === undefined ? [] : [toCondition(scope.run.expression(conditionNode, inner), conditionNode.place)];
  const isUnique = node.distinct === true && name === 'groupArray';
  const isDistinctCount = node.distinct === true && name === 'count' && given.length > 0;
  const isDistinct = node.distinct === true && (name === 'sum' || name === 'avg');
  if (node.distinct === true && !isDistinctCount && !isUnique && !isDistinct && name !== 'min' && name !== 'max')
    throw new SqlProblem(
      `DISTINCT is only supported in count, sum, avg, min, max and groupArray, not in '${written}'.`,
      place,
    );
  if (!isDistinctCount) checkCount({ name: written, word: 'Aggregation', place }, options, given.length);
  const parameters = readParameters(node, written);
  const variant = isDistinctCount ? 'uniqExact' : isUnique ? 'groupUniqArray' : variantOf(name, given[0]);
  for (const of of aggregates.get(variant) ?? []) {
    const args = convertArguments(of, given, { scope, place });
    if (args === null) continue;
    if (args[0] !== undefined && of.result !== 'count') rejectNestedList(args[0].type, place);
    if (args[0]?.type.kind === 'nothing' && of.result === 'array')
      throw new SqlProblem(`The function '${written}' needs a value other than NULL.`, place);
    if (name === 'topK' && !args.some((arg) => someOf(arg, ({ is }) => is === 'column')))
      throw new SqlProblem("The function 'topK' needs a column.", place);
    const filter = filterOf(of, args, filters);
    const type = aggregateType(of, args, scope);
    return {
      is: 'call',
      name: of.name,
      of,
      args,
      type,
      ...(parameters && { parameters }),
      ...(isDistinct && { isDistinct }),
      ...(filter && { filter }),
    };
  }
  throw wrongTypes({ name: written, place }, options, given);
}

/** Returns the name of the aggregate's variant for the argument, as in the function table. */
function variantOf(name: string, arg: Expression | undefined): string {
  if (name === 'sum' && arg?.type.isNullable === false) return 'sumOrZero';
  return name === 'max' && arg !== undefined && mayBeNan(arg) ? 'maxBesidesNan' : name;
}

/**
 * Returns a filter that excludes rows with a null argument. If the engines sort NaN differently, the filter also
 * excludes rows with NaN.
 */
function filterOf({ name }: SqlFunction, args: readonly Expression[], filters: Expression[]): Expression | null {
  const skipsNull = [
    'groupArray',
    'groupUniqArray',
    'topK',
    'argMax',
    'argMin',
    'quantile',
    'quantiles',
    'uniqExact',
  ].includes(name);
  const parts = [...filters];
  for (const arg of skipsNull ? args : [])
    if (arg.type.isNullable) parts.push({ is: 'not', part: { is: 'null', part: arg, type: flag }, type: flag });
  const isNan = scalars.get('isNaN')?.[0];
  const sorted = name.startsWith('quantile') ? args[0] : name.startsWith('arg') ? args[1] : undefined;
  if (isNan !== undefined && sorted !== undefined && mayBeNan(sorted)) {
    const call: Expression = {
      is: 'call',
      name: 'isNaN',
      of: isNan,
      args: [sorted],
      type: nullable(flag, sorted.type.isNullable),
    };
    parts.push({ is: 'not', part: call, type: flag });
  }
  const [only] = parts;
  return parts.length > 1 ? { is: 'all', parts, type: flag } : (only ?? null);
}

/**
 * Returns the result type of an aggregate. Without rows, the result is null, except for counts, lists, and sums of
 * values that are never null.
 */
function aggregateType(of: SqlFunction, args: readonly Expression[], scope: Scope): SqlType {
  const type = resultType(of, args, scope);
  if (of.nulls === 'never' || type.kind === 'array') return type;
  return nullable(type, true);
}

/** Default and maximum number of elements in the lists that these functions return. */
const listLimits: ReadonlyMap<string, { default: number; max: number }> = new Map([
  ['topK', { default: 10, max: 100 }],
  ['groupArray', { default: 10_000, max: 10_000 }],
  ['groupUniqArray', { default: 10_000, max: 10_000 }],
]);

function readParameters({ params, place, args, name }: Call, written: string): number[] | null {
  const base = written.replace(/If$/, '');
  if (base === 'median') return [0.5];
  const limit = listLimits.get(base);
  if (limit !== undefined) {
    const [count = limit.default, ...rest] = (params ?? []).map((one) =>
      one.node === 'Constant' ? Number(one.value) : Number.NaN,
    );
    if (!Number.isSafeInteger(count) || count < 1 || count > limit.max || rest.length > 0) {
      const expected = `a number from 1 to ${limit.max}, for example ${base}(5)(x)`;
      throw new SqlProblem(`The function '${base}' expects ${expected}.`, place);
    }
    return [count];
  }
  if (base !== 'quantile' && base !== 'quantiles') {
    if (params !== undefined) throw new SqlProblem(`The function '${name}' takes no parameters.`, place);
    return null;
  }
  const levels = (params ?? []).map((one) => (one.node === 'Constant' ? one.value : null));
  const isValid = levels.every((level) => typeof level === 'number' && level >= 0 && level <= 1);
  if (!isValid || levels.length === 0 || (base === 'quantile' && levels.length > 1) || args.length === 0)
    throw new SqlProblem(`The function '${base}' expects levels from 0 to 1, for example ${base}(0.5)(x).`, place);
  return levels as number[];
}
