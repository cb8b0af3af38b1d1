// Resolves JSON functions whose result depends on a type that the query specifies.

import type { Call, Node } from '../ast.ts';
import { SqlProblem } from '../problem.ts';
import type { Expression } from '../tree.ts';
import { nullable } from '../types.ts';
import { type CallResolver, resolveFunction } from './calls.ts';
import { compare } from './comparisons.ts';
import { textConstant } from './values.ts';

/** For each type, the function that reads a value, and what JSONType returns for such a value. */
const readers: Readonly<Record<string, { name: string; types: readonly string[] }>> = {
  String: { name: 'JSONExtractString', types: ['String'] },
  Int64: { name: 'JSONExtractInt', types: ['Int64', 'Double'] },
  Float64: { name: 'JSONExtractFloat', types: ['Int64', 'Double'] },
  Bool: { name: 'JSONExtractBool', types: ['Bool'] },
};

/** Returns the type that the last argument names, and the error to throw if the type is not supported. */
function namedType({ args, name, place }: Call): { type: string; wrong: SqlProblem } {
  const last = args.at(-1);
  const type = last?.node === 'Constant' && typeof last.value === 'string' ? last.value : '';
  return { type, wrong: new SqlProblem(`${name} does not support the type '${type}'.`, last?.place ?? place) };
}

/** Resolves `JSONExtract(json, 'key', 'Type')`. */
const jsonExtract: CallResolver = (node, scope) => {
  const { place } = node;
  const { type, wrong } = namedType(node);
  const path = node.args.slice(0, -1);
  const [, wrapper, inner = type] = /^(Nullable|Array)\((\w+)\)$/.exec(type) ?? [];
  if (type === 'Array(String)') return resolveFunction('JSONExtractTexts', path, { scope, place });
  const reader = readers[inner];
  if (reader === undefined) throw wrong;
  if (wrapper === 'Array') {
    const body: Node = { node: 'Call', name: reader.name, args: [{ node: 'Field', chain: ['item'], place }], place };
    const lambda: Node = { node: 'Lambda', args: ['item'], expr: body, place };
    const items: Node = { node: 'Call', name: 'JSONExtractArrayRaw', args: path, place };
    return resolveFunction('arrayMap', [lambda, items], { scope, place });
  }
  const value = resolveFunction(reader.name, path, { scope, place });
  if (wrapper === undefined) return value;
  const found = resolveFunction('JSONType', path, { scope, place });
  const cases = reader.types.map((known) => ({
    when: compare(found, textConstant(known), { comparator: '=', place, name: 'JSONType' }),
    result: value,
  }));
  const none: Expression = { is: 'constant', type: nullable(value.type), value: null };
  return { is: 'choice', cases, otherwise: none, type: nullable(value.type) };
};

/** Resolves `JSONExtractKeysAndValues(json, 'String')`. Values of other types are returned as JSON. */
const keysAndValues: CallResolver = (node, scope) => {
  const { type, wrong } = namedType(node);
  if (type !== 'String') throw wrong;
  return resolveFunction('JSONExtractKeysAndTexts', node.args.slice(0, -1), { scope, place: node.place });
};

export const jsonFunctions: ReadonlyMap<string, CallResolver> = new Map([
  ['JSONExtract', jsonExtract],
  ['JSONExtractKeysAndValues', keysAndValues],
]);
