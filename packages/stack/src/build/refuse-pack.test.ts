import { fileURLToPath } from 'node:url';
import { runProgram } from '../run-program.ts';

/** What `npm pack` would make of sources nobody could install: they need packages that are on no registry. */
test.each(['', 'packages/browser', 'packages/react', 'packages/cli'])(
  'npm pack in the folder of sources ./%s says which folder to pack',
  async (folder) => {
    const cwd = fileURLToPath(new URL(`../../../../${folder}`, import.meta.url));
    const { status, output } = await runProgram('npm', ['pack', '--dry-run'], { cwd });
    expect(status).toBe(1);
    expect(output).toContain('npm run build && npm pack ./packages/browser/dist ./packages/react/dist\n');
  },
  120_000,
);
