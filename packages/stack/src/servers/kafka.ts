// Starts a Kafka broker for tests and `npm start`, and downloads Kafka if necessary.

import { randomBytes, randomInt } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { Kafka, logLevel } from 'kafkajs';
import { SetupProblem } from '../command.ts';
import { fetchJava, findCacheDirectory, findCachedJava, findOrCreateCacheDirectory } from '../fetched-programs.ts';
import { canWriteIn, runProgram } from '../run-program.ts';
import {
  findFreePort,
  type Reaper,
  type RunningServer,
  startOnFreePort,
  startServerProcess,
  stopRecordedProcess,
} from './server-process.ts';

export interface KafkaOptions {
  /** The directory for all files of the broker, for example `.millrace/kafka`. */
  directory: string;
  preferredPort: number;
  /** The host on which the broker listens and which it advertises to clients. Loopback by default. */
  host?: string;
  reaper: Reaper;
  secured?: SecuredListener;
  /**
   * Whether the broker is used only for minutes. If so, the JVM uses only its fast compiler, because thorough
   * compilation would take more time than it saves.
   */
  isShortLived?: boolean;
}

export interface SecuredListener {
  port: number;
  /** The path of a PEM file with a private key and its certificate, which the broker reads at every start. */
  keyStore: string;
}

const compileQuickly = '-XX:TieredStopAtLevel=1';

/** Starts a single Kafka broker, which is also the controller, from Apache Kafka's jars. */
export async function startKafka({
  directory,
  preferredPort,
  host = '127.0.0.1',
  reaper,
  secured,
  isShortLived = false,
}: KafkaOptions): Promise<RunningServer> {
  const java = await ensureJava();
  const classPath = `${await ensureKafkaJars()}/*`;
  mkdirSync(directory, { recursive: true });
  const recordFile = join(directory, 'process.json');
  await stopRecordedProcess(recordFile, 'SIGTERM', 30_000);
  return startOnFreePort('Kafka', 90_000, async () => {
    const port = await findFreePort(preferredPort);
    const controllerPort = await findFreePort(preferredPort === 0 ? 0 : port + 1, new Set([port]));
    const config = join(directory, 'server.properties');
    writeFileSync(config, serverProperties(host, port, controllerPort, secured));
    if (!existsSync(join(directory, 'data/meta.properties'))) await format(java, classPath, { directory, config });
    const server = startServerProcess({
      name: 'Kafka',
      command: java,
      arguments: [
        '-Xmx512m',
        '-XX:+UseSerialGC',
        ...(isShortLived ? [compileQuickly] : []),
        '-cp',
        classPath,
        'kafka.Kafka',
        config,
      ],
      marker: config,
      cwd: directory,
      logFile: join(directory, 'kafka.log'),
      recordFile,
      reaper,
      stopSignal: 'SIGTERM',
      stopPatienceMs: 30_000,
    });
    const address = `${host}:${port}`;
    return { server, address, isReady: () => hasBroker(address) };
  });
}

