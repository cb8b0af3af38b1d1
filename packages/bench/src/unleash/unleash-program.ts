/** Runs Unleash as a measured process: on a port it takes itself, with its own settings for production. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';

export interface StartUnleashMessage {
  type: 'start-unleash';
  /** Of `installUnleash`. */
  file: string;
  databaseUrl: string;
}
export type UnleashAnswer = { type: 'unleash-started'; port: number } | { type: 'unleash-failed'; message: string };

interface Unleash {
  start(options: object): Promise<{ server: Server; stop(): Promise<void> }>;
}

const answer = (message: UnleashAnswer) => process.send?.(message);

process.on('message', (message: StartUnleashMessage | { type: 'usage' }) => {
  if (message.type !== 'start-unleash') return;
  start(message).then(
    (port) => answer({ type: 'unleash-started', port }),
    (error: Error) => answer({ type: 'unleash-failed', message: error.stack ?? error.message }),
  );
});
process.send?.({ type: 'listening', port: 0 });

async function start({ file, databaseUrl }: StartUnleashMessage): Promise<number> {
  const { start: startUnleash } = (await import(pathToFileURL(file).href)) as Unleash;
  const { hostname: host, port, username: user, password, pathname } = new URL(databaseUrl);
  const { server, stop } = await startUnleash({
    db: {
      ...{ host, port: Number(port || 5432), user, password: decodeURIComponent(password) },
      ...{ database: pathname.slice(1), ssl: false },
    },
    server: { host: '127.0.0.1', port: 0 },
  });
  process.on('SIGTERM', () => void stop().finally(() => process.exit(0)));
  return (server.address() as AddressInfo).port;
}
