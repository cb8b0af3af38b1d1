import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runProgram } from '../run-program.ts';

const hook = fileURLToPath(new URL('../../../../.githooks/commit-msg', import.meta.url));
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'commit-'));
});
afterAll(() => rm(directory, { recursive: true }));

async function checkMessage(message: string) {
  const file = join(directory, 'message');
  await writeFile(file, message);
  return runProgram('sh', [hook, file]);
}

it('the commit hook accepts a subject of 72 characters, and longer lines in the body', async () => {
  const message = `\n# Template\n${'ä'.repeat(72)}\n\n${'b'.repeat(100)}\n`;
  expect(await checkMessage(message)).toEqual({ status: 0, output: '' });
});

it('the commit hook rejects a subject of 73 characters', async () => {
  const { status, output } = await checkMessage(`${'a'.repeat(73)}\n`);
  expect(status).toBe(1);
  expect(output).toContain('has 73 characters');
});
