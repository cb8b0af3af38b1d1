import { fileURLToPath } from 'node:url';
import { runProgram } from '../run-program.ts';

/** A package of the sources could not be installed, because it would depend on packages that no registry contains. */
test.each(['', 'packages/browser', 'packages/react', 'packages/cli'])(
  'npm pack fails in the source directory ./%s and names the directories to pack',
  async (folder) => {
    const cwd = fileURLToPath(new URL(`../../../../${folder}`, import.meta.url));
    const { status, output } = await runProgram('npm', ['pack', '--dry-run'], { cwd });
    expect(status).toBe(1);
    expect(output).toContain('npm run build && npm pack ./packages/browser/dist ./packages/react/dist\n');
  },
  120_000,
);
