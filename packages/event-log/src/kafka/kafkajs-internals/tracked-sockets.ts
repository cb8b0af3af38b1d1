import net from 'node:net';
import tls from 'node:tls';
import type { ISocketFactory, ISocketFactoryArgs } from 'kafkajs';

/**
 * Sockets of one kafkajs client that can be torn down from outside.
 *
 * Reason: kafkajs 2.2.4 goes on using a connection whose requests time out, so behind a broker that is gone without a word
 * (pulled cable, frozen machine) it would wait for TCP to give up, a quarter of an hour.
 * Relies on: the setting `socketFactory`, which is public; on `network.request_timeout` naming the broker by the host and port
 * a socket was asked for; and on kafkajs connecting anew after a socket's error.
 * Witness: tracked-sockets.test.ts, and with whole logs event-log.faults.test.ts.
 * May go: when the client gives up a connection that does not answer.
 */
export interface TrackedSockets {
  socketFactory: ISocketFactory;
  /** Breaks all connections, or those to one `host:port`. kafkajs sees a connection error and connects anew. */
  destroy(reason: string, broker?: string): void;
  /** Breaks all connections and lets no new one come up: what kafkajs still retries by itself fails. */
  retire(reason: string): void;
}

/** @param lost told whenever a connection is over that was up, unless all are given up. */
export function createTrackedSockets(
  connect: ISocketFactory = connectSocket,
  lost: () => void = () => {},
): TrackedSockets {
  const sockets = new Map<net.Socket, string>();
  let retiredBecause: string | null = null;

  function destroy(reason: string, broker?: string): void {
    for (const [socket, address] of [...sockets]) {
      if (broker === undefined || broker === address) socket.destroy(new Error(reason));
    }
  }

  return {
    socketFactory(args) {
      if (retiredBecause !== null) return failedSocket(retiredBecause);
      const socket = connect(args);
      sockets.set(socket, `${args.host}:${args.port}`);
      let wasUp = false;
      socket.once('connect', () => {
        wasUp = true;
      });
      socket.once('close', () => {
        sockets.delete(socket);
        if (wasUp && retiredBecause === null) lost();
      });
      return socket;
    },
    destroy,
    retire(reason) {
      retiredBecause = reason;
      destroy(reason);
    },
  };
}

function failedSocket(reason: string): net.Socket {
  const socket = new net.Socket();
  // Later, when kafkajs has put its listeners on.
  setImmediate(() => socket.destroy(new Error(reason)));
  return socket;
}

/** @types kafkajs says `ssl` is always there; it is null or a boolean as well. */
function connectSocket({ host, port, ssl, onConnect }: ISocketFactoryArgs): net.Socket {
  const options = ssl as tls.ConnectionOptions | boolean | null | undefined;
  if (!options) return net.connect({ host, port, keepAlive: true, noDelay: true }, onConnect);
  const settings = options === true ? {} : options;
  const servername = net.isIP(host) ? {} : { servername: host };
  const socket = tls.connect({ host, port, ...servername, ...settings }, onConnect);
  socket.setKeepAlive(true);
  return socket.setNoDelay(true);
}
