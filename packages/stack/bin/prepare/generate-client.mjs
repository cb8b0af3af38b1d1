import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runQuietly } from './run-quietly.mjs';
import { SetupProblem } from './setup-problem.mjs';
import { createStamp } from './stamp.mjs';

/** Generates the typed database client when the schema or the generator has changed. */
export function clientGeneration(root) {
  const generated = join(root, 'packages/db/src/generated');
  const generator = join(root, 'packages/db/bin/generate.mjs');
  const stamp = createStamp(join(generated, '.made-from'), [
    join(root, 'prisma/schema.prisma'),
    generator,
    join(root, 'packages/db/package.json'),
  ]);
  return {
    isDone: () => stamp.isCurrent() && existsSync(join(generated, 'client.ts')),
    run: (progress) =>
      progress.step('Generating the database client', async () => {
        const { status, output } = await runQuietly(process.execPath, [generator, '--quiet'], { cwd: root });
        if (status !== 0) throw new SetupProblem(`The database client could not be generated:\n${output.trim()}`);
        stamp.write();
      }),
  };
}
