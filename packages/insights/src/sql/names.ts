// Determines the names of columns in the result. A column without an alias is named by its expression, printed as
// function calls, because clients look up columns by these names.

import {
  type Comparison,
  type Injected,
  type Node,
  nodesOf,
  type OrderExpr,
  type Select,
  type SelectSet,
  type WindowExpr,
} from './ast.ts';

const operators: Record<string, string> = {
  '+': 'plus',
  '-': 'minus',
  '*': 'multiply',
  '/': 'divide',
  '%': 'modulo',
  '==': 'equals',
  '!=': 'notEquals',
  '<': 'less',
  '<=': 'lessOrEquals',
  '>': 'greater',
  '>=': 'greaterOrEquals',
  like: 'like',
  'not like': 'notLike',
  ilike: 'ilike',
  'not ilike': 'notILike',
  in: 'in',
  'not in': 'notIn',
  '=~': 'match',
  '=~*': 'match',
  'in cohort': 'inCohort',
  'not in cohort': 'notInCohort',
};

export function columnName(node: Node): string {
  if (node.node === 'Alias') return node.alias;
  const path = fieldPath(node);
  if (path === null) return printed(node);
  const properties = path.lastIndexOf('properties');
  const rest = properties >= 0 ? path.slice(properties + 1) : [];
  return rest.length > 1 ? rest.join('__') : String(path.at(-1));
}

/** Returns the names in a field, or in a property access with brackets. Returns null for other expressions. */
export function fieldPath(node: Node): string[] | null {
  if (node.node === 'Field') return node.chain.map(String);
  if (node.node !== 'ArrayAccess') return null;
  const before = fieldPath(node.array);
  if (before === null || node.property.node !== 'Constant' || typeof node.property.value !== 'string') return null;
  return [...before, node.property.value];
}

/** Quotes a name if the parser requires it. */
export const identifier = (name: string) =>
  /^[A-Za-z_$][\w$]*$/.test(name) ? name : `\`${name.replaceAll('`', '\\`')}\``;

/** Functions for the parts of an expression that column names and complete queries print differently. */
interface Forms {
  query(node: Select | SelectSet): string;
  injected(node: Injected): string;
  /** Returns null if the comparison should be printed as a function call. */
  comparison(node: Comparison, print: (node: Node) => string): string | null;
  /** Prints the frame of a window, preceded by a space. */
  frame(window: WindowExpr): string;
}

/** Returns a function that prints expressions as function calls. */
export function createPrinter(forms: Forms): (node: Node) => string {
  const call = (name: string, args: readonly Node[]) => `${name}(${args.map(print).join(', ')})`;
  const orderText = ({ expr, order }: OrderExpr) => `${print(expr)} ${order}`;
  return print;

  function print(node: Node): string {
    switch (node.node) {
      case 'Constant':
        return constant(node.value, node.digits);
      case 'Field':
        return node.chain
          .map((part) => (typeof part === 'number' ? String(part) : part === '*' ? '*' : identifier(part)))
          .join('.');
      case 'Call': {
        const params = node.params === undefined ? '' : `(${node.params.map(print).join(', ')})`;
        const args = node.args
          .filter((arg) => !(arg.node === 'Field' && arg.chain[0] === '*'))
          .map(print)
          .join(', ');
        return `${node.name}${params}(${node.distinct ? 'DISTINCT ' : ''}${args})`;
      }
      case 'Alias':
        return `${print(node.expr)} AS ${identifier(node.alias)}`;
      case 'ArithmeticOperation':
        return call(operators[node.op] ?? node.op, [node.left, node.right]);
      case 'CompareOperation': {
        const other = forms.comparison(node, print);
        if (other !== null) return other;
        if (node.op === '!~' || node.op === '!~*') return `not(${call('match', [node.left, node.right])})`;
        return call(operators[node.op] ?? node.op, [node.left, node.right]);
      }
      case 'And':
      case 'Or':
        return call(node.node.toLowerCase(), node.exprs);
      case 'Not':
        return call('not', [node.expr]);
      case 'Tuple':
        return call('tuple', node.exprs);
      case 'Array':
        return `[${node.exprs.map(print).join(', ')}]`;
      case 'Lambda':
        return `${node.args.length === 1 ? node.args[0] : `(${node.args.join(', ')})`} -> ${print(node.expr)}`;
      case 'BetweenExpr':
        return `${print(node.expr)} ${node.negated ? 'NOT ' : ''}BETWEEN ${print(node.low)} AND ${print(node.high)}`;
      case 'ArrayAccess': {
        const path = fieldPath(node);
        return path === null ? `${print(node.array)}[${print(node.property)}]` : path.map(identifier).join('.');
      }
      case 'ArraySlice': {
        const [start, end] = [node.start_expr, node.end_expr].map((one) => (one === undefined ? '' : print(one)));
        return `${print(node.array)}[${start}:${end}]`;
      }
      case 'TupleAccess':
        return `${print(node.tuple)}.${node.index}`;
      case 'TypeCast':
        return `CAST(${print(node.expr)} AS ${node.type_name})`;
      case 'WindowFunction':
        return `${call(node.name, [...(node.exprs ?? []), ...(node.args ?? [])])} OVER ${node.over_expr === undefined ? node.over_identifier : `(${windowText(node.over_expr, print, forms.frame)})`}`;
      case 'OrderExpr':
        return orderText(node);
      case 'Placeholder':
        return `{${print(node.expr)}}`;
      case 'Injected':
        return forms.injected(node);
      case 'SelectQuery':
      case 'SelectSetQuery':
        return forms.query(node);
      default:
        return node satisfies never;
    }
  }
}

/** Prints an expression as the name of a result column. */
export const printed = createPrinter({
  query: () => '(subquery)',
  injected: () => 'true',
  comparison: () => null,
  frame: () => '',
});

function constant(value: unknown, digits: string | undefined): string {
  if (value === null) return 'NULL';
  if (Array.isArray(value)) return `tuple(${value.map((one) => constant(one, undefined)).join(', ')})`;
  if (typeof value === 'string') return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  return digits ?? String(value);
}

/** Prints the content of the parentheses after OVER. */
export function windowText(window: WindowExpr, print: (node: Node) => string, frame: Forms['frame']): string {
  const { partition_by: partition, order_by: order } = window;
  const clauses = [
    ...(partition === undefined ? [] : [`PARTITION BY ${partition.map(print).join(', ')}`]),
    ...(order === undefined ? [] : [`ORDER BY ${order.map(print).join(', ')}`]),
  ];
  return `${clauses.join(' ')}${frame(window)}`;
}

/** Returns all names in syntax trees that may be property names. */
export function listPropertyNames(trees: unknown): string[] {
  const names = new Set<string>();
  for (const node of nodesOf(trees)) {
    if (node.node === 'Field' && Array.isArray(node.chain)) for (const name of node.chain) names.add(String(name));
    if (node.node === 'Constant' && typeof node.value === 'string') names.add(node.value);
  }
  return [...names];
}
