import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { environment } from '@millrace/runtime';

export interface Usage {
  /** User and system time of the whole process since its start, microseconds. */
  cpuMicros: number;
  /** Largest resident memory since its start, bytes. */
  maxRssBytes: number;
}

export interface KeptMemory {
  /** The heap and the buffers beside it after a full collection, bytes. */
  keptBytes: number;
  /** Resident memory now, bytes; the heap gives back what it took with delay. */
  rssBytes: number;
}

/** A child process that can be asked what it used. */
export interface MeasuredProcess {
  /** Where it listens; 0 when it serves nothing. */
  port: number;
  usage(): Promise<Usage>;
  /** Collects first: not while something is measured. */
  memory(): Promise<KeptMemory>;
  /** Sends a message and waits for the answer of the given type. */
  ask<Answer extends { type: string }>(message: object, ...answerTypes: Answer['type'][]): Promise<Answer>;
  /** SIGTERM, and SIGKILL after 10 s. */
  stop(): Promise<void>;
}

/**
 * Starts a compiled program in plain Node and waits until it says `{type: 'listening', port}`.
 * @throws Error with the end of its output when it ends or stays silent for 30 s before that.
 */
export async function startMeasured(file: string, settings: Record<string, string> = {}): Promise<MeasuredProcess> {
  const child = spawn(process.execPath, ['--enable-source-maps', '--import', probe, file], {
    env: { ...environment(), NODE_ENV: 'production', NODE_OPTIONS: '', ...settings },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const output = keepEnd(child);
  const hasEnded = new Promise<never>((_, reject) => {
    child.once('exit', (code, signal) => reject(new Error(`${file} ended (${signal ?? code}).\n${output()}`)));
  });
  hasEnded.catch(() => {});

  async function ask<Answer extends { type: string }>(message: object | null, ...answerTypes: Answer['type'][]) {
    const answer = new Promise<Answer>((resolve) => {
      const onMessage = (received: Answer) => {
        if (!answerTypes.includes(received.type)) return;
        child.off('message', onMessage);
        resolve(received);
      };
      child.on('message', onMessage);
    });
    if (message) child.send(message);
    return Promise.race([answer, hasEnded]);
  }

  const silence = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error(`${file} did not become ready in 30 s.\n${output()}`)), 30_000).unref();
  });
  const listening = ask<{ type: 'listening'; port: number }>(null, 'listening');
  const { port } = await Promise.race([listening, silence]).catch((error) => {
    child.kill('SIGKILL');
    throw error;
  });
  return {
    port,
    usage: () => ask<Usage & { type: 'usage' }>({ type: 'usage' }, 'usage'),
    memory: () => ask<KeptMemory & { type: 'memory' }>({ type: 'memory' }, 'memory'),
    ask,
    stop: () => stopChild(child),
  };
}

const probe = fileURLToPath(new URL('./usage-probe.mjs', import.meta.url));

/** The last 4,000 characters a child wrote. */
function keepEnd(child: ChildProcess): () => string {
  let end = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      end = (end + text).slice(-4000);
    });
  }
  return () => end;
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await ended;
  clearTimeout(timer);
}

/** Asks a service until it says that it is ready. @throws Error when it has not within 30 s. */
export async function waitUntilReady(port: number): Promise<void> {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}/_readiness`).catch(() => null);
    if (response?.ok) return;
    if (performance.now() > deadline) {
      throw new Error(`Not ready after 30 s: ${(await response?.text()) ?? 'no answer'}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
