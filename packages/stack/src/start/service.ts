// Starts the process that runs the services, and waits until it is ready.

import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, type WriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { SetupProblem } from '../command.ts';
import { shortenLogLine } from './short-log-line.ts';

export interface ServiceOptions {
  file: string;
  env: Record<string, string | undefined>;
  healthUrl: string;
  logFile: string;
  tell(line: string): void;
}

export interface ServiceRun {
  pid: number;
  ended: Promise<string>;
  /** Sends SIGTERM, and SIGKILL if the services have not shut down after 65 s. */
  stop(): Promise<void>;
}

const endWithParent = fileURLToPath(new URL('../servers/end-with-parent.mjs', import.meta.url));
const readyWithinMs = 60_000;
/**
 * A little longer than the time limits of the services. Services that serve requests stop first, and background
 * services afterwards.
 */
const drainedWithinMs = 65_000;

/** Thrown if a port was found to be free, but a different process took it before it was used. */
export class PortTaken extends Error {}

/**
 * Starts the services and waits until they report that they are ready.
 * @throws PortTaken, or SetupProblem with the end of the output if the process exits
 */
export async function startService(options: ServiceOptions): Promise<ServiceRun> {
  const { file, env, logFile, healthUrl } = options;
  // Ctrl-C reaches the services directly, because they are in the same process group, and they shut down. The servers
  // that the services use are stopped afterwards, in order.
  const child = spawn(process.execPath, ['--enable-source-maps', '--import', endWithParent, file], {
    env: { ...env, MILLRACE_PARENT: String(process.pid) },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const log = createWriteStream(logFile, { flags: 'a', mode: 0o600 });
  const output = followOutput(child, log, options);
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(`could not be started: ${error.message}`));
    child.once('exit', (code, signal) => resolve(signal ? `was terminated by ${signal}` : `exited with code ${code}`));
  });
  child.once('close', () => log.end());
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });
  await untilListening(child, ended, output);
  await untilReady(`${healthUrl}/_readiness`, () => hasEnded);
  return {
    pid: child.pid ?? 0,
    ended,
    async stop() {
      child.kill('SIGTERM');
      const killTimer = setTimeout(() => child.kill('SIGKILL'), drainedWithinMs);
      await ended;
      clearTimeout(killTimer);
    },
  };
}

/**
 * Writes all output to the file, and those lines that the user should see to the terminal.
 * @returns a function that returns the end of the output
 */
function followOutput(child: ChildProcess, log: WriteStream, { tell }: ServiceOptions): () => string {
  let end = '';
  for (const stream of [child.stdout, child.stderr]) {
    if (!stream) continue;
    createInterface({ input: stream }).on('line', (line) => {
      end = `${end}${line}\n`.slice(-8000);
      log.write(`${line}\n`);
      const short = shortenLogLine(line);
      if (short !== null) tell(`  ${short}`);
    });
  }
  return () => end;
}

async function untilListening(child: ChildProcess, ended: Promise<string>, output: () => string): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      const lastOutput = output().trim();
      reject(
        /EADDRINUSE/.test(lastOutput)
          ? new PortTaken()
          : new SetupProblem(`The services process ${why}. Its last output:\n${lastOutput}`),
      );
    };
    const timer = setTimeout(() => fail(`was not ready after ${readyWithinMs / 1000} s`), readyWithinMs);
    void ended.then(fail);
    child.on('message', (message: { type?: string }) => {
      if (message.type !== 'listening') return;
      clearTimeout(timer);
      resolve();
    });
  });
}

/**
 * Waits until the services are ready. Services listen before they are ready, because a consumer must first join its
 * groups. A service that is not ready at the deadline can still become ready. The log says what the service waits for.
 */
async function untilReady(url: string, hasEnded: () => boolean): Promise<void> {
  const deadline = Date.now() + readyWithinMs;
  while (!hasEnded() && Date.now() < deadline && !(await respondsOk(url))) await sleep(100);
}

async function respondsOk(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(2000) })).ok;
  } catch {
    return false;
  }
}
