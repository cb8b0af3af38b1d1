import { join } from 'node:path';
import type { Command } from '../command.ts';
import { runProgram } from '../process/run-program.ts';

/** Each is a promise of CONTRIBUTING.md that a machine can hold. */
const checks: { name: string; program: string; arguments: string[] }[] = [
  {
    name: 'format and lint (biome)',
    program: 'biome',
    arguments: ['check', '--config-path=.biome.jsonc', '--max-diagnostics=50', '--error-on-warnings', '.'],
  },
  { name: 'types (tsc)', program: 'tsc', arguments: ['-p', '.tsconfig.json', '--pretty', 'false'] },
  {
    name: 'import rules (dependency-cruiser)',
    program: 'depcruise',
    arguments: ['--config', '.dependency-cruiser.cjs', 'packages', 'services', 'test-e2e'],
  },
  {
    name: 'cycles of folders (dependency-cruiser)',
    program: 'depcruise',
    arguments: ['--config', '.dependency-cruiser-folders.cjs', 'packages', 'services', 'test-e2e'],
  },
  {
    name: 'dead code and dependencies (knip)',
    program: 'knip',
    arguments: ['--config', '.knip.jsonc', '--no-progress', '--no-config-hints'],
  },
];

/** `pnpm check`: runs every check, shows what each has to say, fails when any fails. */
export const main: Command = async ({ progress, root }) => {
  const outcomes = await Promise.all(
    checks.map(async (check) => {
      const startedAt = Date.now();
      const { status, output } = await runProgram(join(root, 'node_modules/.bin', check.program), check.arguments, {
        cwd: root,
      });
      const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
      progress.print(`${status === 0 ? '✓' : '✗'} ${check.name} (${seconds} s)`);
      return { ...check, status, output };
    }),
  );
  const failed = outcomes.filter(({ status }) => status !== 0);
  for (const { name, output } of failed) console.log(`\n── ${name} ──\n${output.trim()}`);
  return failed.length > 0 ? 1 : 0;
};
