import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { migrate } from '@millrace/db';
import type { Command } from 'commander';
import { createPrinter } from '../print.ts';
import { UsageError } from '../refusals.ts';
import { type GlobalOptions, readDatabaseUrl } from '../session.ts';
import type { Terminal } from '../terminal.ts';

/** Where schema and migrations are: beside the built program, or at the repository's root, seen from this file. */
export const defaultPrismaDirectory =
  ['./prisma', '../../../../prisma'].map((path) => fileURLToPath(new URL(path, import.meta.url))).find(existsSync) ??
  '';

export function addMigrateCommand(program: Command, terminal: Terminal): void {
  program
    .command('migrate')
    .description('bring the database to the newest schema; safe to repeat and to start from several places')
    .option('--prisma-directory <path>', 'folder with schema.prisma and migrations/', defaultPrismaDirectory)
    .action(async ({ prismaDirectory }: { prismaDirectory: string }, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>();
      const applied = await migrateFrom(prismaDirectory, readDatabaseUrl(options, terminal));
      const printer = createPrinter(terminal, options.json === true);
      if (applied.length === 0) printer.note('The database is up to date.');
      if (applied.length > 0 || options.json) printer.record({ applied });
    });
}

/** @throws UsageError when there are no migrations in the folder, else as `migrate`. */
export async function migrateFrom(prismaDirectory: string, databaseUrl: string): Promise<string[]> {
  if (!existsSync(join(prismaDirectory, 'migrations'))) {
    throw new UsageError(`--prisma-directory: no migrations in ${prismaDirectory}`);
  }
  return migrate(databaseUrl, prismaDirectory);
}
