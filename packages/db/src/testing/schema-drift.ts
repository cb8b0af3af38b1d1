import type { SchemaEngine } from '@prisma/schema-engine-wasm';
import { noFilter, readSchema, withEngine } from '../migrations/migrate.ts';

/**
 * What would have to change in the migrated database to match `schema.prisma`, as SQL; empty when they agree. Not
 * compared, because a Prisma schema has no words for it: the partitioning of `event` and its partitions, comments, and
 * which sequence an id comes from (projects and environments share one).
 *
 * @param databaseUrl a database to which all migrations have been applied.
 */
export async function schemaDrift(databaseUrl: string, prismaDirectory: string): Promise<string> {
  const schema = await readSchema(prismaDirectory);
  return withEngine(databaseUrl, prismaDirectory, async (engine) => {
    const { stdout } = await engine.diff({
      from: { tag: 'schemaDatasource', files: [schema], configDir: prismaDirectory },
      to: { tag: 'schemaDatamodel', files: [schema] },
      script: true,
      exitCode: null,
      shadowDatabaseUrl: null,
      filters: noFilter,
    } as Parameters<SchemaEngine['diff']>[0]);
    // "Nothing to do" is said in a comment.
    const isEmpty = (stdout ?? '').split('\n').every((line) => line.trim() === '' || line.startsWith('--'));
    return isEmpty ? '' : (stdout ?? '');
  });
}
