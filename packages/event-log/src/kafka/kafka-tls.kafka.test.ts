import { eventually, startTlsProxy, type TestCertificate, testCertificates, testServers } from '@millrace/testing';
import { testLogger } from '../testing/test-logger.ts';
import { toKafkaConnection } from './config.ts';
import { createKafkaLog } from './log.ts';

/**
 * Opens a log whose first broker is behind a TLS proxy. Connections to all other brokers bypass the proxy. The first
 * broker is enough to observe whether the client sends anything.
 */
async function open(certificate: TestCertificate | null, caFile: string | undefined) {
  const [broker = ''] = testServers().kafkaBrokers;
  const [host = '', port] = broker.split(':');
  const proxy = await startTlsProxy({ target: { host, port: Number(port) }, protocol: 'tls', certificate });
  const log = createKafkaLog({
    ...toKafkaConnection({
      kafkaBrokers: `127.0.0.1:${proxy.port}`,
      kafkaSsl: true,
      ...(caFile === undefined ? {} : { kafkaSslCaFile: caFile }),
    }),
    clientId: 'tls-test',
    logger: testLogger(),
  });
  return { proxy, log };
}

const append = (log: Awaited<ReturnType<typeof open>>['log']) =>
  log.append([{ topic: 'tls', key: 'k', value: Buffer.from('x') }]);
const { authorityFile, otherAuthorityFile } = testCertificates;
/** The first byte that a TLS client sends: the content type of a handshake record (22). */
const handshake = String.fromCharCode(22);

test('sends requests to a broker whose certificate is valid', async () => {
  const { proxy, log } = await open(testCertificates.ofThisHost(), authorityFile);
  const appending = append(log).catch(() => {});
  await eventually(() => proxy.encryptedByteCount() > 0, { what: 'the first request' });
  await log.close();
  await appending;
  await proxy.stop();
});

test.each([
  ['the certificate of another host', testCertificates.ofOtherHost(), authorityFile],
  ['the certificate of another authority', testCertificates.ofThisHost(), otherAuthorityFile],
  ['the certificate of an unknown authority', testCertificates.ofThisHost(), undefined],
  ['no valid certificate', null, authorityFile],
])('sends no request, encrypted or not, to a broker with %s', async (_what, certificate, ca) => {
  const { proxy, log } = await open(certificate, ca);
  await expect(append(log)).rejects.toMatchObject({ kind: 'unavailable' });
  expect(proxy.encryptedByteCount()).toBe(0);
  expect(['', handshake]).toContain(proxy.plaintextReceived().slice(0, 1));
  await log.close();
  await proxy.stop();
});
