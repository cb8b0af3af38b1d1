// The types of selected columns of a table, derived from schema.prisma.

import type { Prisma } from './generated/client.ts';

type Tables = Prisma.TypeMap['model'];
type Scalars<Table extends keyof Tables> = Tables[Table]['payload']['scalars'];

/**
 * Some columns of a table as the driver returns them. The types are derived from `schema.prisma`, so that the type of a
 * row is defined only once. JSON is `unknown`. A store that knows the structure of a JSON column, or the allowed values
 * of a text column, declares it in an interface that extends this type.
 */
export type Columns<Table extends keyof Tables, Names extends keyof Scalars<Table>> = {
  [Name in Names]: AsRead<Scalars<Table>[Name]>;
};

type AsRead<Value> = Prisma.JsonValue extends Value ? unknown : Value extends bigint | Prisma.Decimal ? string : Value;
