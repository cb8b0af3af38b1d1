import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEnvironment } from '@millrace/runtime';
import { hasProgram } from '@millrace/stack/run-program';
import { fetchGoSources, getModuleDirectory } from './go-program.ts';

let cache: string;
beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), 'millrace-modules-'));
});
afterEach(() => rmSync(cache, { recursive: true }));

// If Go is not installed, this test is skipped, which fails the build in CI.
((await hasProgram('go')) ? test : test.skip)('fetches sources that are not yet in the Go module cache', async () => {
  const env = { ...readEnvironment(), GOMODCACHE: cache, GOFLAGS: '-modcacherw' };
  const folder = await fetchGoSources('github.com/kedacore/keda/v2', { cwd: getModuleDirectory('keda'), env });
  expect(folder.startsWith(cache)).toBe(true);
  expect(existsSync(join(folder, 'config/crd/bases/keda.sh_scaledobjects.yaml'))).toBe(true);
});
