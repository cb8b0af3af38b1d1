// Defines types for the selected columns of a table, derived from `schema.prisma`.

import type { Prisma } from './generated/client.ts';

type Tables = Prisma.TypeMap['model'];
type Scalars<Table extends keyof Tables> = Tables[Table]['payload']['scalars'];

/**
 * Selected columns of a table as the driver returns them. The types come from `schema.prisma`, so that each column's
 * type is defined only once. JSON columns are `unknown`. A store that knows the structure of a JSON column, or the
 * allowed values of a text column, declares it in an interface that extends this type.
 */
export type Columns<Table extends keyof Tables, Names extends keyof Scalars<Table>> = {
  [Name in Names]: AsRead<Scalars<Table>[Name]>;
};

type AsRead<Value> = Prisma.JsonValue extends Value ? unknown : Value extends bigint | Prisma.Decimal ? string : Value;
