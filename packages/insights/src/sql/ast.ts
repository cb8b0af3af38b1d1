// The syntax tree that the parser returns, reduced to the parts that Millrace supports.

import { type Place, SqlProblem } from './problem.ts';

interface Located {
  place: Place;
}

export interface Constant extends Located {
  node: 'Constant';
  value: string | number | boolean | null | readonly (string | number | boolean | null)[];
  /** The digits of a number as written in the query, because JavaScript numbers lose digits beyond 53 bits. */
  digits?: string;
}
export interface Field extends Located {
  node: 'Field';
  chain: (string | number)[];
}
export interface Call extends Located {
  node: 'Call';
  name: string;
  args: Node[];
  params?: Node[];
  distinct?: boolean;
}
export interface Comparison extends Located {
  node: 'CompareOperation';
  op: string;
  left: Node;
  right: Node;
}
export interface OrderExpr extends Located {
  node: 'OrderExpr';
  expr: Node;
  order: 'ASC' | 'DESC';
}
export interface WindowExpr extends Located {
  node: 'WindowExpr';
  partition_by?: Node[];
  order_by?: OrderExpr[];
  frame_method?: 'ROWS' | 'RANGE';
  frame_start?: FrameExpr;
  frame_end?: FrameExpr;
}
export interface FrameExpr extends Located {
  frame_type?: 'CURRENT ROW' | 'PRECEDING' | 'FOLLOWING';
  frame_value?: number;
}
export interface Alias extends Located {
  node: 'Alias';
  alias: string;
  expr: Node;
}
export interface Lambda extends Located {
  node: 'Lambda';
  args: string[];
  expr: Node;
}
export interface Placeholder extends Located {
  node: 'Placeholder';
  expr: Node;
}
export interface Tuple extends Located {
  node: 'Tuple' | 'Array' | 'And' | 'Or';
  exprs: Node[];
}
export interface WindowFunction extends Located {
  node: 'WindowFunction';
  name: string;
  exprs?: Node[];
  args?: Node[];
  over_expr?: WindowExpr;
  over_identifier?: string;
}
/** A node that replaces `{filters}`: the query's filters, or a missing bound of their date range. */
export interface Injected extends Located {
  node: 'Injected';
  what: 'filters' | 'no bound';
}

export type Node =
  | Constant
  | Field
  | Call
  | Comparison
  | Alias
  | Lambda
  | Placeholder
  | Tuple
  | WindowFunction
  | OrderExpr
  | Injected
  | ({ node: 'Not'; expr: Node } & Located)
  | ({ node: 'ArithmeticOperation'; op: '+' | '-' | '*' | '/' | '%'; left: Node; right: Node } & Located)
  | ({ node: 'BetweenExpr'; expr: Node; low: Node; high: Node; negated: boolean } & Located)
  | ({ node: 'ArrayAccess'; array: Node; property: Node } & Located)
  | ({ node: 'ArraySlice'; array: Node; start_expr?: Node; end_expr?: Node } & Located)
  | ({ node: 'TupleAccess'; tuple: Node; index: number } & Located)
  | ({ node: 'TypeCast'; expr: Node; type_name: string } & Located)
  | Select
  | SelectSet;

export interface Join extends Located {
  node: 'JoinExpr';
  table?: Node;
  alias?: string;
  table_args?: Node[];
  table_final?: boolean;
  column_aliases?: string[];
  join_type?: string;
  constraint?: { constraint_type: 'ON' | 'USING'; expr: Node } & Located;
  next_join?: Join;
}

export interface Select extends Located {
  node: 'SelectQuery';
  select: Node[];
  distinct?: boolean;
  ctes?: ({ name: string; expr: Node; cte_type: 'column' | 'subquery' } & Located)[];
  select_from?: Join;
  array_join_op?: string;
  array_join_list?: Node[];
  prewhere?: Node;
  where?: Node;
  group_by?: Node[];
  group_by_mode?: string;
  having?: Node;
  order_by?: OrderExpr[];
  limit?: Node;
  offset?: Node;
  limit_by?: { n: Node; offset_value?: Node; exprs: Node[] } & Located;
  limit_with_ties?: boolean;
  window_exprs?: Record<string, WindowExpr>;
}

export interface SelectSet extends Located {
  node: 'SelectSetQuery';
  initial_select_query: Select | SelectSet;
  subsequent_select_queries: { select_query: Select | SelectSet; set_operator: string }[];
}

const unsupported: Record<string, string> = {
  HogQLXTag: 'HTML tags are not supported.',
  HogQLXAttribute: 'HTML tags are not supported.',
  Dict: 'Dictionaries are not supported.',
  ColumnsExpr: 'COLUMNS, EXCLUDE and REPLACE are not supported. List the columns by name.',
  PositionalRef: 'References by position are not supported here.',
  GroupingSet: 'GROUPING SETS is not supported.',
  WithFillExpr: 'ORDER BY … WITH FILL is not supported.',
  TryCast: 'TRY_CAST is not supported. CAST returns null for a value that cannot be converted.',
  IsDistinctFrom: 'IS DISTINCT FROM is not supported. Use !=, which is never null.',
  ValuesQuery: 'VALUES is not supported. Use arrayJoin.',
  PivotExpr: 'PIVOT is not supported.',
  ExprCall: 'Calls of expressions are not supported.',
};

/**
 * For each type of node, the fields that Millrace reads. A node with another field is rejected, because the query would
 * otherwise run as if the field were missing.
 */
