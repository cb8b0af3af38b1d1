import type { Join, Node } from '../ast.ts';
import { printed } from '../names.ts';
import { SqlProblem } from '../problem.ts';
import type { Expression, JoinedRelation } from '../tree.ts';
import { flag } from '../types.ts';
import { findColumn, type Scope, type Source } from './scope.ts';

export function joinKind({ join_type: type, place }: Join): JoinedRelation['join'] {
  if (type === undefined) return null;
  const kinds: Record<string, JoinedRelation['join']> = {
    ...{ JOIN: 'INNER', 'INNER JOIN': 'INNER', 'LEFT JOIN': 'LEFT', 'LEFT OUTER JOIN': 'LEFT', 'RIGHT JOIN': 'RIGHT' },
    ...{ 'RIGHT OUTER JOIN': 'RIGHT', 'FULL JOIN': 'FULL', 'FULL OUTER JOIN': 'FULL', 'CROSS JOIN': 'CROSS' },
  };
  const kind = kinds[type];
  if (kind === undefined) throw new SqlProblem(`${type} is not supported.`, place);
  return kind;
}

/** Rejects joining two large tables without a condition, which would result in billions of rows. */
export function rejectLargeCrossJoin(join: Join, before: Join | undefined, first: Join | undefined): void {
  const others = [first, join].flatMap((one) => one?.table ?? []);
  const isSmall = (node: Node) =>
    node.node === 'SelectQuery' &&
    (node.select_from === undefined || (node.limit?.node === 'Constant' && Number(node.limit.value) <= 10_000));
  if (!others.some(isSmall))
    throw new SqlProblem('A CROSS JOIN needs a subquery without tables or with a LIMIT of at most 10000 on one side.', {
      start: before === undefined ? join.place.start : before.place.end + 1,
      end: join.place.end,
    });
}

/**
 * Resolves ON. The condition must consist of equalities between the two sides, because both engines support such joins.
 */
export function resolveJoinCondition(
  { constraint, place }: Join,
  { source, earlier }: { source: Source; earlier: Source[] },
  scope: Scope,
): Expression {
  if (constraint === undefined) throw new SqlProblem('A JOIN needs ON or USING.', place);
  if (constraint.constraint_type === 'USING') return using(constraint.expr, { source, earlier }, scope);
  const found = scope.run.expression(constraint.expr, { ...scope, withoutAggregates: 'ON', aliases: new Map() });
  const parts = found.is === 'all' ? found.parts : [found];
  const equalities = parts.map((part): Expression => {
    if (part.is !== 'compare' || part.comparator !== '=' || part.left.is === 'constant' || part.right.is === 'constant')
      throw new SqlProblem(
        'ON supports only equalities of columns, joined by AND. Move other conditions into WHERE or a subquery.',
        constraint.place,
      );
    return { ...part, isStandard: true };
  });
  return { is: 'all', parts: equalities, type: flag };
}

function using(node: Node, { source, earlier }: { source: Source; earlier: Source[] }, scope: Scope): Expression {
  const names = node.node === 'Tuple' ? node.exprs : [node];
  const parts = names.map((one): Expression => {
    const chain = one.node === 'Field' ? one.chain.map(String) : [];
    const right = findColumn(source, chain, scope, one.place);
    const left = earlier.map((before) => findColumn(before, chain, scope, one.place)).find((found) => found !== null);
    if (right === null || left === undefined || left === null)
      throw new SqlProblem(`Unable to resolve field: ${printed(one)}`, one.place);
    return { is: 'compare', comparator: '=', left, right, isStandard: true, type: flag };
  });
  return { is: 'all', parts, type: flag };
}
