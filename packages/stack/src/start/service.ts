import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, type WriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { SetupProblem } from '../command.ts';
import { shortLogLine } from './short-log-line.ts';

export interface ServiceOptions {
  /** The built program of all services. */
  file: string;
  env: Record<string, string | undefined>;
  /** Where it tells whether it is ready. */
  healthUrl: string;
  logFile: string;
  /** A line for the person at the terminal. */
  tell(line: string): void;
}

/** One start of the services, until their process ends. */
export interface ServiceRun {
  pid: number;
  ended: Promise<string>;
  /** SIGTERM, and SIGKILL when it has not drained after 65 s. */
  stop(): Promise<void>;
}

const endWithParent = fileURLToPath(new URL('../servers/end-with-parent.mjs', import.meta.url));
const readyWithinMs = 60_000;
/** A little longer than the services give themselves, those that answer and those that work one after the other. */
const drainedWithinMs = 65_000;

/** Thrown when a port was taken between looking and listening. */
export class PortTaken extends Error {}

/**
 * Starts the services and waits until they say that they are ready for their work.
 * @throws PortTaken, or SetupProblem with the end of what it said when it ends before that.
 */
export async function startService(options: ServiceOptions): Promise<ServiceRun> {
  const { file, env, logFile, healthUrl } = options;
  // A group of ours: Ctrl-C reaches all, and each drains; what is still needed by others is stopped by us, in order.
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
      const impatience = setTimeout(() => child.kill('SIGKILL'), drainedWithinMs);
      await ended;
      clearTimeout(impatience);
    },
  };
}

/** All of it goes to the file, what a person should see to the terminal. @returns the end of it. */
function followOutput(child: ChildProcess, log: WriteStream, { tell }: ServiceOptions): () => string {
  let end = '';
  for (const stream of [child.stdout, child.stderr]) {
    if (!stream) continue;
    createInterface({ input: stream }).on('line', (line) => {
      end = `${end}${line}\n`.slice(-8000);
      log.write(`${line}\n`);
      const short = shortLogLine(line);
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
      const said = output().trim();
      reject(
        /EADDRINUSE/.test(said)
          ? new PortTaken()
          : new SetupProblem(`The services process ${why}. Its last output:\n${said}`),
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
 * Ready is later than listening: a consumer has to join its groups first. One that is not ready in time may still become
 * so, and says in its log what it waits for.
 */
async function untilReady(url: string, hasEnded: () => boolean): Promise<void> {
  const deadline = Date.now() + readyWithinMs;
  while (!hasEnded() && Date.now() < deadline && !(await answersOk(url))) await sleep(100);
}

async function answersOk(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(2000) })).ok;
  } catch {
    return false;
  }
}
