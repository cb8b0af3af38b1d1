import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '@millrace/stack/src/process/run-program.ts';
import { eventually, testServers } from '@millrace/testing';
import { range, readAll } from '../testing/contract-fixture.ts';
import { testLogger } from '../testing/test-logger.ts';
import { createKafkaLog } from './create-kafka-log.ts';
import { kafkaConnection } from './kafka-config.ts';
import { hasJava, type KafkaCluster, startKafkaCluster } from './testing/kafka-cluster.ts';

/** A broker that lets nobody in who is not who they say, and speaks only TLS. */
const describeWithJava = (await hasJava()) ? describe : describe.skip;

describeWithJava('a broker with SASL over TLS', () => {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-tls-'));
  const caFile = join(directory, 'ca.pem');
  let cluster: KafkaCluster;

  beforeAll(async () => {
    // Where there is no Kafka for tests this is skipped like the others.
    expect(testServers().kafkaBrokers).not.toEqual([]);
    const store = join(directory, 'keystore.p12');
    const common = ['-keystore', store, '-storepass', 'changeit', '-alias', 'broker'];
    const made = await runProgram('keytool', [
      ...['-genkeypair', '-keyalg', 'EC', '-validity', '2', '-dname', 'CN=127.0.0.1', '-storetype', 'PKCS12'],
      ...['-ext', 'SAN=ip:127.0.0.1', '-ext', 'BC=ca:true', ...common],
    ]);
    expect(made).toMatchObject({ status: 0 });
    expect(await runProgram('keytool', ['-exportcert', '-rfc', '-file', caFile, ...common])).toMatchObject({
      status: 0,
    });
    const jaas = 'org.apache.kafka.common.security';
    cluster = await startKafkaCluster({
      nodes: 1,
      securedBy: 'SASL_SSL',
      formatArguments: ['256', '512'].flatMap((bits) => [
        '--add-scram',
        `SCRAM-SHA-${bits}=[name=millrace,password=right]`,
      ]),
      settings: {
        'listener.name.client.ssl.keystore.location': store,
        'listener.name.client.ssl.keystore.password': 'changeit',
        'listener.name.client.sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
        'listener.name.client.plain.sasl.jaas.config': `${jaas}.plain.PlainLoginModule required user_millrace="right";`,
        'listener.name.client.scram-sha-256.sasl.jaas.config': `${jaas}.scram.ScramLoginModule required;`,
        'listener.name.client.scram-sha-512.sasl.jaas.config': `${jaas}.scram.ScramLoginModule required;`,
      },
    });
  });
  afterAll(async () => {
    await cluster?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  function open(mechanism: string, password: string, kafkaSslCaFile: string | undefined) {
    const settings = {
      ...{ kafkaBrokers: cluster.brokers.join(','), kafkaSsl: true, kafkaSaslUsername: 'millrace' },
      ...{ kafkaSaslMechanism: mechanism as 'plain', kafkaSaslPassword: password },
      ...(kafkaSslCaFile === undefined ? {} : { kafkaSslCaFile }),
    };
    return createKafkaLog({ ...kafkaConnection(settings), clientId: 'security-test', logger: testLogger() });
  }

  test.each(['plain', 'scram-sha-256', 'scram-sha-512'])('appends and reads with %s', async (mechanism) => {
    const log = open(mechanism, 'right', caFile);
    try {
      const topic = `secure-${mechanism}`;
      await log.ensureTopics([{ topic, partitions: 1 }]);
      await eventually(() => log.append(range(0, 5).map((n) => ({ topic, key: 'k', value: Buffer.from(String(n)) }))), {
        what: 'an acknowledged append',
      });
      expect((await readAll(log, topic, 5)).map(({ value }) => Number(value.toString())).slice(0, 5)).toEqual(
        range(0, 5),
      );
    } finally {
      await log.close();
    }
  });

  test.each([
    ['a wrong password', 'wrong', caFile],
    ['an authority it does not know', 'right', undefined],
  ])('%s: unavailable, not silent', async (_, password, ca) => {
    const log = open('scram-sha-512', password, ca);
    try {
      await expect(log.append([{ topic: 'secure-plain', key: 'k', value: Buffer.from('x') }])).rejects.toMatchObject({
        kind: 'unavailable',
      });
      expect(log.isHealthy()).toBe(false);
    } finally {
      await log.close();
    }
  });
});
