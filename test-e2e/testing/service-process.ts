import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface ServiceProcess {
  name: string;
  port: number;
  /** Sends a message over the process's channel, and waits for a response of one of the given types. */
  request<Reply extends { type: string }>(message: object, ...replyTypes: Reply['type'][]): Promise<Reply>;
  /** Resolves when the process has ended for any reason. The value is the exit code, or null after a signal. */
  ended: Promise<number | null>;
  /** Sends SIGKILL, so that the process cannot complete its work. */
  kill(): Promise<void>;
  /** Sends SIGSTOP. The process is suspended but keeps its connections and locks. */
  freeze(): void;
  /** Sends SIGCONT. The process continues as if no time had passed. */
  thaw(): void;
  /** Sends SIGTERM, and SIGKILL after 30 s. Resolves with the exit code. */
  stop(): Promise<number | null>;
  /** Returns the last log lines of the process. */
  output(): string;
}

const endWithParent = fileURLToPath(new URL('./end-with-parent.mjs', import.meta.url));

/**
 * Starts a compiled service and waits until it sends `{type: 'listening', port}` over its channel. The environment
 * contains only the given settings.
 * @param options.logFile a file for the complete output
 * @param options.probe a module that is loaded before the program
 * @throws Error with the end of the output if the service exits or is not ready after 60 s
 */
export async function startService(
  name: string,
  file: string,
  settings: Record<string, string | undefined>,
  { logFile, probe }: { logFile?: string | undefined; probe?: string } = {},
): Promise<ServiceProcess> {
  const imported = [endWithParent, ...(probe === undefined ? [] : [probe])].flatMap((one) => ['--import', one]);
  const child = spawn(process.execPath, ['--enable-source-maps', ...imported, file], {
    env: { NODE_ENV: 'test', STOP_DELAY_MS: '0', ...settings },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let end = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      end = (end + text).slice(-8000);
      if (logFile !== undefined) appendFileSync(logFile, text);
    });
  }
  const exit = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  const port = await new Promise<number>((resolve, reject) => {
    const fail = (why: string) => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      reject(new Error(`${name} ${why}. It said:\n${end}`));
    };
    const timer = setTimeout(() => fail('was not ready after 60 s'), 60_000);
    child.once('error', (error) => fail(`could not be started: ${error.message}`));
    void exit.then((code) => fail(`ended with ${code} before it was ready`));
    child.on('message', (message: { type?: string; port?: number }) => {
      if (message.type !== 'listening') return;
      clearTimeout(timer);
      resolve(message.port ?? 0);
    });
  });
  return {
    name,
    port,
    ended: exit,
    async kill() {
      child.kill('SIGKILL');
      await exit;
    },
    async request<Reply extends { type: string }>(message: object, ...replyTypes: Reply['type'][]) {
      const reply = new Promise<Reply>((resolve) => {
        const onMessage = (received: Reply) => {
          if (!replyTypes.includes(received.type)) return;
          child.off('message', onMessage);
          resolve(received);
        };
        child.on('message', onMessage);
      });
      child.send(message);
      const ended = exit.then((code): never => {
        throw new Error(`${name} ended with ${code}. It said:\n${end}`);
      });
      return Promise.race([reply, ended]);
    },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    async stop() {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 30_000);
      const code = await exit;
      clearTimeout(timer);
      return code;
    },
    output: () => end,
  };
}
