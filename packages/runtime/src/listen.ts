// Starts an HTTP server on its configured port.

import type { AddressInfo, Server } from 'node:net';

export interface ListenOptions {
  port: number;
  host: string;
  /** The name of the environment variable that sets the port, for error messages. */
  setting: string;
}

/** @returns the actual port @throws Error with the code EADDRINUSE and the name of the setting */
export async function listen(server: Server, { port, host, setting }: ListenOptions): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(error.code === 'EADDRINUSE' ? taken(error) : error));
    server.listen(port, host, resolve);
  });
  return (server.address() as AddressInfo).port;

  function taken(cause: Error): Error {
    const message = `EADDRINUSE: port ${port} of ${host} is in use. Stop the process that uses it, or set ${setting} to a free port.`;
    return Object.assign(new Error(message, { cause }), { code: 'EADDRINUSE' });
  }
}
