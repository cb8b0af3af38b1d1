import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { closeSync, cpSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasProgram, runProgram } from '@millrace/stack/run-program';
import { ensureKafkaJars, findJava, hasKafkaJars } from '@millrace/stack/servers/kafka';
import { findFreePort } from '@millrace/stack/servers/server-process';
import { eventually } from '@millrace/testing';

export interface KafkaClusterOptions {
  nodes: 1 | 3;
  settings?: Record<string, string>;
  /** Additional arguments for formatting the data directory, for example SCRAM users. */
  formatArguments?: string[];
  /**
   * The security protocol of an additional listener. Brokers use the plaintext listener to communicate with each other.
   */
  securedBy?: 'SASL_PLAINTEXT' | 'SASL_SSL' | 'SSL';
}

export interface KafkaCluster {
  brokers: string[];
  kill(node: number): Promise<void>;
  start(node: number): Promise<void>;
  copyFiles(node: number): () => void;
  stop(): Promise<void>;
}

/**
 * Returns whether a cluster can be started, which requires Java and a way to download Kafka. If not, the tests that
 * need a cluster are skipped.
 */
export async function hasJava(): Promise<boolean> {
  return (await findJava()) !== null && (hasKafkaJars() || (await hasProgram('mvn')));
}

/** JVM options for programs that run for at most a minute. Thorough compilation would take half of their run time. */
const shortLived = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];

interface Node {
  directory: string;
  config: string;
  port: number;
  child: ChildProcess | null;
}

export async function startKafkaCluster(options: KafkaClusterOptions): Promise<KafkaCluster> {
  const java = (await findJava()) ?? 'java';
  const classPath = `${await ensureKafkaJars()}/*`;
  const root = mkdtempSync(join(tmpdir(), 'millrace-kafka-'));
  // The highest bit is cleared, because Kafka's tool would treat an ID that starts with a dash as an option.
  const clusterId = Buffer.concat([Buffer.from([randomInt(128)]), randomBytes(15)]).toString('base64url');
  const ports = await freePorts(options.nodes);
  const voters = ports.map(({ controller }, index) => `${index + 1}@127.0.0.1:${controller}`).join(',');
  const nodes: Node[] = ports.map((port, index) => {
    const directory = join(root, String(index + 1));
    mkdirSync(directory);
    const config = join(directory, 'server.properties');
    writeFileSync(config, properties(options, { ...port, id: index + 1, voters }));
    return { directory, config, port: port.client, child: null };
  });

  async function format({ config, directory }: Node): Promise<void> {
    const tool = [...shortLived, '-cp', classPath, 'kafka.tools.StorageTool'];
    const words = [...tool, 'format', '-t', clusterId, '-c', config, ...(options.formatArguments ?? [])];
    const { status, output } = await runProgram(java, words, { cwd: directory });
    if (status !== 0) throw new Error(`a data directory could not be formatted: ${output}`);
  }

  async function start(index: number): Promise<void> {
    const node = nodes[index];
    if (node === undefined || node.child !== null) return;
    const log = openSync(join(node.directory, 'kafka.log'), 'a');
    const child = spawn(java, [...shortLived, '-Xmx320m', '-cp', classPath, 'kafka.Kafka', node.config], {
      cwd: node.directory,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    node.child = child;
    child.once('exit', () => {
      node.child = null;
    });
    await eventually(() => listens(node.port), {
      what: 'a broker that listens',
      describe: () => readFileSync(join(node.directory, 'kafka.log'), 'utf8').slice(-2000),
    });
  }

  async function kill(index: number): Promise<void> {
    const child = nodes[index]?.child;
    if (!child) return;
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await exited;
  }

  function copyFiles(index: number): () => void {
    const data = join(nodes[index]?.directory ?? '', 'data');
    const copy = join(nodes[index]?.directory ?? '', `copy-${randomBytes(4).toString('hex')}`);
    cpSync(data, copy, { recursive: true });
    return () => {
      rmSync(data, { recursive: true });
      cpSync(copy, data, { recursive: true });
    };
  }

  const stop = async () => {
    await Promise.all(nodes.map((_, index) => kill(index)));
    rmSync(root, { recursive: true, force: true });
  };
  try {
    await Promise.all(nodes.map(format));
    await Promise.all(nodes.map((_, index) => start(index)));
  } catch (error) {
    await stop();
    throw error;
  }
  return { brokers: nodes.map(({ port }) => `127.0.0.1:${port}`), start, kill, copyFiles, stop };
}

async function freePorts(nodes: number): Promise<{ client: number; internal: number; controller: number }[]> {
  const taken = new Set<number>();
  const take = async () => {
    let port = await findFreePort();
    while (taken.has(port)) port = await findFreePort();
    taken.add(port);
    return port;
  };
  const ports: { client: number; internal: number; controller: number }[] = [];
  for (let node = 0; node < nodes; node += 1) {
    ports.push({ client: await take(), internal: await take(), controller: await take() });
  }
  return ports;
}

function properties(
  { nodes, settings, securedBy }: KafkaClusterOptions,
  node: { id: number; client: number; internal: number; controller: number; voters: string },
): string {
  const copies = String(nodes);
  const internal = securedBy === undefined ? 'CLIENT' : 'INTERNAL';
  const listeners = [
    `CLIENT://127.0.0.1:${node.client}`,
    ...(securedBy === undefined ? [] : [`INTERNAL://127.0.0.1:${node.internal}`]),
  ];
  const all = {
    'process.roles': 'broker,controller',
    'node.id': String(node.id),
    'controller.quorum.voters': node.voters,
    listeners: [...listeners, `CONTROLLER://127.0.0.1:${node.controller}`].join(','),
    'advertised.listeners': listeners.join(','),
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': internal,
    'listener.security.protocol.map': `CLIENT:${securedBy ?? 'PLAINTEXT'},INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT`,
    'log.dirs': 'data',
    'offsets.topic.replication.factor': copies,
    'transaction.state.log.replication.factor': copies,
    'transaction.state.log.min.isr': '1',
    'default.replication.factor': copies,
    'min.insync.replicas': nodes === 3 ? '2' : '1',
    'offsets.topic.num.partitions': '4',
    'group.initial.rebalance.delay.ms': '0',
    'auto.create.topics.enable': 'false',
    // With this timeout, a crashed broker is detected earlier than with the default of 9 s.
    'broker.session.timeout.ms': '4000',
    'broker.heartbeat.interval.ms': '500',
    ...settings,
  };
  return Object.entries(all)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const finish = (isConnected: boolean) => {
      socket.destroy();
      resolve(isConnected);
    };
    socket.once('connect', () => finish(true));
    socket.once('error', () => finish(false));
  });
}