function serverProperties(host: string, port: number, controllerPort: number, secured?: SecuredListener): string {
  const listeners = [`PLAINTEXT://${host}:${port}`, ...(secured ? [`SSL://${host}:${secured.port}`] : [])].join(',');
  const settings = {
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    listeners: `${listeners},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': listeners,
    'controller.listener.names': 'CONTROLLER',
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,SSL:SSL,CONTROLLER:PLAINTEXT',
    ...(secured ? { 'ssl.keystore.type': 'PEM', 'ssl.keystore.location': secured.keyStore } : {}),
    // The path is relative to the working directory, whose name may contain any characters.
    'log.dirs': 'data',
    'offsets.topic.replication.factor': 1,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    // Let consumer groups form immediately, without waiting for additional members.
    'group.initial.rebalance.delay.ms': 0,
    'auto.create.topics.enable': false,
  };
  return `${Object.entries(settings)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n')}\n`;
}

/** Initializes the log directory with a cluster ID, once. */
async function format(
  java: string,
  classPath: string,
  { directory, config }: { directory: string; config: string },
): Promise<void> {
  // Kafka's tool treats an ID that begins with a dash as an option. With the highest bit unset, the ID cannot begin
  // with a dash.
  const clusterId = Buffer.concat([Buffer.from([randomInt(128)]), randomBytes(15)]).toString('base64url');
  const { status, output } = await runProgram(
    java,
    [
      '-Xmx256m',
      '-XX:+UseSerialGC',
      compileQuickly,
      '-cp',
      classPath,
      'kafka.tools.StorageTool',
      'format',
      '-t',
      clusterId,
      '-c',
      config,
    ],
    { cwd: directory },
  );
  if (status !== 0) throw new SetupProblem(`Could not prepare Kafka's data directory:\n${output.trim()}`);
}

async function hasBroker(address: string): Promise<boolean> {
  const kafka = new Kafka({
    brokers: [address],
    logLevel: logLevel.NOTHING,
    connectionTimeout: 1000,
    requestTimeout: 3000,
    retry: { retries: 0 },
  });
  const admin = kafka.admin();
  try {
    await admin.connect();
    return (await admin.describeCluster()).brokers.length > 0;
  } catch {
    return false;
  } finally {
    await admin.disconnect().catch(() => {});
  }
}

export const kafkaVersion = '4.1.0';

/** The dependencies are the broker and a console logger. Maven resolves more than forty transitive ones. */
const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>millrace</groupId>
  <artifactId>kafka</artifactId>
  <version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>${kafkaVersion}</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>
  </dependencies>
</project>
`;

const directoryName = `kafka-${kafkaVersion}`;
const directory = () => join(findCacheDirectory(), directoryName);

export function hasKafkaJars(): boolean {
  return existsSync(join(directory(), 'lib'));
}

/**
 * Returns the directory of Apache Kafka's jars, which all clones share. If they are not in the cache, downloads them
 * with Maven (43 MB).
 * @throws SetupProblem with Maven's output if the download fails
 */
export async function ensureKafkaJars(): Promise<string> {
  if (!hasKafkaJars()) await fetchJars();
  return join(directory(), 'lib');
}

async function fetchJars(): Promise<void> {
  await findOrCreateCacheDirectory(directoryName, async (temporary) => {
    await writeFile(join(temporary, 'pom.xml'), pom);
    const { status, output } = await runProgram(
      'mvn',
      ['-q', '-B', ...localRepository(temporary), 'dependency:copy-dependencies', '-DoutputDirectory=lib'],
      { cwd: temporary },
    );
    if (status !== 0) {
      throw new SetupProblem(
        `Maven could not download Kafka's jars:\n${output.trim().split('\n').slice(0, 8).join('\n')}`,
      );
    }
    await rm(join(temporary, 'maven'), { recursive: true, force: true });
  });
}

/**
 * Maven stores its cache in the home directory that the password file contains. If that directory is not writable, uses
 * a temporary directory.
 */
function localRepository(temporary: string): string[] {
  try {
    const { homedir } = userInfo();
    if (canWriteIn(join(homedir, '.m2'), undefined) || canWriteIn(homedir, undefined)) return [];
  } catch {
    // The user is not in the password file.
  }
  return [`-Dmaven.repo.local=${join(temporary, 'maven')}`];
}

const oldest = 17;

/**
 * Returns the first Java that is new enough, in this order: JAVA_HOME, the PATH, a downloaded Java. Returns null if no
 * Java is new enough.
 */
export async function findJava(): Promise<string | null> {
  const { JAVA_HOME } = process.env;
  for (const java of [...(JAVA_HOME ? [join(JAVA_HOME, 'bin/java')] : []), 'java', findCachedJava() ?? []].flat()) {
    const { status, output } = await runProgram(java, ['-version'], { timeoutMs: 20_000 });
    // Match the first number in `openjdk version "17.0.15"`. In old versions such as 1.8, it is 1.
    const version = /version "(\d+)/.exec(output)?.[1];
    if (status === 0 && Number(version) >= oldest) return java;
  }
  return null;
}

/** Like `findJava`, but downloads Java if necessary. @throws SetupProblem if the download fails */
export async function ensureJava(): Promise<string> {
  return (await findJava()) ?? fetchJava();
}
