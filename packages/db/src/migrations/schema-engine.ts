/** Loads Prisma's migration engine in plain Node.js, and adapts the database connection to the engine. */

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory, ColumnTypeEnum, type SqlResultSet } from '@prisma/driver-adapter-utils';
import type { SchemaEngine } from '@prisma/schema-engine-wasm';
import pg from 'pg';

interface EngineBindings {
  SchemaEngine: typeof SchemaEngine;
  __wbg_set_wasm(exports: unknown): void;
}

/** The WebAssembly functions used in this file, which the types of Node.js do not declare. */
declare const WebAssembly: {
  instantiate(bytes: Uint8Array, imports: unknown): Promise<{ instance: { exports: Record<string, unknown> } }>;
};

let loaded: Promise<typeof SchemaEngine> | undefined;

/**
 * Loads the migration engine, which is compiled to WebAssembly. Its package is made for bundlers that understand
 * `import … from './x.wasm'`. Plain Node.js does not understand such imports, so this code reads and binds the module.
 */
export function loadSchemaEngine(): Promise<typeof SchemaEngine> {
  loaded ??= load();
  return loaded;
}

async function load(): Promise<typeof SchemaEngine> {
  const bindingsPath = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg');
  const bindings = (await import(bindingsPath)) as EngineBindings;
  const bytes = await readFile(bindingsPath.replace(/\.js$/, '.wasm'));
  const { instance } = await WebAssembly.instantiate(bytes, {
    './schema_engine_bg.js': withTimersThatEnd(bindings),
  });
  bindings.__wbg_set_wasm(instance.exports);
  (instance.exports.__wbindgen_start as () => void)();
  return bindings.SchemaEngine;
}

/**
 * Replaces the engine's timers with ones that do not keep the process alive. The engine does not stop the ten-second
 * timer of its lock, and a process that has finished must not wait for it.
 */
function withTimersThatEnd(bindings: object): Record<string, unknown> {
  const setTimer = (callback: () => void, delayMs: number) => setTimeout(callback, delayMs).unref();
  return Object.fromEntries(
    Object.entries(bindings).map(([name, value]) => [name, name.startsWith('__wbg_setTimeout_') ? setTimer : value]),
  );
}

/**
 * Adapts Prisma's PostgreSQL adapter for the schema engine. The result differs from the client's adapter in two ways.
 * Scripts are run by `executeScript`, because the original splits them at every `;`, even in comments. Columns of the
 * catalog type `"char"` (one byte), which the original rejects, are returned as characters.
 * @param pool a pool that must not be used for anything else
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

/**
 * Maps the rows of a result to the indexes of their `"char"` columns. The key is the array of rows, because it is the
 * only object that the adapter passes on unchanged.
 */
type CharColumns = WeakMap<object, number[]>;

/**
 * Makes the pool report `"char"` columns as text, which the adapter accepts, and records the indexes of these columns.
 */
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

function asCharacters(resultSet: SqlResultSet, charColumns: CharColumns): SqlResultSet {
  for (const index of charColumns.get(resultSet.rows) ?? []) resultSet.columnTypes[index] = ColumnTypeEnum.Character;
  return resultSet;
}
