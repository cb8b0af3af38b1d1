import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '@millrace/runtime';
import { runProgram } from '@millrace/stack/run-program';
import { ensureKafkaJars, findJava } from '@millrace/stack/servers/kafka';
import { eventually, mountSecret, testCertificates } from '@millrace/testing';
import { Kafka } from 'kafkajs';
import { Type } from 'typebox';
import { range, readAll } from '../testing/contract-fixture.ts';
import { testLogger } from '../testing/test-logger.ts';
import { kafkaConfigFields, toKafkaConnection } from './config.ts';
import { createKafkaInspector } from './inspect.ts';
import { createKafkaLog } from './log.ts';
import { clientConfig } from './session.ts';
import { hasJava, type KafkaCluster, startKafkaCluster } from './testing/kafka-cluster.ts';

/** Numeric values of kafkajs enums, which cannot be imported by name because kafkajs is a CommonJS module. */
const describeCluster = { resourceType: 4, resourcePatternType: 3, operation: 8 };
const denied = 2;

const describeWithJava = (await hasJava()) ? describe : describe.skip;

describeWithJava('a broker with SASL over TLS', () => {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-tls-'));
  const caFile = join(directory, 'ca.pem');
  let cluster: KafkaCluster;

  beforeAll(async () => {
    const store = join(directory, 'keystore.p12');
    const common = ['-keystore', store, '-storepass', 'changeit', '-alias', 'broker'];
    const keytool = ((await findJava()) ?? 'java').replace(/java$/, 'keytool');
    const result = await runProgram(keytool, [
      ...['-genkeypair', '-keyalg', 'EC', '-validity', '2', '-dname', 'CN=127.0.0.1', '-storetype', 'PKCS12'],
      ...['-ext', 'SAN=ip:127.0.0.1', '-ext', 'BC=ca:true', ...common],
    ]);
    expect(result).toMatchObject({ status: 0 });
    expect(await runProgram(keytool, ['-exportcert', '-rfc', '-file', caFile, ...common])).toMatchObject({
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
        'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
        'allow.everyone.if.no.acl.found': 'true',
        'super.users': 'User:ANONYMOUS;User:millrace',
        'listener.name.client.ssl.keystore.location': store,
        'listener.name.client.ssl.keystore.password': 'changeit',
        'listener.name.client.sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
        'listener.name.client.plain.sasl.jaas.config': `${jaas}.plain.PlainLoginModule required user_millrace="right" user_guest="right";`,
        'listener.name.client.scram-sha-256.sasl.jaas.config': `${jaas}.scram.ScramLoginModule required;`,
        'listener.name.client.scram-sha-512.sasl.jaas.config': `${jaas}.scram.ScramLoginModule required;`,
      },
    });
  });
  afterAll(async () => {
    await cluster?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  function optionsOf(mechanism: string, password: string, kafkaSslCaFile: string | undefined, user = 'millrace') {
    const settings = {
      ...{ kafkaBrokers: cluster.brokers.join(','), kafkaSsl: true, kafkaSaslUsername: user },
      ...{ kafkaSaslMechanism: mechanism as 'plain', kafkaSaslPassword: password },
      ...(kafkaSslCaFile === undefined ? {} : { kafkaSslCaFile }),
    };
    return { ...toKafkaConnection(settings), clientId: 'security-test', logger: testLogger() };
  }
  const open = (...settings: Parameters<typeof optionsOf>) => createKafkaLog(optionsOf(...settings));

  test.each(['plain', 'scram-sha-256', 'scram-sha-512'])('appends and reads with SASL %s', async (mechanism) => {
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
    ['an unknown certificate authority', 'right', undefined],
  ])('append rejects with `unavailable` within its time limit: %s', async (_, password, ca) => {
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

  test('without permission to describe the cluster, reads everything except log directories', async () => {
    const asked = (user: string) => createKafkaInspector(optionsOf('plain', 'right', caFile, user), 10_000);
    const [owner, guest] = [asked('millrace'), asked('guest')];
    try {
      await expect(guest.logDirectories()).resolves.toHaveLength(1);
      await forbidToDescribeCluster('guest');
      await eventually(async () => (await guest.logDirectories()) === null, { what: 'the refusal' });
      await expect(owner.logDirectories()).resolves.toHaveLength(1);
      await expect(guest.brokers()).resolves.toHaveLength(1);
    } finally {
      await Promise.all([owner.close(), guest.close()]);
    }
  });

  test("the log's next connection uses a changed password and CA", async () => {
    const secret = mountSecret({ password: 'right', 'ca.crt': readFileSync(caFile, 'utf8') });
    const log = createKafkaLog({
      ...toKafkaConnection(
        readConfig(Type.Object(kafkaConfigFields), {
          ...{ KAFKA_BROKERS: cluster.brokers.join(','), KAFKA_SSL: 'true', KAFKA_SSL_CA_FILE: secret.file('ca.crt') },
          ...{ KAFKA_SASL_MECHANISM: 'scram-sha-512', KAFKA_SASL_USERNAME: 'millrace' },
          ...{ KAFKA_SASL_PASSWORD_FILE: secret.file('password') },
        }),
      ),
      clientId: 'rotation-test',
      logger: testLogger(),
    });
    const topic = 'rotated';
    const acknowledged: number[] = [];
    let isRunning = true;
    const sending = (async () => {
      for (let n = 0; isRunning; n += 1) {
        await log
          .append([{ topic, key: 'k', value: Buffer.from(String(n)) }])
          .then(() => acknowledged.push(n))
          .catch(() => {});
      }
    })();
    const seen = () => acknowledged.length;
    const goesOn = async () => {
      const before = seen();
      await eventually(() => seen() > before, { what: 'an acknowledged append' });
    };
    try {
      await log.ensureTopics([{ topic, partitions: 1 }]);
      await goesOn();
      await setPassword('millrace', 'new');
      await goesOn();
      secret.exchange({ password: 'new', 'ca.crt': readFileSync(testCertificates.otherAuthorityFile, 'utf8') });
      await cluster.kill(0);
      await cluster.start(0);
      await eventually(() => !log.isHealthy(), { what: 'the refusal of a broker whose authority is not known' });
      secret.exchange({ password: 'new', 'ca.crt': readFileSync(caFile, 'utf8') });
      await goesOn();
      isRunning = false;
      await sending;
      const stored = (await readAll(log, topic, seen())).map(({ value }) => Number(value.toString()));
      expect(acknowledged.filter((n) => !stored.includes(n))).toEqual([]);
    } finally {
      isRunning = false;
      await log.close();
      await sending;
      secret.remove();
    }
  });

  async function setPassword(user: string, password: string): Promise<void> {
    const config = join(directory, 'client.properties');
    const login = `org.apache.kafka.common.security.plain.PlainLoginModule required username="millrace" password="right";`;
    writeFileSync(
      config,
      [
        ...['security.protocol=SASL_SSL', 'sasl.mechanism=PLAIN', `sasl.jaas.config=${login}`],
        ...['ssl.truststore.type=PEM', `ssl.truststore.location=${caFile}`, ''],
      ].join('\n'),
    );
    const java = (await findJava()) ?? 'java';
    const { status, output } = await runProgram(java, [
      ...[
        '-cp',
        `${await ensureKafkaJars()}/*`,
        'kafka.admin.ConfigCommand',
        '--bootstrap-server',
        cluster.brokers.join(','),
      ],
      ...['--command-config', config, '--alter', '--entity-type', 'users', '--entity-name', user],
      ...['--add-config', `SCRAM-SHA-512=[password=${password}]`],
    ]);
    if (status !== 0) throw new Error(output);
  }

  async function forbidToDescribeCluster(user: string): Promise<void> {
    const options = optionsOf('plain', 'right', caFile);
    const admin = new Kafka(clientConfig(options, options.brokers)).admin();
    await admin.connect();
    try {
      const whole = { ...describeCluster, resourceName: 'kafka-cluster', host: '*' };
      await admin.createAcls({ acl: [{ ...whole, permissionType: denied, principal: `User:${user}` }] });
    } finally {
      await admin.disconnect();
    }
  }
});
