import type { SchemaEngine } from '@prisma/schema-engine-wasm';
import { noSchemaFilter, readPrismaSchema, withSchemaEngine } from '../migrations/migrate.ts';

/**
 * Returns the SQL that would make the migrated database match `schema.prisma`, or an empty string if they match.
 * Ignores what a Prisma schema cannot express: the partitions of `event`, comments, and the ID sequence that projects
 * and environments share.
 * @param databaseUrl a database to which all migrations have been applied
 */
export async function computeSchemaDrift(databaseUrl: string, prismaDirectory: string): Promise<string> {
  const schema = await readPrismaSchema(prismaDirectory);
  return withSchemaEngine(databaseUrl, prismaDirectory, async (engine) => {
    const { stdout } = await engine.diff({
      from: { tag: 'schemaDatasource', files: [schema], configDir: prismaDirectory },
      to: { tag: 'schemaDatamodel', files: [schema] },
      script: true,
      exitCode: null,
      shadowDatabaseUrl: null,
      filters: noSchemaFilter,
    } as Parameters<SchemaEngine['diff']>[0]);
    // If the schemas match, the script contains only a comment.
    const isEmpty = (stdout ?? '').split('\n').every((line) => line.trim() === '' || line.startsWith('--'));
    return isEmpty ? '' : (stdout ?? '');
  });
}
