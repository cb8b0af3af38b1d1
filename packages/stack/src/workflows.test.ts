import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { publishing } from './release.ts';

interface Step {
  uses?: string;
  run?: string;
  env?: Record<string, string>;
}
interface Workflow {
  on: { push: { tags?: string[] } };
  jobs: Record<string, { strategy?: { matrix: { node?: number[]; machine?: string[] } }; steps: Step[] }>;
}

const root = fileURLToPath(new URL('../../../', import.meta.url));
const folder = join(root, '.github/workflows');
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
const readWorkflow = (name: string) => parse(readFileSync(join(folder, name), 'utf8')) as Workflow;
const stepsOf = ({ jobs }: Workflow) => Object.values(jobs).flatMap(({ steps }) => steps);
const commandsOf = (workflow: Workflow) => stepsOf(workflow).flatMap(({ run }) => run ?? []);

describe.each(readdirSync(folder))('the workflow %s', (name) => {
  const workflow = readWorkflow(name);

  test('the workflow runs only scripts that are in package.json and whose files exist', () => {
    const commands = commandsOf(workflow).filter((command) => !command.startsWith('wsl '));
    expect(commands.length).toBeGreaterThan(0);
    for (const command of commands) {
      const [, script = command, file = ''] = /^npm (?:run )?((?<=run )[\w:]+|test)(?: -- (\S+))?$/.exec(command) ?? [];
      expect(Object.keys(scripts)).toContain(script);
      expect(existsSync(join(root, file))).toBe(true);
    }
  });

  test("the workflow uses only GitHub's own actions for checkout and Node.js, pinned to a commit", () => {
    const others = stepsOf(workflow).flatMap(({ uses }) =>
      uses === undefined || /^actions\/(checkout|setup-node)@[0-9a-f]{40}$/.test(uses) ? [] : [uses],
    );
    expect(others).toEqual([]);
  });
});

test('ci.yml tests every change with each supported Node.js, and starts the system on each supported platform', () => {
  const { jobs } = readWorkflow('ci.yml');
  const firstEvent = 'npm run test:long -- packages/stack/src/start/first-event.long.test.ts';
  expect(jobs.test?.strategy?.matrix.node).toEqual([22, 24, 26]);
  expect(jobs.start?.strategy?.matrix.machine).toEqual(['ubuntu-24.04-arm', 'macos-15']);
  const commands = Object.entries(jobs).map(([name, { steps }]) => [name, steps.flatMap(({ run }) => run ?? [])]);
  expect(Object.fromEntries(commands)).toEqual({
    test: ['npm run check', firstEvent, 'npm test'],
    start: [firstEvent],
    'start-in-wsl': [expect.stringMatching(/^wsl --install/), expect.stringContaining('.github/first-event-in-wsl.sh')],
    long: ['npm run test:long'],
  });
  expect(readFileSync(join(root, '.github/first-event-in-wsl.sh'), 'utf8')).toContain(`\n${firstEvent}\n`);
});

test('release.yml publishes a release for a version tag, with every setting that publishing requires', () => {
  const workflow = readWorkflow('release.yml');
  expect(workflow.on.push.tags).toEqual(['v*']);
  const release = stepsOf(workflow).find(({ run }) => run === 'npm run release');
  expect(Object.keys(release?.env ?? {})).toEqual([...Object.keys(publishing), 'GH_TOKEN']);
});
