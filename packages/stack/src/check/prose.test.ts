import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { findTermProblems } from './field-terms.ts';
import { findProseProblems } from './prose.ts';
import { findRetiredNames } from './retired-names.ts';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'prose-'));
  for (const folder of ['docs', 'deploy', 'examples', 'packages', 'services', 'test-e2e', 'prisma'])
    await mkdir(join(root, folder));
});
afterEach(() => rm(root, { recursive: true }));

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
}

describe('the prose check', () => {
  it.each([
    ['docs/flags.md', '# Rules\n\nWhoever waits gets it.', 'docs/flags.md:3: "Whoever": name the subject'],
    ['docs/flags.md', 'A rule. Who is late waits.', 'docs/flags.md:1: "Who is late waits.": start with a noun'],
    ['README.md', '- What is refused is counted.', 'README.md:1: "What is refused is counted.": start with a noun'],
    [
      'services/a/src/b.ts',
      "const a = 1;\nthrow new Error('The client is told so.');",
      'services/a/src/b.ts:2: "is told"',
    ],
    ['services/a/src/b.ts', 'fail(`The body is no JSON.`);', 'services/a/src/b.ts:1: "is no ": is not a'],
    ['packages/a/src/b.tsx', '<p>Nobody is here</p>', 'packages/a/src/b.tsx:1: "Nobody": name the role'],
    ['packages/a/README.md', 'It runs beside the API.', 'packages/a/README.md:1: "beside": next to'],
    ['deploy/helm/values.yaml', 'a: 1 # all but for the last', 'deploy/helm/values.yaml:1: "but for": except'],
    [
      'services/a/src/b.ts',
      '/** Counts events.\n * Whoever waits. */',
      'services/a/src/b.ts:1: "Whoever": name the subject',
    ],
    [
      'services/a/src/b.test.ts',
      "it('tells nobody', () => {});",
      'services/a/src/b.test.ts:1: "nobody": name the role',
    ],
    ['test-e2e/b.test.ts', '\ntest.each([1])(`by itself %s`, () => {});', 'test-e2e/b.test.ts:2: "by itself"'],
    ['docs/flags.md', 'It has 3 letters.', 'docs/flags.md:1: "letters": dead letters'],
  ])('reports a phrase to avoid in %s: %s', async (path, text, problem) => {
    await write(path, text);
    expect(await findProseProblems(root)).toEqual([expect.stringContaining(problem)]);
  });

  it.each([
    ['docs/flags.md', 'There is no limit. Use dead letters, or letters and digits. `whoever`\n\n```\nwhoever\n```'],
    ['docs/flags.md', 'Who can sign in? What it is and is not'],
    ['services/a/src/b.ts', '// Runs as `nobody`.\nconst nobody = "somebody";'],
    ['services/a/src/b.test.ts', "// Whoever waits.\nit('sends the text', () => send('is told', `nobody`));"],
  ])('accepts plain text and code in %s: %s', async (path, text) => {
    await write(path, text);
    expect(await findProseProblems(root)).toEqual([]);
  });
});

it('the check for retired names reports their use in code and tests', async () => {
  await write('services/a/src/b.test.ts', "\nconst kept: KeptAnswer = read('KeptAnswers');");
  expect(await findRetiredNames(root)).toEqual(['services/a/src/b.test.ts:2: "KeptAnswer": use CachedResult']);
});

it('the check for terms reports a file without its term, and a term in more than five files', async () => {
  await write('services/event-consumer/src/rules/merge.ts', '// A person merge.');
  for (const name of ['a', 'b', 'c', 'd', 'e']) await write(`docs/${name}.md`, 'Person merge');
  const problems = await findTermProblems(root);
  expect(problems).toContain(
    '"person merge" occurs in 6 files: ' +
      ['a', 'b', 'c', 'd', 'e'].map((name) => `docs/${name}.md`).join(', ') +
      ', services/event-consumer/src/rules/merge.ts',
  );
  expect(problems).toContainEqual(expect.stringContaining('append.ts: must contain the term "backpressure"'));
});
