import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface PrismaCopy {
  directory: string;
  write(name: string, sql: string): void;
  names(): string[];
  read(name: string): string;
  /** Removes migrations, so that the copy has the schema of an older version. */
  leaveOut(names: string[]): void;
  remove(): void;
}

export function copyPrismaDirectory(prismaDirectory: string): PrismaCopy {
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
