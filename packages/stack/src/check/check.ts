// `npm run check`: runs all checks of the repository, such as types, formatting and import rules.

import { join } from 'node:path';
import type { Command } from '../command.ts';
import { findDocumentProblems } from '../docs/documents.ts';
import { runProgram } from '../run-program.ts';
import { findTermProblems } from './field-terms.ts';
import { findProseProblems } from './prose.ts';
import { findRetiredNames } from './retired-names.ts';

const programs: { name: string; program: string; arguments: string[] }[] = [
  {
    name: 'format and lint (biome)',
    program: 'biome',
    arguments: ['check', '--config-path=.biome.jsonc', '--max-diagnostics=50', '--error-on-warnings', '.'],
  },
  { name: 'types (tsc)', program: 'tsc', arguments: ['-p', '.tsconfig.json', '--pretty', 'false'] },
  {
    name: 'types of the browser library (tsc)',
    program: 'tsc',
    arguments: ['-p', 'packages/browser', '--pretty', 'false'],
  },
  {
    name: 'types of the React library (tsc)',
    program: 'tsc',
    arguments: ['-p', 'packages/react', '--pretty', 'false'],
  },
  {
    name: 'types of the console (tsc)',
    program: 'tsc',
    arguments: ['-p', 'packages/console', '--pretty', 'false'],
  },
  {
    name: 'import rules (dependency-cruiser)',
    program: 'depcruise',
    arguments: ['--config', '.dependency-cruiser.cjs', 'packages', 'services', 'test-e2e'],
  },
  {
    name: 'dead code and dependencies (knip)',
    program: 'knip',
    arguments: ['--config', '.knip.mjs', '--no-progress', '--no-config-hints'],
  },
  {
    name: 'code used only by tests (knip)',
    program: 'knip',
    arguments: [
      '--config',
      '.knip.mjs',
      '--no-progress',
      '--no-config-hints',
      '--production',
      '--include',
      'files,exports',
    ],
  },
  { name: 'spelling (cspell)', program: 'cspell', arguments: ['lint', '--config=.cspell.json', '--no-progress'] },
];

/** The outcome of a check. A status other than 0 means failure. */
interface Outcome {
  status: number;
  output: string;
}

export const main: Command = async ({ progress, root }) => {
  async function run(name: string, check: () => Promise<Outcome>): Promise<Outcome & { name: string }> {
    const startedAt = Date.now();
    const { status, output } = await check();
    const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
    progress.print(`${status === 0 ? '✓' : '✗'} ${name} (${seconds} s)`);
    return { name, status, output };
  }

  const outcomes = await Promise.all([
    ...programs.map(({ name, program, arguments: programArguments }) =>
      run(name, () => runProgram(join(root, 'node_modules/.bin', program), programArguments, { cwd: root })),
    ),
    run('links and references in documents', () => outcomeOf(findDocumentProblems(root))),
    run('phrases to avoid', () => outcomeOf(findProseProblems(root))),
    run('terms to search for', () => outcomeOf(findTermProblems(root))),
    run('retired names', () => outcomeOf(findRetiredNames(root))),
  ]);
  const failed = outcomes.filter(({ status }) => status !== 0);
  for (const { name, output } of failed) console.log(`\n── ${name} ──\n${output.trim()}`);
  return failed.length > 0 ? 1 : 0;
};

async function outcomeOf(checked: Promise<string[]>): Promise<Outcome> {
  const problems = await checked;
  return { status: problems.length, output: problems.join('\n') };
}
