import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createTestDatabase, eventually, type TestDatabase, testServers, uniqueTopicPrefix } from '@millrace/testing';
import { type Container, explainMissingContainers, startContainer } from './start-container.ts';
import { type UnpackedImage, unpackImages } from './unpack-image.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));

let directory: string;
let archive: string;
let amd64: UnpackedImage;
let arm64: UnpackedImage;
/** The image for this machine's processor architecture. */
let own: UnpackedImage;

/** @param node the Node.js program that builds the image; the image must not depend on its version */
const buildImage = (output: string, node = process.execPath) =>
  run(node, ['packages/stack/bin/image.mjs', '--platform', 'linux/amd64,linux/arm64', '--output', output], {
    cwd: root,
  });

async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrace-image-'));
  archive = join(directory, 'image.tar');
  await buildImage(archive);
  const [first, second] = await unpackImages(archive, directory);
  if (!first || !second) throw new Error('the archive has no two images');
  [amd64, arm64] = [first, second];
  own = process.arch === 'arm64' ? arm64 : amd64;
});
afterAll(() => rm(directory, { recursive: true, force: true }));

describe('content of the image', () => {
  test('the image is byte-identical when another Node.js version builds it', async () => {
    const again = join(directory, 'again.tar');
    await buildImage(again, join(own.rootfs, 'usr/bin/node'));
    expect(await hashOf(again)).toBe(await hashOf(archive));
  });

  test('the image has a download size below 68 MB, most of it in layers that do not change between versions', () => {
    for (const { layerSizes } of [amd64, arm64]) {
      expect(layerSizes).toHaveLength(4);
      expect(layerSizes.reduce((sum, size) => sum + size)).toBeLessThan(68_000_000);
      // The last layer contains the programs, the sign-in providers' clients, the console and the documentation in
      // three encodings, the password dictionary, and the reports' fonts.
      expect(layerSizes.at(-1)).toBeLessThan(10_000_000);
    }
  });

  test.each([
    ['amd64', () => amd64, 0x3e],
    ['arm64', () => arm64, 0xb7],
  ] as const)('the image contains machine code only for %s', async (architecture, image, machine) => {
    const { config, rootfs } = image();
    expect(config.architecture).toBe(architecture);
    const found = await machinesOf(rootfs);
    expect(found.size).toBeGreaterThan(8);
    expect([...found].filter(([, one]) => one !== machine)).toEqual([]);
  });

  test('the image has labels with version, license and commit, and does not run as root', async () => {
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    expect(own.config.config).toMatchObject({ User: '65532:65532', Entrypoint: ['/usr/bin/node'], WorkingDir: '/app' });
    expect(own.config.config.Labels).toMatchObject({
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.licenses': 'Apache-2.0',
      'org.opencontainers.image.revision': expect.stringMatching(/^[0-9a-f]{40}$/),
    });
  });

  test('the image contains no shell, no package manager, no setuid files and no writable files', async () => {
    const files = await filesOf(own.rootfs);
    expect((await readdir(join(own.rootfs, 'usr/bin'))).sort()).toEqual(['millrace', 'node']);
    expect(files.filter(({ mode }) => (mode & 0o6022) !== 0)).toEqual([]);
    expect(files.filter(({ mode }) => (mode & 0o004) === 0)).toEqual([]);
    expect(files.filter(({ path }) => /\.(env|pem|key|npmrc)$|\/\.git/.test(path))).toEqual([]);
  });

  test('the image does not contain paths of the build machine', async () => {
    const texts = (await filesOf(join(own.rootfs, 'app'))).filter(({ path }) => /\.(mjs|map|json|txt)$/.test(path));
    expect(texts.length).toBeGreaterThan(50);
    // Omit the leading slash, because source maps contain relative paths.
    const place = root.slice(1);
    const naming = await Promise.all(
      texts.map(async ({ path }) => ((await readFile(path, 'utf8')).includes(place) ? [path] : [])),
    );
    expect(naming.flat()).toEqual([]);
  });

  test('the image contains the licenses, and a bill of materials with versions', async () => {
    const sbom = JSON.parse(await readFile(join(own.rootfs, 'usr/share/sbom/millrace.cdx.json'), 'utf8'));
    expect(sbom).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6' });
    const purls: string[] = sbom.components.map(({ purl }: { purl: string }) => purl.replace(/@[^@]*$/, ''));
    expect(purls).toEqual(expect.arrayContaining(['pkg:npm/express', 'pkg:npm/kafkajs', 'pkg:npm/%40prisma/client']));
    expect(purls).toEqual(expect.arrayContaining(['pkg:deb/debian/libc6', 'pkg:deb/debian/libstdc%2B%2B6']));
    expect(purls.filter((purl) => /jest|typescript|posthog-js/.test(purl))).toEqual([]);
    const licenses = await readFile(join(own.rootfs, 'app/THIRD-PARTY-LICENSES.txt'), 'utf8');
    for (const purl of purls.filter((one) => one.startsWith('pkg:npm/') && !one.includes('node-linux'))) {
      expect(licenses).toContain(`## ${decodeURIComponent(purl.slice('pkg:npm/'.length))} `);
    }
  });
});

