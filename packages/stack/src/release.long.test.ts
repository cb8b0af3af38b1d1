import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse, parseAllDocuments } from 'yaml';
import { ensureKubectlAndHelm } from './fetched-programs.ts';
import { detectPlatform } from './image/base.ts';
import { publish } from './release.ts';
import { runProgram } from './run-program.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../', import.meta.url));
const { architecture } = detectPlatform();

let directory: string;
let made: string;
let version: string;
const json = async (...path: string[]) => JSON.parse(await readFile(join(...path), 'utf8'));

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrace-release-test-'));
  made = join(directory, 'made');
  ({ version } = await json(root, 'package.json'));
  const words = ['--dry-run', '--platform', `linux/${architecture}`, '--output', made];
  await run('npm', ['run', 'release', '--', ...words], { cwd: root });
});
afterAll(() => rm(directory, { recursive: true, force: true }));

test('SHA256SUMS lists every file with its checksum, and nothing else', async () => {
  const { stdout } = await run('sha256sum', ['-c', 'SHA256SUMS'], { cwd: made });
  const checked = stdout.trim().split('\n');
  expect(checked.every((line) => line.endsWith(': OK'))).toBe(true);
  expect([...checked.map((line) => line.replace(': OK', '')), 'SHA256SUMS'].sort()).toEqual(
    (await readdir(made)).sort(),
  );
});

test('an application can install and import the npm packages', async () => {
  const application = join(directory, 'application');
  await mkdir(join(application, 'node_modules'), { recursive: true });
  await writeFile(join(application, 'package.json'), '{ "type": "module" }');
  const files = ['browser', 'react'].map((name) => join(made, `millrace-${name}-${version}.tgz`));
  await run('npm', ['install', '--offline', '--legacy-peer-deps', '--no-audit', ...files], { cwd: application });
  await symlink(join(root, 'packages/react/node_modules/react'), join(application, 'node_modules/react'));
  const program = `
    const [browser, react] = [await import('@millrace/browser'), await import('@millrace/react')];
    console.log(typeof browser.posthog.capture, typeof react.PostHogProvider);`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], { cwd: application });
  expect(stdout.trim()).toBe('function function');
  expect((await json(application, 'node_modules/@millrace/browser/package.json')).version).toBe(version);
});

test('Helm can show and render the chart', async () => {
  const { helm } = await ensureKubectlAndHelm();
  const file = join(made, `millrace-${version}.tgz`);
  const { stdout: about } = await run(helm, ['show', 'chart', file]);
  expect(parse(about)).toMatchObject({ name: 'millrace', version, appVersion: version });
  const { stdout: values } = await run(helm, ['show', 'values', file]);
  expect(values).toBe(`${await readFile(join(root, 'deploy/helm/millrace/values.yaml'), 'utf8')}\n`);
  const stores = ['postgresql.url=postgresql://m:s@db:5432/m', 'kafka.brokers={kafka:9092}'];
  const rendered = async (source: string) => {
    const words = ['template', 'm', source, ...stores.flatMap((one) => ['--set', one])];
    // Remove secrets, because each rendering generates new ones.
    return (await run(helm, words, { maxBuffer: 1e8 })).stdout.replaceAll(/(SECRETS_KEY|TOKEN_SECRET): .+/g, '$1');
  };
  const stdout = await rendered(file);
  expect(stdout).toBe(await rendered(join(root, 'deploy/helm/millrace')));
  const objects = parseAllDocuments(stdout).map((document) => document.toJS());
  const deployments = objects.filter((one) => one?.kind === 'Deployment').map(({ metadata }) => metadata.name);
  expect(deployments).toEqual(expect.arrayContaining(['m-millrace-gateway', 'm-millrace-delivery-worker']));
});

test('the image has the right version and platform, and each layer matches its digest in the manifest', async () => {
  const layout = join(directory, 'layout');
  await mkdir(layout);
  await run('tar', ['-xf', join(made, `millrace-image-${version}.tar`), '-C', layout]);
  const blob = ({ digest }: { digest: string }) => join(layout, 'blobs', digest.replace(':', '/'));
  const [entry] = (await json(layout, 'index.json')).manifests;
  expect(entry.annotations['io.containerd.image.name']).toBe(`docker.io/millrace/millrace:${version}`);
  const manifest = await json(blob(entry));
  const config = await json(blob(manifest.config));
  expect(config).toMatchObject({ architecture, os: 'linux', config: { User: '65532:65532', Cmd: ['millrace.mjs'] } });
  expect(config.config.Labels['org.opencontainers.image.version']).toBe(version);
  expect(manifest.layers).toHaveLength(4);
  for (const layer of manifest.layers) {
    const hash = createHash('sha256').update(await readFile(blob(layer)));
    expect(`sha256:${hash.digest('hex')}`).toBe(layer.digest);
  }
});

