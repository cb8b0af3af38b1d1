import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory, ColumnTypeEnum, type SqlResultSet } from '@prisma/driver-adapter-utils';
import pg from 'pg';

/**
 * Prisma's PostgreSQL adapter as the schema engine needs it. Two things differ from the one the client uses:
 * scripts go through `executeScript`, because the original cuts them at every `;`, even inside a comment; and columns
 * of the catalogs' one-byte type `"char"`, which the original refuses, are handed over as characters.
 *
 * @param pool used by the engine alone.
 */
export function schemaEngineAdapter(pool: pg.Pool, executeScript: (script: string) => Promise<void>) {
  const charColumns = relabelCharColumns(pool);
  const factory = new PrismaPg(pool);
  const connect = factory.connect.bind(factory);
  factory.connect = async () => {
    const adapter = await connect();
    const queryRaw = adapter.queryRaw.bind(adapter);
    adapter.executeScript = executeScript;
    adapter.queryRaw = async (query) => asCharacters(await queryRaw(query), charColumns);
    return adapter;
  };
  return bindMigrationAwareSqlAdapterFactory(factory);
}

/** Indexes of the `"char"` columns of an answer, by its rows: the one object that passes through the adapter unchanged. */
type CharColumns = WeakMap<object, number[]>;

/** Makes the pool describe `"char"` columns as text, which the adapter accepts, and remember which they were. */
function relabelCharColumns(pool: pg.Pool): CharColumns {
  const charColumns: CharColumns = new WeakMap();
  const query = pool.query.bind(pool) as (...args: unknown[]) => Promise<pg.QueryResult>;
  const relabelling = async (...args: unknown[]) => {
    const result = await query(...args);
    const indexes: number[] = [];
    for (const [index, field] of (result.fields ?? []).entries()) {
      if (field.dataTypeID !== pg.types.builtins.CHAR) continue;
      field.dataTypeID = pg.types.builtins.TEXT;
      indexes.push(index);
    }
    if (indexes.length > 0) charColumns.set(result.rows, indexes);
    return result;
  };
  Object.assign(pool, { query: relabelling });
  return charColumns;
}

function asCharacters(answer: SqlResultSet, charColumns: CharColumns): SqlResultSet {
  for (const index of charColumns.get(answer.rows) ?? []) answer.columnTypes[index] = ColumnTypeEnum.Character;
  return answer;
}
