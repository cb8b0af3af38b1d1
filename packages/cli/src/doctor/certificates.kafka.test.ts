import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import {
  createTestDatabase,
  startMailServer,
  startTlsProxy,
  type TestCertificate,
  type TestDatabase,
  testCertificates,
  testServers,
} from '@millrace/testing';
import { runCli } from '../program.ts';
import { judgePresentedCertificates, readPresentedCertificates, type TlsServer } from './certificates.ts';
import type { NamedFinding } from './checks.ts';

const servers = testServers();
const { authorityFile, otherAuthorityFile, expiredFile } = testCertificates;
const [thisHost, otherHost, expired] = [
  testCertificates.ofThisHost(),
  testCertificates.ofOtherHost(),
  testCertificates.expired(),
];
let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterAll(() => testDatabase.drop());

interface Store {
  target: () => URL;
  protocol: 'postgres' | 'tls';
  settings: (port: number, caFile: string) => Record<string, string>;
}

const stores: Record<string, Store> = {
  'postgresql certificate': {
    target: () => new URL(testDatabase.url),
    protocol: 'postgres',
    settings(port, DATABASE_SSL_CA_FILE) {
      const url = new URL(testDatabase.url);
      [url.hostname, url.port] = ['localhost', String(port)];
      return { DATABASE_URL: url.toString(), DATABASE_SSL_MODE: 'verify-full', DATABASE_SSL_CA_FILE };
    },
  },
  'redis certificate': {
    target: () => new URL(servers.redisUrl),
    protocol: 'tls',
    settings: (port, REDIS_CA_FILE) => ({ REDIS_URL: `rediss://localhost:${port}`, REDIS_CA_FILE }),
  },
  'kafka certificates': {
    target: () => new URL(`kafka://${servers.kafkaBrokers[0]}`),
    protocol: 'tls',
    settings: (port, KAFKA_SSL_CA_FILE) => ({
      ...{ EVENT_LOG: 'kafka', KAFKA_BROKERS: `localhost:${port}` },
      ...{ KAFKA_SSL: 'true', KAFKA_SSL_CA_FILE },
    }),
  },
};

async function doctor(settings: Record<string, string>): Promise<NamedFinding[]> {
  const out: string[] = [];
  const env = { DATABASE_URL: testDatabase.url, EVENT_LOG: 'postgres', ...settings };
  await runCli(['doctor', '--json'], { env, out: { write: (text) => out.push(text) }, err: { write() {} } });
  return JSON.parse(out.join('')) as NamedFinding[];
}

const certificates: [string, TestCertificate | null, string, [string, string, string | null]][] = [
  ['that is valid', thisHost, authorityFile, ['ok', 'is trusted and valid until 2126-', null]],
  ['of another host', otherHost, authorityFile, ['problem', 'for other names: other.example', 'for localhost']],
  ['of an unknown authority', thisHost, otherAuthorityFile, ['problem', '"Millrace test authority"', '_CA_FILE']],
  ['that has expired', expired, expiredFile, ['problem', '(localhost) expired on 2021-01-01', 'Replace the']],
];

test.each(
  Object.entries(stores).flatMap(([check, store]) => certificates.map((row) => [check, row[0], store, row] as const)),
)(
  'reports the state of a %s %s',
  async (check, _what, { target, protocol, settings }, [, certificate, caFile, [state, found, advice]]) => {
    const { hostname: host, port } = target();
    const proxy = await startTlsProxy({ target: { host, port: Number(port) }, protocol, certificate });
    try {
      const findings = await doctor(settings(proxy.port, caFile));
      expect(
        findings.filter((finding) => finding.check === check && finding.found.includes(String(proxy.port))),
      ).toEqual([
        { check, state, found: expect.stringContaining(found), advice: advice && expect.stringContaining(advice) },
      ]);
    } finally {
      await proxy.stop();
    }
  },
);

test('reports a PostgreSQL server without TLS, and a server whose certificate clients do not verify', async () => {
  const { hostname: host, port } = new URL(testDatabase.url);
  const target = { host, port: Number(port) };
  const bare = await startTlsProxy({ target, protocol: 'postgres', certificate: null });
  const strange = await startTlsProxy({ target, protocol: 'postgres', certificate: otherHost });
  const addressOf = (at: number) => testDatabase.url.replace(`:${port}`, `:${at}`);
  try {
    const [withoutTls, unseen] = await Promise.all([
      doctor({ DATABASE_URL: `${addressOf(bare.port)}?sslmode=verify-full` }),
      doctor({ DATABASE_URL: `${addressOf(strange.port)}?sslmode=no-verify` }),
    ]);
    const ofCertificate = (state: string, found: string) =>
      expect.objectContaining({ check: 'postgresql certificate', state, found: expect.stringContaining(found) });
    expect(withoutTls).toContainEqual(ofCertificate('problem', 'does not support TLS'));
    expect(unseen).toContainEqual(ofCertificate('warning', 'is not verified'));
    expect(bare.plaintextReceived()).toBe('');
  } finally {
    await Promise.all([bare.stop(), strange.stop()]);
  }
});

test('checks the certificate of a mail server with STARTTLS, and reports a mail server without TLS', async () => {
  const [secure, open] = await Promise.all([startMailServer({ certificate: thisHost }), startMailServer()]);
  const mail = async (address: string) =>
    (await doctor({ SMTP_URL: address, SMTP_FROM: 'a@b.example' })).filter(({ check }) => check === 'mail server');
  const found = (state: string, text: string) => [
    expect.objectContaining({ state, found: expect.stringContaining(text) }),
  ];
  try {
    expect(await mail(secure.url)).toEqual([
      expect.objectContaining({ state: 'problem', advice: expect.stringContaining('NODE_EXTRA_CA_CERTS') }),
    ]);
    expect(await mail(`${secure.url}/?tls.rejectUnauthorized=false`)).toEqual(found('warning', 'is not verified'));
    expect(await mail(open.url)).toEqual(found('ok', 'responds, without TLS'));
    expect(await mail(open.url.replace('//', '//me:secret@'))).toEqual(found('warning', 'is sent unencrypted'));
    expect(await mail(`${open.url}/?requireTLS=true`)).toEqual(found('warning', 'no email is sent'));
    expect([...secure.mails, ...open.mails]).toEqual([]);
  } finally {
    await Promise.all([secure.stop(), open.stop()]);
  }
});

const dayMs = 86_400_000;

test.each([
  [31, 'ok', 'is trusted and valid until 2126-10-29'],
  [29, 'warning', 'expires in 29 days, on 2126-10-29'],
  [6, 'problem', 'expires in 6 days'],
])('reports a certificate that expires in %s days as %s', async (days, state, found) => {
  const { hostname: host, port } = new URL(servers.redisUrl);
  const proxy = await startTlsProxy({ target: { host, port: Number(port) }, protocol: 'tls', certificate: thisHost });
  const server: TlsServer = {
    ...{ host: '127.0.0.1', port: proxy.port, begins: 'at once', isVerified: true, authoritySetting: 'X' },
    secureContext: createSecureContext({ ca: readFileSync(authorityFile) }),
  };
  try {
    const shown = await readPresentedCertificates(server, 5000);
    const now = Date.parse('2126-10-29T04:44:52Z') - days * dayMs;
    expect(judgePresentedCertificates(server, shown, now)).toEqual([
      expect.objectContaining({ state, found: expect.stringContaining(found) }),
    ]);
  } finally {
    await proxy.stop();
  }
});