test('the bill of materials lists the packages in the image', async () => {
  const sbom = await json(made, `millrace-image-${version}-${architecture}.cdx.json`);
  expect(sbom).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { name: 'millrace', version } } });
  const { dependencies } = await json(root, 'packages/event-log/package.json');
  const kafkajs = sbom.components.find(({ name }: { name: string }) => name === 'kafkajs');
  expect(kafkajs).toMatchObject({ version: dependencies.kafkajs, purl: `pkg:npm/kafkajs@${dependencies.kafkajs}` });
});

test('the release notes contain only the changelog section of this version', async () => {
  const notes = await readFile(join(made, 'release-notes.md'), 'utf8');
  expect(notes).toContain(`# Millrace ${version}`);
  expect(notes).toContain('**Ingestion**');
  expect(notes).not.toMatch(/^## |\]\(docs\//m);
});

test('publishing without its required settings lists them and does not build anything', async () => {
  const output = join(directory, 'none');
  const published = await runProgram('npm', ['run', 'release', '--', '--output', output], { cwd: root });
  expect(published.status).toBe(1);
  for (const name of [
    'NODE_AUTH_TOKEN',
    'IMAGE_REPOSITORY',
    'CHART_REPOSITORY',
    'REGISTRY_USER',
    'REGISTRY_PASSWORD',
  ]) {
    expect(published.output).toContain(`- ${name}: `);
  }
  expect(await readdir(directory)).not.toContain('none');
});

describe('publishing a release', () => {
  const progress = { print: () => {}, step: <T>(_: string, work: (tell: () => void) => Promise<T>) => work(() => {}) };
  let programs: string;
  let release: { version: string; output: string; progress: typeof progress };
  let env: NodeJS.ProcessEnv;

  beforeAll(async () => {
    programs = join(directory, 'programs');
    await mkdir(programs);
    release = { version: '1.2.3', output: made, progress };
    for (const name of ['skopeo', 'helm', 'npm', 'gh']) {
      const script = `#!/bin/sh\nprintf '%s|%s\\n' "${name} $*" "$(cat)" >>"$CALLS"\n[ "$1" != "$FAILING" ]\n`;
      await writeFile(join(programs, name), script);
      await chmod(join(programs, name), 0o755);
    }
    const repositories = { IMAGE_REPOSITORY: 'r.example/m/millrace', CHART_REPOSITORY: 'c.example/charts' };
    const PATH = `${programs}:${process.env.PATH}`;
    env = { PATH, ...repositories, REGISTRY_USER: 'ada', REGISTRY_PASSWORD: 'secret' };
  });

  test('logs in without exposing the password, and uploads the image, the chart and the packages', async () => {
    const calls = join(directory, 'calls');
    await publish(release, { ...env, CALLS: calls, GH_TOKEN: 'token' });
    expect((await readFile(calls, 'utf8')).replaceAll(`${made}/`, '').trim().split('\n')).toEqual([
      'skopeo login -u ada --password-stdin r.example|secret',
      'skopeo copy --all oci-archive:millrace-image-1.2.3.tar docker://r.example/m/millrace:1.2.3|',
      'helm registry login -u ada --password-stdin c.example|secret',
      'helm push millrace-1.2.3.tgz oci://c.example/charts|',
      'npm publish --access public millrace-browser-1.2.3.tgz|',
      'npm publish --access public millrace-react-1.2.3.tgz|',
      `gh release create v1.2.3 --notes-file release-notes.md ${(await readdir(made)).sort().join(' ')}|`,
    ]);
  });

  test('stops if a step fails, before any package is published', async () => {
    const calls = join(directory, 'failed-calls');
    await expect(publish(release, { ...env, CALLS: calls, FAILING: 'push' })).rejects.toThrow('helm push failed (1)');
    expect(await readFile(calls, 'utf8')).not.toContain('npm');
  });
});
