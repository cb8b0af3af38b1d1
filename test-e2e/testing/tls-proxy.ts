import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import type { TestCertificate } from './test-certificates.ts';

/** A TLS server in front of a server without TLS. */
export interface TlsProxy {
  port: number;
  /** Returns the data that clients sent without TLS, except PostgreSQL's SSLRequest. */
  plaintextReceived(): string;
  encryptedByteCount(): number;
  stop(): Promise<void>;
}

export interface TlsProxyOptions {
  target: { host: string; port: number };
  /** PostgreSQL clients send an SSLRequest of eight bytes before they start TLS. */
  protocol: 'postgres' | 'tls';
  /** If null, the proxy does not support TLS, and rejects an SSLRequest. */
  certificate: TestCertificate | null;
}

const sslRequestBytes = 8;

/** Starts a TLS proxy on 127.0.0.1, which clients can also reach as `localhost`. */
export async function startTlsProxy({ target, protocol, certificate }: TlsProxyOptions): Promise<TlsProxy> {
  const sockets = new Set<Socket>();
  let clear = '';
  let secretBytes = 0;
  const track = (socket: Socket) => {
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
    const behind = track(connect(target.port, target.host));
    inside.pipe(behind).pipe(inside);
    inside.on('close', () => behind.destroy());
    behind.on('close', () => inside.destroy());
  }

  const server = createServer((socket) => {
    track(socket);
    if (protocol === 'tls') return letIn(socket);
    socket.once('readable', () => {
      const question: Buffer | null = socket.read(sslRequestBytes);
      // 80877103 is the code of an SSLRequest: https://www.postgresql.org/docs/current/protocol-message-formats.html
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
    plaintextReceived: () => clear,
    encryptedByteCount: () => secretBytes,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
