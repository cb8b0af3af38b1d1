import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const bin = fileURLToPath(new URL('../bin/', import.meta.url));
const { NODE_OPTIONS: _jestOptions, ...env } = process.env;

const run = (...words: string[]) => runWith({}, ...words);

function runWith(settings: Record<string, string>, ...words: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, words, {
    encoding: 'utf8',
    env: { ...env, ...settings },
  });
  return { status, output: `${stdout}${stderr}` };
}

test('a slow setup step prints what it is doing and where its log is', () => {
  const program = `
    import { createProgress } from ${JSON.stringify(`file://${bin}prepare/progress.mjs`)};
    const work = async (tell) => {
      tell('200 packages');
      await new Promise((resolve) => setTimeout(resolve, 250));
    };
    await createProgress({ slowMs: 100 }).step('Installing packages', work, { log: '/data/setup.log' });
    await createProgress({ slowMs: 100, isQuiet: true }).step('Generating', work);`;
  const { output } = run('--input-type=module', '--eval', program);
  expect(output).toContain('… Installing packages is still running after 0 s: 200 packages. Log: /data/setup.log\n');
  expect(output).toContain('… Generating is still running after 0 s: 200 packages\n');
});

test.each([
  ['Windows', { platform: 'win32' }, 'This is win32 on x64. On Windows, use WSL.'],
  ['a processor that PostgreSQL is not built for', { arch: 'riscv64' }, /This is \w+ on riscv64/],
  ['Linux with musl', { isMusl: true }, 'without glibc'],
] as [string, { platform?: string; arch?: string; isMusl?: boolean }, string | RegExp][])(
  'on %s, npm start fails with a one-sentence error',
  (_, machine, reason) => {
    const { isMusl = false, platform = 'linux', arch = 'x64' } = machine;
    const header = isMusl ? {} : { glibcVersionRuntime: '2.36' };
    const program = `
    Object.defineProperties(process, {
      platform: { value: '${platform}' },
      arch: { value: '${arch}' },
      report: { value: { getReport: () => ({ header: ${JSON.stringify(header)} }) } },
    });`;
    const pretend = `data:text/javascript,${encodeURIComponent(program)}`;
    const { status, output } = run('--import', pretend, `${bin}start.mjs`);
    expect(status).toBe(1);
    expect(output.trim().split('\n')).toEqual([expect.stringMatching(reason)]);
  },
);

test('npm start rejects an unknown option with a one-line error before it builds anything', () => {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-start-'));
  try {
    const { status, output } = runWith({ MILLRACE_DATA_DIR: directory }, `${bin}start.mjs`, '--kafak');
    expect(status).toBe(1);
    expect(output.trim().split('\n')).toEqual([expect.stringMatching(/^✗ Unknown option --kafak/)]);
    expect(readdirSync(directory)).toEqual([]);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
