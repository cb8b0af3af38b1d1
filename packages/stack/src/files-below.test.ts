import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { listFilesBelow } from '../bin/prepare/files-below.mjs';

test('listing files reports links without following them, and terminates if packages link to each other', () => {
  const root = mkdtempSync(join(tmpdir(), 'millrace-files-'));
  for (const path of ['a/src/one.ts', 'b/two.ts', 'b/node_modules/c/three.ts']) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), '');
  }
  symlinkSync(join(root, 'b'), join(root, 'a/b'));
  symlinkSync(root, join(root, 'b/all'));

  const found = (options = {}) =>
    listFilesBelow(root, options).map(({ path, isLink }) => `${path.slice(root.length)}${isLink ? ' ->' : ''}`);
  expect(found()).toEqual(['/a/b ->', '/a/src/one.ts', '/b/all ->', '/b/two.ts']);
  expect(found({ withPackages: true })).toEqual([
    ...['/a/b ->', '/a/src/one.ts', '/b/all ->', '/b/node_modules/c/three.ts', '/b/two.ts'],
  ]);
  rmSync(root, { recursive: true });
});
