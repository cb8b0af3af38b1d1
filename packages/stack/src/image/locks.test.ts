import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BaseLock, readBaseLock } from './base.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
let lock: BaseLock;

beforeAll(async () => {
  lock = await readBaseLock(root);
});

test('Node.js and packages have the same versions for all platforms', () => {
  const versionsOf = ({ node, debian }: BaseLock['amd64']) => [
    node.version,
    ...debian.map(({ name, version }) => `${name} ${version}`),
  ];
  expect(versionsOf(lock.arm64)).toEqual(versionsOf(lock.amd64));
});

test('the Dockerfile builds with the Node.js version of the image', async () => {
  const dockerfile = await readFile(join(root, 'deploy/image/Dockerfile'), 'utf8');
  expect(dockerfile).toContain(` node:${lock.amd64.node.version}-`);
});
