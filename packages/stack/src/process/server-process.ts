// Servers that others use: one that runs somewhere, and one that is started here and watched over.
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { SetupProblem } from '../setup-problem.ts';
import { writeProcessRecord } from './process-record.ts';
import type { Reaper } from './reaper.ts';
import type { SystemUser } from './unprivileged-user.ts';

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
    if (server.hasEnded()) throw new SetupProblem(`${name} ended while it was starting:\n${server.lastLog()}`);
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
