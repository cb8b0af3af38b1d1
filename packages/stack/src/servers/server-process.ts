import { spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { SetupProblem } from '../command.ts';
import type { SystemUser } from '../run-program.ts';

// Servers that others use: one that runs somewhere, and one that is started here and watched over.
export interface ServerProcessOptions {
  /** How it is called in messages. */
  name: string;
  command: string;
  arguments: string[];
  /** A part of the command line that no other process has; a data directory or a config file. */
  marker: string;
  env?: Record<string, string | undefined>;
  /** Whom it runs as; this process's own user when left out. */
  user?: SystemUser | undefined;
  cwd?: string;
  logFile: string;
  /** Where it is noted, for a later run to find it if this one dies. */
  recordFile: string;
  reaper: Reaper;
  stopSignal: NodeJS.Signals;
  stopPatienceMs: number;
}

/** A server program that runs until it is stopped. */
export interface ServerProcess {
  pid: number;
  /** Resolves when it has ended, for whatever reason. */
  ended: Promise<void>;
  hasEnded(): boolean;
  /** The end of what it logged. */
  lastLog(): string;
  stop(): Promise<void>;
}

/** Starts a server in a session of its own, where Ctrl-C does not reach it: it must outlive those who use it. */
export function startServerProcess(options: ServerProcessOptions): ServerProcess {
  const log = openSync(options.logFile, 'a', 0o600);
  const child = spawn(options.command, options.arguments, {
    cwd: options.cwd ?? '/',
    env: options.env ?? process.env,
    detached: true,
    stdio: ['ignore', log, log],
    ...(options.user ? { uid: options.user.uid, gid: options.user.gid } : {}),
  });
  closeSync(log);
  child.unref();
  let hasEnded = false;
  let startError: Error | undefined;
  const ended = new Promise<void>((resolve) => {
    const end = (error?: Error) => {
      if (error) startError = error;
      hasEnded = true;
      if (child.pid) options.reaper.forget(child.pid);
      rmSync(options.recordFile, { force: true });
      resolve();
    };
    child.once('exit', () => end());
    child.once('error', end);
  });
  const pid = child.pid ?? 0;
  if (pid > 0) {
    options.reaper.watch(pid, options.stopSignal);
    writeProcessRecord(options.recordFile, { pid, marker: options.marker });
  }
  return {
    pid,
    ended,
    hasEnded: () => hasEnded,
    lastLog: () =>
      startError?.message ?? readFileSync(options.logFile, 'utf8').trim().split('\n').slice(-15).join('\n'),
    async stop() {
      if (hasEnded) return;
      child.kill(options.stopSignal);
      // Referenced on purpose: the exit of an unreferenced child alone would not keep this process waiting.
      const impatience = setTimeout(() => child.kill('SIGKILL'), options.stopPatienceMs);
      await ended;
      clearTimeout(impatience);
    },
  };
}

/** A server that was started and may not be ready yet. */
interface LaunchedServer {
  server: ServerProcess;
  /** Where it will be found. */
  address: string;
  isReady(): Promise<boolean>;
}

/**
 * Launches a server on a port that is free, and waits for it. Somebody else may be quicker to take the port: then it is
 * launched again.
 * @param launch chooses the port again each time
 * @throws SetupProblem as `waitUntilReady` does.
 */
export async function startOnFreePort(
  name: string,
  timeoutMs: number,
  launch: () => Promise<LaunchedServer>,
): Promise<RunningServer> {
  for (let attempt = 1; ; attempt++) {
    const { server, address, isReady } = await launch();
    try {
      await waitUntilReady({ name, process: server }, isReady, timeoutMs);
      return { address, ended: server.ended, lastLog: server.lastLog, stop: server.stop };
    } catch (error) {
      await server.stop();
      if (attempt < 5 && /Address already in use/.test(server.lastLog())) continue;
      throw error;
    }
  }
}

/**
 * Asks until the server answers.
 * @throws SetupProblem with the end of its log when it ends before that, or says nothing for `timeoutMs`.
 */
export async function waitUntilReady(
  { name, process: server }: { name: string; process: ServerProcess },
  isReady: () => Promise<boolean>,
  timeoutMs: number,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await isReady())) {
    if (server.hasEnded()) throw new SetupProblem(`${name} exited while starting:\n${server.lastLog()}`);
    if (Date.now() > deadline) {
      throw new SetupProblem(`${name} was not ready after ${timeoutMs / 1000} s:\n${server.lastLog()}`);
    }
    await sleep(100);
  }
}

/** A server somebody can use, wherever it came from. */
export interface RunningServer {
  /** As it stands in DATABASE_URL, KAFKA_BROKERS or REDIS_URL. */
  address: string;
  /** Resolves when it ends by itself; never for a server that is not ours. */
  ended: Promise<void>;
  /** The end of what it logged. */
  lastLog(): string;
  stop(): Promise<void>;
}

/** A server that was there before and stays there. */
export function serverAt(address: string): RunningServer {
  return { address, ended: new Promise(() => {}), lastLog: () => '', stop: async () => {} };
}

// Processes that a later run has to find: each is noted with a part of its command line, since an id alone may belong to
// somebody else by then.
/** A process that was started and should be found again by a later run if this one dies. */
export interface ProcessRecord {
  pid: number;
  /** A part of its command line that no other process has. */
  marker: string;
}

export function writeProcessRecord(file: string, record: ProcessRecord): void {
  writeFileSync(file, JSON.stringify(record), { mode: 0o600 });
}

