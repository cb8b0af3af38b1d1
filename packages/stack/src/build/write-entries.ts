import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What a service itself is compiled to; the file of its name begins it. */
export const serviceFile = (name: string) => `${name}-service`;

/**
 * The files that are run: `<name>.mjs` of each service. Process 1 of a container hears only the signals that it has asked for, and
 * reading a service in takes longer than asking: a pod that is deleted in its first second would be waited for until its grace is over.
 * From `runService` on the service hears them itself.
 */
export async function writeEntries(outDirectory: string, names: readonly string[]): Promise<void> {
  await Promise.all(names.map((name) => writeFile(join(outDirectory, `${name}.mjs`), entryOf(name))));
}

function entryOf(name: string): string {
  return `const leave = () => process.exit(0);
process.on('SIGTERM', leave).on('SIGINT', leave);
await import('./${serviceFile(name)}.mjs');
`;
}
