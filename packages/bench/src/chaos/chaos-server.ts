import { join } from 'node:path';
import { readProcessRecord } from '@millrace/stack/src/process/process-record.ts';
import type { RunningServer } from '@millrace/stack/src/process/running-server.ts';

/** A server of a chaos run's own that can be broken and repaired. */
export interface ChaosServer {
  /** Stays the same over every fault. */
  address: string;
  /** False when it was killed, and when it has ended by itself. */
  isRunning(): boolean;
  /** SIGKILL or what comes closest; resolves when it is gone. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Its kernel still takes connections and bytes, but nobody answers: a black hole. */
  freeze(): void;
  thaw(): void;
  /** The same server with the same data again; resolves when it answers. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface ChaosServerOptions {
  /** Where it keeps its files, with the record of its process. */
  directory: string;
  /** Starts it on the port it had before, or a free one the first time (0). */
  start(port: number): Promise<RunningServer>;
  killSignal: NodeJS.Signals;
}

export async function startChaosServer(options: ChaosServerOptions): Promise<ChaosServer> {
  let isRunning = false;
  let server = await start(0);
  const { address } = server;
  const port = Number(/:(\d+)(?:\/|$)/.exec(address)?.[1]);

  async function start(at: number): Promise<RunningServer> {
    const started = await options.start(at);
    isRunning = true;
    void started.ended.then(() => {
      isRunning = false;
    });
    return started;
  }

  function send(signal: NodeJS.Signals): void {
    const record = readProcessRecord(join(options.directory, 'process.json'));
    if (record === null) throw new Error(`nothing is known of the process of ${options.directory}`);
    process.kill(record.pid, signal);
  }

  return {
    address,
    isRunning: () => isRunning,
    async kill(signal = options.killSignal) {
      if (!isRunning) return;
      send(signal);
      await server.ended;
    },
    freeze: () => send('SIGSTOP'),
    thaw: () => send('SIGCONT'),
    async restart() {
      if (isRunning) return;
      server = await start(port);
      if (server.address !== address) throw new Error(`a server did not come back where it was: ${options.directory}`);
    },
    async stop() {
      if (isRunning) await server.stop();
    },
  };
}
