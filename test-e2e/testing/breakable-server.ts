import { join } from 'node:path';
import { type RunningServer, readProcessRecord } from '@millrace/stack/servers/server-process';

export interface BreakableServer {
  /** Host and port of the server, which are the same after every fault. */
  address: string;
  isRunning(): boolean;
  /** Sends SIGKILL or the given signal. Resolves when the process has ended. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Suspends the process. The kernel still accepts connections and bytes, but the server does not respond. */
  freeze(): void;
  thaw(): void;
  /** Starts the server with the same data. Resolves when it responds. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

interface BreakableServerOptions {
  /** Directory of the server's files, including its PID file. */
  directory: string;
  /** Starts the server on the given port. 0 means any free port. */
  start(port: number): Promise<RunningServer>;
  killSignal: NodeJS.Signals;
}

export async function startBreakableServer(options: BreakableServerOptions): Promise<BreakableServer> {
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
    if (record === null) throw new Error(`The process of ${options.directory} is unknown.`);
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
      if (server.address !== address) throw new Error(`A server restarted at another address: ${server.address}`);
    },
    async stop() {
      if (isRunning) await server.stop();
    },
  };
}