/** @returns null when there is no such file, or none that can be understood. */
export function readProcessRecord(file: string): ProcessRecord | null {
  try {
    const { pid, marker } = JSON.parse(readFileSync(file, 'utf8')) as Partial<ProcessRecord>;
    return typeof pid === 'number' && typeof marker === 'string' && marker !== '' ? { pid, marker } : null;
  } catch {
    return null;
  }
}

/** Stops the process that an earlier run recorded, if it still runs, and forgets it. */
export async function stopRecordedProcess(file: string, signal: NodeJS.Signals, patienceMs = 10_000): Promise<boolean> {
  const record = readProcessRecord(file);
  const wasRunning = record !== null && (await endProcess(record, signal, patienceMs));
  rmSync(file, { force: true });
  return wasRunning;
}

/** Sends `signal`, waits, and sends SIGKILL when patience is over. @returns whether it was running at all. */
export async function endProcess(record: ProcessRecord, signal: NodeJS.Signals, patienceMs: number): Promise<boolean> {
  const { pid, marker } = record;
  if (!isRunning(pid, marker)) return false;
  send(pid, signal);
  const deadline = Date.now() + patienceMs;
  while (isRunning(pid, marker)) {
    if (Date.now() > deadline) send(pid, 'SIGKILL');
    await sleep(50);
  }
  return true;
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // It ended by itself in between.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/**
 * The whole command line of a running process, or null when there is none. A process id alone says nothing: it may have
 * been given to somebody else since it was written down.
 */
function commandLine(pid: number): string | null {
  if (!Number.isInteger(pid) || pid <= 0) return null;
  if (process.platform !== 'linux') {
    const { stdout, status } = spawnSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
    return status === 0 ? stdout.trim() || null : null;
  }
  try {
    // A zombie has an empty one: it is over, only not yet buried.
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim() || null;
  } catch {
    return null;
  }
}

/** True when the process runs and its command line contains `marker`, e.g. its data directory. */
export function isRunning(pid: number, marker: string): boolean {
  return commandLine(pid)?.includes(marker) === true;
}

/** Ends processes if this one dies without having done so. */
export interface Reaper {
  /** Watches over a process from now on. Those added last are ended first. */
  watch(pid: number, signal: NodeJS.Signals): void;
  forget(pid: number): void;
  /** Nothing is watched over any more; the reaper goes. */
  dismiss(): void;
}

/**
 * Reads the current list, one line each time it changes, from a pipe that closes when its writer dies, however that
 * happens. Then it signals each process and waits up to 15 s for it before it takes the next.
 */
const script = `
trap '' INT TERM HUP
while read -r line; do list=$line; done
for entry in $list; do
  pid=\${entry#*:}
  kill -s "\${entry%%:*}" "$pid" 2>/dev/null || continue
  n=0
  while kill -0 "$pid" 2>/dev/null && [ $n -lt 150 ]; do sleep 0.1; n=$((n + 1)); done
  kill -s KILL "$pid" 2>/dev/null
done
`;

/**
 * A reaper is a process of its own in a session of its own, so that neither Ctrl-C nor the end of the terminal reaches
 * it. A shell, because it costs a megabyte.
 */
export function createReaper(): Reaper {
  const child = spawn('sh', ['-c', script, 'millrace-reaper'], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.on('error', () => {});
  child.stdin.on('error', () => {});
  child.unref();
  const watched: { pid: number; signal: NodeJS.Signals }[] = [];
  const write = () => {
    child.stdin.write(`${watched.map(({ pid, signal }) => `${signal.replace('SIG', '')}:${pid}`).join(' ')}\n`);
  };
  return {
    watch(pid, signal) {
      watched.unshift({ pid, signal });
      write();
    },
    forget(pid) {
      const index = watched.findIndex((entry) => entry.pid === pid);
      if (index < 0) return;
      watched.splice(index, 1);
      write();
    },
    dismiss() {
      watched.length = 0;
      write();
      child.stdin.end();
    },
  };
}

/** A port nobody listens on: `preferred`, else the next free one after it. 0 takes a random one. */
export async function freePort(preferred = 0, taken: ReadonlySet<number> = new Set()): Promise<number> {
  if (preferred === 0) return anyPort();
  for (let port = preferred; port <= 65_535; port++) {
    if (!taken.has(port) && (await isFree(port))) return port;
  }
  return anyPort();
}

/**
 * Looked at on every address: what listens on one of them only would let us listen on another, and a client would reach
 * the wrong one.
 */
export async function isFree(port: number): Promise<boolean> {
  for (const host of ['127.0.0.1', '0.0.0.0', '::1', '::']) {
    if (!(await canListen(port, host))) return false;
  }
  return true;
}

function canListen(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      // A machine without IPv6 has no such address for anybody.
      resolve(error.code === 'EADDRNOTAVAIL' || error.code === 'EAFNOSUPPORT');
    });
    server.listen({ port, host, ipv6Only: host.includes(':'), exclusive: true }, () =>
      server.close(() => resolve(true)),
    );
  });
}

/**
 * Below the ports that Linux (from 32768) and macOS (from 49152) give to outgoing connections: a server that is stopped and started
 * again would otherwise find its port taken by a connection.
 */
const anyPortRange = { first: 15_000, last: 32_767 };

async function anyPort(): Promise<number> {
  for (;;) {
    const port = randomInt(anyPortRange.first, anyPortRange.last + 1);
    if (await isFree(port)) return port;
  }
}