const fieldsOf: Readonly<Record<string, readonly string[]>> = {
  Constant: ['value', 'value_type'],
  Field: ['chain'],
  Call: ['name', 'args', 'params', 'distinct'],
  CompareOperation: ['op', 'left', 'right', 'is_null_comparison_style'],
  Alias: ['alias', 'expr'],
  Lambda: ['args', 'expr'],
  Placeholder: ['expr'],
  Tuple: ['exprs'],
  Array: ['exprs'],
  And: ['exprs'],
  Or: ['exprs'],
  WindowFunction: ['name', 'exprs', 'args', 'over_expr', 'over_identifier'],
  OrderExpr: ['expr', 'order', 'with_fill'],
  Not: ['expr'],
  ArithmeticOperation: ['op', 'left', 'right'],
  BetweenExpr: ['expr', 'low', 'high', 'negated'],
  ArrayAccess: ['array', 'property'],
  ArraySlice: ['array', 'start_expr', 'end_expr'],
  TupleAccess: ['tuple', 'index'],
  TypeCast: ['expr', 'type_name'],
  SelectQuery: [
    ...[
      'select',
      'distinct',
      'ctes',
      'select_from',
      'array_join_op',
      'array_join_list',
      'prewhere',
      'where',
      'group_by',
    ],
    ...['group_by_mode', 'having', 'order_by', 'limit', 'offset', 'limit_by', 'limit_with_ties', 'window_exprs'],
  ],
  SelectSetQuery: ['initial_select_query', 'subsequent_select_queries'],
  SelectSetNode: ['select_query', 'set_operator'],
  JoinExpr: [
    ...[
      'table',
      'alias',
      'column_aliases',
      'next_join',
      'join_type',
      'constraint',
      'sample',
      'table_args',
      'table_final',
    ],
  ],
  JoinConstraint: ['constraint_type', 'expr'],
  // The rows of a CTE do not depend on whether it is materialized.
  CTE: ['name', 'expr', 'cte_type', 'materialized'],
  LimitByExpr: ['n', 'offset_value', 'exprs'],
  WindowExpr: ['partition_by', 'order_by', 'frame_method', 'frame_start', 'frame_end'],
  WindowFrameExpr: ['frame_type', 'frame_value'],
  SampleExpr: ['sample_value', 'offset_value'],
  RatioExpr: ['left', 'right'],
};

/** For each parser field that Millrace does not read, the name of the SQL clause in error messages. */
const clauses: Readonly<Record<string, string>> = {
  order_by: 'ORDER BY in a function call',
  within_group: 'WITHIN GROUP',
  filter_expr: 'FILTER',
  recursive: 'WITH RECURSIVE',
  columns: 'A list of columns in WITH',
};

/** Maximum depth of a tree. The resolver is recursive, so a deeper tree would exhaust the stack. */
const maxDepth = 60;

/**
 * Converts the parser's JSON to a tree. A node without a position gets its parent's position.
 * @throws SqlProblem if the query uses a construct that Millrace does not support
 */
export function readTree(json: unknown, text: string): Node {
  const characters = Array.from(text);
  return read(json, { start: 0, end: characters.length }, 0) as Node;

  function read(value: unknown, parent: Place, depth: number): unknown {
    if (Array.isArray(value)) return value.map((one) => read(one, parent, depth));
    if (typeof value !== 'object' || value === null) return value;
    const { start, end, ...fields } = value as Record<string, unknown>;
    const [from, to] = [offsetOf(start), offsetOf(end)];
    const place = from === null || to === null ? parent : { start: from, end: to };
    const name = fields.node;
    if (typeof name === 'string') requireKnown(name, fields, place);
    if (depth > maxDepth) throw new SqlProblem('The query is nested too deeply.', place);
    const tree: Record<string, unknown> = { place };
    for (const [key, child] of Object.entries(fields)) {
      if (child !== null && child !== undefined) tree[key] = read(child, place, depth + 1);
      else if (name === 'Constant' && key === 'value') tree.value = null;
    }
    if (name === 'Constant') {
      tree.value ??= null;
      if (fields.value_type === 'number')
        throw new SqlProblem(
          /\d/.test(String(tree.value))
            ? 'The number is too large.'
            : 'Infinity and NaN are not supported as constants.',
          place,
        );
      if (typeof tree.value === 'number' && from !== null && to !== null)
        tree.digits = characters.slice(from, to).join('');
    }
    return tree;
  }
}

/** @throws SqlProblem if Millrace does not support the node or one of its fields */
function requireKnown(node: string, fields: Record<string, unknown>, place: Place): void {
  const known = fieldsOf[node];
  if (known === undefined) throw new SqlProblem(unsupported[node] ?? `${node} is not supported.`, place);
  const isSet = (field: string) => ![null, undefined, false].some((nothing) => fields[field] === nothing);
  const other = Object.keys(fields).find((field) => field !== 'node' && !known.includes(field) && isSet(field));
  if (other === undefined) return;
  const clause = clauses[other] ?? other.replaceAll('_', ' ').toUpperCase();
  throw new SqlProblem(`${clause} is not supported.`, place);
}

function offsetOf(position: unknown): number | null {
  if (typeof position !== 'object' || position === null) return null;
  const { offset } = position as { offset?: unknown };
  return typeof offset === 'number' ? offset : null;
}

/** Returns a node and all nodes below it. */
export function* nodesOf(value: unknown): Generator<Record<string, unknown>> {
  if (Array.isArray(value)) {
    for (const one of value) yield* nodesOf(one);
  } else if (typeof value === 'object' && value !== null) {
    if ('node' in value) yield value as Record<string, unknown>;
    for (const child of Object.values(value)) yield* nodesOf(child);
  }
}