const unavailable = explainMissingContainers();
if (unavailable) process.stdout.write(`\n! The image is not run: ${unavailable}\n`);

// If this machine cannot create containers, these tests are skipped, which fails the build in CI.
(unavailable === '' ? describe : describe.skip)('the image, run read-only as an unprivileged user', () => {
  let database: TestDatabase;
  let settings: Record<string, string>;
  let keys: { projectApiKey: string; personalApiKey: string; projectId: number };
  const services: Record<string, Container> = {};
  const urlOf = async (name: string) => `http://127.0.0.1:${await services[name]?.port()}`;

  beforeAll(async () => {
    const servers = testServers();
    database = await createTestDatabase({ isMigrated: false });
    settings = {
      DATABASE_URL: database.url,
      EVENT_LOG: 'kafka',
      KAFKA_BROKERS: servers.kafkaBrokers.join(','),
      REDIS_URL: servers.redisUrl,
      TOPIC_PREFIX: uniqueTopicPrefix(),
      TOPIC_PARTITIONS: '2',
      ...Object.fromEntries(['INGEST_PORT', 'API_PORT', 'HEALTH_PORT', 'STOP_DELAY_MS'].map((name) => [name, '0'])),
    };
  });
  afterAll(async () => {
    for (const { signal, ended } of Object.values(services)) {
      try {
        signal('SIGKILL');
      } catch {}
      await ended;
    }
    await database?.drop();
  });

  test('the image has a supported Node.js version, certificate authorities, time zones and name resolution', async () => {
    const { ended, output } = startContainer(own, {
      words: [
        '-p',
        `JSON.stringify({
          line: process.versions.node.split('.')[0], uid: process.getuid(), pid: process.pid, groups: process.getgroups().length,
          authorities: require('tls').rootCertificates.length > 100,
          noon: new Date('2026-07-01T10:00:00Z').toLocaleTimeString('de', { timeZone: 'Europe/Berlin' }),
        })`,
      ],
    });
    expect(await ended).toBe(0);
    expect(JSON.parse(output())).toEqual({
      ...{ line: '26', uid: 65532, pid: 1, groups: 1 },
      ...{ authorities: true, noon: '12:00:00' },
    });
  });

  test('migrates an empty database and creates the first keys with `millrace bootstrap`', async () => {
    const { ended, output } = startContainer(own, {
      words: ['millrace.mjs', '--json', 'bootstrap', '--email', 'first@example.com'],
      settings,
    });
    expect([await ended, output()]).toEqual([0, expect.stringContaining('projectApiKey')]);
    // Each log record is one line, but the JSON result has several lines.
    keys = JSON.parse(String(/^\{$[\s\S]*?^\}$/m.exec(output())?.[0]));
  });

  test('has `millrace` in the PATH, as kubectl exec requires', async () => {
    const { ended, output } = startContainer(own, {
      entrypoint: [],
      words: ['/usr/bin/millrace', 'org', 'list'],
      settings,
    });
    expect([await ended, output()]).toEqual([0, expect.stringContaining('My organization')]);
  });

  test.each(['management-api', 'event-consumer', 'delivery-worker', 'ingest-gateway'])(
    'starts %s until it is ready',
    async (name) => {
      services[name] = startContainer(own, { words: [`${name}.mjs`], settings });
      const url = await urlOf(name);
      await eventually(async () => (await fetch(`${url}/_readiness`)).ok, { what: `Readiness of ${name}` });
    },
  );

  test('services in the image store and return an accepted event', async () => {
    const response = await fetch(`${await urlOf('ingest-gateway')}/capture/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ api_key: keys.projectApiKey, event: 'from the image', distinct_id: 'ada' }),
    });
    expect(response.status).toBe(200);
    const list = `${await urlOf('management-api')}/api/projects/${keys.projectId}/events/?event=from%20the%20image`;
    await eventually(async () => {
      const found = await fetch(list, { headers: { authorization: `Bearer ${keys.personalApiKey}` } });
      expect(await found.json()).toMatchObject({ results: [{ event: 'from the image', distinct_id: 'ada' }] });
    });
  });

  test('the image runs as any user, as OpenShift requires', async () => {
    const { ended, output } = startContainer(own, {
      words: ['millrace.mjs', '--json', 'offsets', 'list'],
      settings,
      user: '1000690000:0',
    });
    expect([await ended, output()]).toEqual([0, expect.stringContaining('events.live')]);
  });

  test.each(['ingest-gateway', 'event-consumer', 'delivery-worker', 'management-api'])(
    'runs %s as process 1, and exits on SIGTERM',
    async (name) => {
      services[name]?.signal('SIGTERM');
      expect([await services[name]?.ended, services[name]?.output()]).toEqual([0, expect.stringContaining('stopped')]);
    },
  );

  test('stores and returns an event with all services in one process, and exits on SIGTERM', async () => {
    const { signal, ended, output, port } = startContainer(own, { words: ['all-in-one.mjs'], settings });
    const healthUrl = `http://127.0.0.1:${await port()}`;
    await eventually(async () => (await fetch(`${healthUrl}/_readiness`)).ok, { what: 'Readiness of all-in-one' });
    const [ingest, api] = ['ingestPort', 'apiPort'].map((name) => new RegExp(`"${name}":(\\d+)`).exec(output())?.[1]);
    const response = await fetch(`http://127.0.0.1:${ingest}/capture/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ api_key: keys.projectApiKey, event: 'from one process', distinct_id: 'ada' }),
    });
    expect(response.status).toBe(200);
    const list = `http://127.0.0.1:${api}/api/projects/${keys.projectId}/events/?event=from%20one%20process`;
    await eventually(async () => {
      const found = await fetch(list, { headers: { authorization: `Bearer ${keys.personalApiKey}` } });
      expect(await found.json()).toMatchObject({ results: [{ event: 'from one process', distinct_id: 'ada' }] });
    });
    signal('SIGTERM');
    expect([await ended, output()]).toEqual([0, expect.stringContaining('stopped')]);
  });
});

interface FoundFile {
  path: string;
  mode: number;
}

async function filesOf(rootfs: string): Promise<FoundFile[]> {
  // Use `find`, because `readdir` follows the image's links in some Node.js versions.
  const { stdout } = await run('find', [rootfs, '-type', 'f', '-print0'], { maxBuffer: 100_000_000 });
  const paths = stdout.split('\0').filter(Boolean);
  return Promise.all(paths.map(async (path) => ({ path, mode: (await stat(path)).mode })));
}

/** Returns the machine type from the ELF header of each file with machine code, by file path. */
async function machinesOf(rootfs: string): Promise<Map<string, number>> {
  const machines = new Map<string, number>();
  for (const { path } of await filesOf(rootfs)) {
    const content = await readFile(path);
    if (content.length > 20 && content.readUInt32BE(0) === 0x7f454c46) machines.set(path, content.readUInt16LE(18));
  }
  return machines;
}
