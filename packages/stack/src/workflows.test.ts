import { readdirSync, readFileSync } from 'node:fs';
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
  jobs: Record<string, { strategy?: { matrix: { node: number[] } }; steps: Step[] }>;
}

const root = fileURLToPath(new URL('../../../', import.meta.url));
const folder = join(root, '.github/workflows');
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
const readWorkflow = (name: string) => parse(readFileSync(join(folder, name), 'utf8')) as Workflow;
const stepsOf = ({ jobs }: Workflow) => Object.values(jobs).flatMap(({ steps }) => steps);
const commandsOf = (workflow: Workflow) => stepsOf(workflow).flatMap(({ run }) => run ?? []);

describe.each(readdirSync(folder))('%s', (name) => {
  const workflow = readWorkflow(name);

  test('runs nothing but scripts that package.json has', () => {
    const named = commandsOf(workflow).map(
      (command) => /^npm (?:run )?((?<=run )[\w:]+|test)$/.exec(command)?.[1] ?? command,
    );
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((script) => !(script in scripts))).toEqual([]);
  });

  test('uses only the checkout and Node of GitHub itself, each by its commit', () => {
    const others = stepsOf(workflow).flatMap(({ uses }) =>
      uses === undefined || /^actions\/(checkout|setup-node)@[0-9a-f]{40}$/.test(uses) ? [] : [uses],
    );
    expect(others).toEqual([]);
  });
});

test('every change is checked and tested on each Node that is supported, and at length on one', () => {
  const { jobs } = readWorkflow('ci.yml');
  expect(jobs.test?.strategy?.matrix.node).toEqual([20, 22, 24]);
  expect(Object.values(jobs).map(({ steps }) => steps.flatMap(({ run }) => run ?? []))).toEqual([
    ['npm run check', 'npm test'],
    ['npm run test:long'],
  ]);
});

test('a tag of a version releases it, with every setting that publishing takes', () => {
  const workflow = readWorkflow('release.yml');
  expect(workflow.on.push.tags).toEqual(['v*']);
  const release = stepsOf(workflow).find(({ run }) => run === 'npm run release');
  expect(Object.keys(release?.env ?? {})).toEqual([...Object.keys(publishing), 'GH_TOKEN']);
});
