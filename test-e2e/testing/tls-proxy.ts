import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import type { TestCertificate } from './test-certificates.ts';

/** A server in front of another one that speaks TLS, as the other does not. */
export interface TlsProxy {
  port: number;
  /** What clients have sent that was not TLS, apart from PostgreSQL's question for it. */
  inTheClear(): string;
  /** How many bytes came in through TLS: none from a client that refused the certificate. */
  inSecret(): number;
  stop(): Promise<void>;
}

export interface TlsProxyOptions {
  /** host:port behind the proxy. */
  target: { host: string; port: number };
  /** PostgreSQL's clients ask for TLS first, in eight bytes; others begin with it. */
  protocol: 'postgres' | 'tls';
  /** Null: it has none, and says so to those who ask. */
  certificate: TestCertificate | null;
}

const sslRequestBytes = 8;

/** On 127.0.0.1, also under the name `localhost`. */
export async function startTlsProxy({ target, protocol, certificate }: TlsProxyOptions): Promise<TlsProxy> {
  const sockets = new Set<Socket>();
  let clear = '';
  let secretBytes = 0;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    return socket;
  };

  function letIn(socket: Socket): void {
    if (certificate === null) {
      socket.on('data', (bytes) => {
        clear += bytes.toString('latin1');
      });
      return;
    }
    const inside = new TLSSocket(socket, { isServer: true, secureContext: createSecureContext(certificate) });
    inside.on('error', () => socket.destroy());
    inside.on('data', (bytes: Buffer) => {
      secretBytes += bytes.length;
    });
    const behind = keep(connect(target.port, target.host));
    inside.pipe(behind).pipe(inside);
    inside.on('close', () => behind.destroy());
    behind.on('close', () => inside.destroy());
  }

  const server = createServer((socket) => {
    keep(socket);
    if (protocol === 'tls') return letIn(socket);
    socket.once('readable', () => {
      const question: Buffer | null = socket.read(sslRequestBytes);
      // 80877103: https://www.postgresql.org/docs/current/protocol-message-formats.html (SSLRequest)
      if (question?.readInt32BE(4) !== 80_877_103) {
        clear += question?.toString('latin1') ?? '';
        return void socket.destroy();
      }
      socket.write(certificate === null ? 'N' : 'S');
      letIn(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    inTheClear: () => clear,
    inSecret: () => secretBytes,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
