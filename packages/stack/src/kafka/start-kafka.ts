import { randomBytes, randomInt } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Kafka, logLevel } from 'kafkajs';
import { freePort } from '../process/free-port.ts';
import { stopRecordedProcess } from '../process/process-record.ts';
import type { Reaper } from '../process/reaper.ts';
import { runProgram } from '../process/run-program.ts';
import { type RunningServer, startOnFreePort, startServerProcess } from '../process/server-process.ts';
import { SetupProblem } from '../setup-problem.ts';
import { ensureJava, kafkaJars } from './kafka-programs.ts';

export interface KafkaOptions {
  /** Where everything of it is kept, e.g. `.millrace/kafka`. */
  directory: string;
  preferredPort: number;
  /** The address it listens on and is known by; loopback when left out. */
  host?: string;
  reaper: Reaper;
  /** A second way in, by TLS. */
  secured?: SecuredListener;
}

export interface SecuredListener {
  port: number;
  /** PEM file of a private key and its certificate, read at every start. */
  keyStore: string;
}

/** One broker that is its own controller, from Apache Kafka's own jars. */
export async function startKafka({
  directory,
  preferredPort,
  host = '127.0.0.1',
  reaper,
  secured,
}: KafkaOptions): Promise<RunningServer> {
  const java = await ensureJava();
  const classPath = `${await kafkaJars()}/*`;
  mkdirSync(directory, { recursive: true });
  const recordFile = join(directory, 'process.json');
  await stopRecordedProcess(recordFile, 'SIGTERM', 30_000);
  return startOnFreePort('Kafka', 90_000, async () => {
    const port = await freePort(preferredPort);
    const controllerPort = await freePort(preferredPort === 0 ? 0 : port + 1, new Set([port]));
    const config = join(directory, 'server.properties');
    writeFileSync(config, serverProperties(host, port, controllerPort, secured));
    if (!existsSync(join(directory, 'data/meta.properties'))) await format(java, classPath, { directory, config });
    const server = startServerProcess({
      name: 'Kafka',
      command: java,
      arguments: ['-Xmx512m', '-XX:+UseSerialGC', '-cp', classPath, 'kafka.Kafka', config],
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
    // Relative to the working directory, whatever characters that has in its name.
    'log.dirs': 'data',
    'offsets.topic.replication.factor': 1,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    // A group forms without waiting for members that nobody starts.
    'group.initial.rebalance.delay.ms': 0,
    'auto.create.topics.enable': false,
  };
  return `${Object.entries(settings)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n')}\n`;
}

/** A log directory is given its cluster's id once. */
async function format(
  java: string,
  classPath: string,
  { directory, config }: { directory: string; config: string },
): Promise<void> {
  // Kafka's tool takes an id that begins with a dash for an option: the highest bit is left out.
  const clusterId = Buffer.concat([Buffer.from([randomInt(128)]), randomBytes(15)]).toString('base64url');
  const { status, output } = await runProgram(
    java,
    [
      '-Xmx256m',
      '-XX:+UseSerialGC',
      '-XX:TieredStopAtLevel=1',
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
  if (status !== 0) throw new SetupProblem(`Kafka's data directory could not be prepared:\n${output.trim()}`);
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
