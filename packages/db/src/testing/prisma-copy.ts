import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface PrismaCopy {
  directory: string;
  /** Adds a migration, or replaces it. */
  write(name: string, sql: string): void;
  /** Names of its migrations, in order. */
  names(): string[];
  /** What a migration consists of. */
  read(name: string): string;
  /** Takes migrations out of it, for a database that is older. */
  leaveOut(names: string[]): void;
  remove(): void;
}

/** A copy of `prisma/` that a test may change. */
export function copyOfPrisma(prismaDirectory: string): PrismaCopy {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-prisma-'));
  cpSync(prismaDirectory, directory, { recursive: true });
  const migrations = join(directory, 'migrations');
  return {
    directory,
    write(name, sql) {
      mkdirSync(join(migrations, name), { recursive: true });
      writeFileSync(join(migrations, name, 'migration.sql'), sql);
    },
    read: (name) => readFileSync(join(migrations, name, 'migration.sql'), 'utf8'),
    names: () =>
      readdirSync(migrations, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => name)
        .sort(),
    leaveOut(names) {
      for (const name of names) rmSync(join(migrations, name), { recursive: true });
    },
    remove: () => rmSync(directory, { recursive: true }),
  };
}
