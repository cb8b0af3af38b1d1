import { createServer } from 'node:net';

/** A port nobody listens on: `preferred`, else the next free one after it. 0 takes any. */
export async function freePort(preferred = 0, taken: ReadonlySet<number> = new Set()): Promise<number> {
  if (preferred === 0) return anyPort();
  for (let port = preferred; port <= 65_535; port++) {
    if (!taken.has(port) && (await isFree(port))) return port;
  }
  return anyPort();
}

/**
 * Looked at on every address: what listens on one of them only would let us listen on another, and a client would reach
 * the wrong one.
 */
export async function isFree(port: number): Promise<boolean> {
  for (const host of ['127.0.0.1', '0.0.0.0', '::1', '::']) {
    if (!(await canListen(port, host))) return false;
  }
  return true;
}

function canListen(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      // A machine without IPv6 has no such address for anybody.
      resolve(error.code === 'EADDRNOTAVAIL' || error.code === 'EAFNOSUPPORT');
    });
    server.listen({ port, host, ipv6Only: host.includes(':'), exclusive: true }, () =>
      server.close(() => resolve(true)),
    );
  });
}

function anyPort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
