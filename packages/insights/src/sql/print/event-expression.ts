// Prints an expression on an event or a person as part of another query's statement. Columns are read from the
// statement's own tables. An aggregate reads its columns from a subquery.

import type { EngineName, EventExpression } from '../../event-store/selection.ts';
import { type Fragment, sql } from '../../event-store/sql.ts';
import type { Expression, TableRelation } from '../tree.ts';
import { orderForm } from './casts.ts';
import type { Printing } from './context.ts';
import { outputText } from './output.ts';
import { createPrinting } from './query.ts';
import { columnText, recordsNeededBy } from './tables.ts';

interface Resolved {
  key: string;
  value: Expression;
  /** The table that the expression reads: `events` or `persons`. */
  relation: TableRelation;
  isAggregate: boolean;
  projectId: number;
  /** Whether to print infinity and NaN as null. */
  mustBeFinite: boolean;
}

const kindsShownAsText = new Set(['text', 'uuid', 'date', 'json', 'array', 'tuple']);

export function eventExpression({
  key,
  value,
  relation,
  isAggregate,
  projectId,
  mustBeFinite,
}: Resolved): EventExpression {
  const columns = [...relation.columns];
  const printingOf = (engine: EngineName): Printing => {
    const printing = createPrinting(engine, projectId, {
      column: (one) => {
        const column = one.relation === relation.id ? relation.columns.get(one.column) : undefined;
        if (column === undefined) return null;
        return isAggregate ? sql.numbered('c', one.column) : columnText(column, relation.table, printing);
      },
    });
    return printing;
  };
  return {
    key,
    isAggregate,
    isShownAsText: kindsShownAsText.has(value.type.kind),
    reads:
      relation.table === 'persons' ? [{ of: 'person', key: '' }] : recordsNeededBy(columns.map(([, column]) => column)),
    columns(engine) {
      const printing = printingOf(engine);
      return columns.map(
        ([number, column]) => sql`${columnText(column, 'events', printing)} AS ${sql.numbered('c', number)}`,
      );
    },
    print(engine, form) {
      const printing = printingOf(engine);
      if (form === 'order') return orderForm(value, printing);
      const text = printing.expression(value);
      if (form === 'result') return outputText(text, value.type, printing);
      return mustBeFinite ? finite(text, printing) : text;
    },
  };
}

function finite(number: Fragment, { isPostgres }: Printing): Fragment {
  return isPostgres
    ? sql`CASE WHEN abs(${number}) < 'Infinity'::float8 THEN ${number} END`
    : sql`if(isFinite(${number}), ${number}, NULL)`;
}
