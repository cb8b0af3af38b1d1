import type { Prisma } from './generated/client.ts';

type Tables = Prisma.TypeMap['model'];
type Scalars<Table extends keyof Tables> = Tables[Table]['payload']['scalars'];

/**
 * Some columns of a table, with the types that `schema.prisma` gives them, as the driver reads them: what a row holds is said
 * once. JSON is `unknown`; a store that knows its shape, or the few texts of a column, says so in an interface that extends this.
 */
export type Columns<Table extends keyof Tables, Names extends keyof Scalars<Table>> = {
  [Name in Names]: AsRead<Scalars<Table>[Name]>;
};

type AsRead<Value> = Prisma.JsonValue extends Value ? unknown : Value extends bigint | Prisma.Decimal ? string : Value;
