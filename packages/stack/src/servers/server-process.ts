import { spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { SetupProblem } from '../command.ts';
import type { SystemUser } from '../run-program.ts';

// Starts and stops server processes, and describes servers that are already running.
export interface ServerProcessOptions {
  name: string;
  command: string;
  arguments: string[];
  /** A substring of the command line that is unique, such as a data directory or a config file. */
  marker: string;
  env?: Record<string, string | undefined>;
  /** The user that runs the server. By default, it is the user of this process. */
  user?: SystemUser | undefined;
  cwd?: string;
  logFile: string;
  /** The file that records the process, so that a later run finds the process if this run crashes. */
  recordFile: string;
  reaper: Reaper;
  stopSignal: NodeJS.Signals;
  stopPatienceMs: number;
}

export interface ServerProcess {
  pid: number;
  /** Resolves when the process has ended for any reason. */
  ended: Promise<void>;
  hasEnded(): boolean;
  lastLog(): string;
  stop(): Promise<void>;
}

/** Starts a server in a separate session. Otherwise, Ctrl-C would stop the server before its clients. */
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
      // The timer also keeps this process alive until the child process, which is unreferenced, has ended.
      const killTimer = setTimeout(() => child.kill('SIGKILL'), options.stopPatienceMs);
      await ended;
      clearTimeout(killTimer);
    },
  };
}

/** A server that was started but may not be ready yet. */
interface LaunchedServer {
  server: ServerProcess;
  address: string;
  isReady(): Promise<boolean>;
}

/**
 * Starts a server on a free port and waits until it is ready. Tries again if a different process takes the port first.
 * @param launch a function that chooses a port and starts the server, called again for each attempt
 * @throws SetupProblem like `waitUntilReady`
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
 * Polls until the server responds.
 * @throws SetupProblem with the end of the server's log if the server exits or does not respond within `timeoutMs`
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

export interface RunningServer {
  /** The server's address, in the format of DATABASE_URL, KAFKA_BROKERS or REDIS_URL. */
  address: string;
  /** Resolves if the server ends unexpectedly. Never resolves for a server that this process did not start. */
  ended: Promise<void>;
  lastLog(): string;
  stop(): Promise<void>;
}

/** Describes a server that is already running, and that the caller never stops. */
export function describeRunningServer(address: string): RunningServer {
  return { address, ended: new Promise(() => {}), lastLog: () => '', stop: async () => {} };
}

/** A process that a later run should find if this run crashes. */
export interface ProcessRecord {
  pid: number;
  /** A unique substring of the command line, which identifies the process even if its ID has been reused. */
  marker: string;
}

export function writeProcessRecord(file: string, record: ProcessRecord): void {
  writeFileSync(file, JSON.stringify(record), { mode: 0o600 });
}

/** Reads a process record. @returns null if the file does not exist or is invalid */
export function readProcessRecord(file: string): ProcessRecord | null {
  try {
    const { pid, marker } = JSON.parse(readFileSync(file, 'utf8')) as Partial<ProcessRecord>;
    return typeof pid === 'number' && typeof marker === 'string' && marker !== '' ? { pid, marker } : null;
  } catch {
    return null;
  }
}

/** Stops the process that an earlier run recorded, if it is still running, and deletes the record. */
export async function stopRecordedProcess(file: string, signal: NodeJS.Signals, patienceMs = 10_000): Promise<boolean> {
  const record = readProcessRecord(file);
  const wasRunning = record !== null && (await endProcess(record, signal, patienceMs));
  rmSync(file, { force: true });
  return wasRunning;
}

/** Sends `signal`, waits for up to `patienceMs`, and then sends SIGKILL. @returns whether the process was running */
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
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/**
 * Returns a process's complete command line, or null if the process does not run. The process ID does not identify the
 * process, because it may have been reused.
 */
function commandLine(pid: number): string | null {
  if (!Number.isInteger(pid) || pid <= 0) return null;
  if (process.platform !== 'linux') {
    const { stdout, status } = spawnSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
    return status === 0 ? stdout.trim() || null : null;
  }
  try {
    // A zombie process has an empty command line.
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim() || null;
  } catch {
    return null;
  }
}

/** Returns true if the process is running and its command line contains `marker`, for example its data directory. */
export function isRunning(pid: number, marker: string): boolean {
  return commandLine(pid)?.includes(marker) === true;
}

/** Ends processes if this process exits without stopping them. */
export interface Reaper {
  /** Starts watching a process. The most recently added processes are ended first. */
  watch(pid: number, signal: NodeJS.Signals): void;
  forget(pid: number): void;
  dismiss(): void;
}

/**
 * A shell script that reads the list of processes from a pipe, one line for each change. When the writer of the pipe
 * exits, the pipe closes. The script then sends a signal to each process, and waits up to 15 s for its end before it
 * continues with the next one.
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
 * Creates a reaper, which is a process in its own session, so that neither Ctrl-C nor closing the terminal ends it. The
 * process is a shell, because a shell needs only a megabyte of memory.
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

/** Returns the preferred port if it is free, and otherwise the next free port. For 0, returns a random free port. */
export async function findFreePort(preferred = 0, taken: ReadonlySet<number> = new Set()): Promise<number> {
  if (preferred === 0) return anyPort();
  for (let port = preferred; port <= 65_535; port++) {
    if (!taken.has(port) && (await isPortFree(port))) return port;
  }
  return anyPort();
}

/**
 * Returns whether a port is free on all IP addresses. If the port were in use on only one address, the server could
 * open it on a different one, and clients would connect to the wrong server.
 */
export async function isPortFree(port: number): Promise<boolean> {
  for (const host of ['127.0.0.1', '0.0.0.0', '::1', '::']) {
    if (!(await canListen(port, host))) return false;
  }
  return true;
}

function canListen(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      // A machine without IPv6 does not have the IPv6 address, so the port cannot be in use there.
      resolve(error.code === 'EADDRNOTAVAIL' || error.code === 'EAFNOSUPPORT');
    });
    server.listen({ port, host, ipv6Only: host.includes(':'), exclusive: true }, () =>
      server.close(() => resolve(true)),
    );
  });
}

/**
 * The range of ports to choose from. It is below the ports that Linux (from 32768) and macOS (from 49152) use for
 * outgoing connections, which could otherwise take a server's port while it restarts.
 */
const anyPortRange = { first: 15_000, last: 32_767 };

async function anyPort(): Promise<number> {
  for (;;) {
    const port = randomInt(anyPortRange.first, anyPortRange.last + 1);
    if (await isPortFree(port)) return port;
  }
}
