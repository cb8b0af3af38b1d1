import net from 'node:net';
import tls from 'node:tls';
import type { Logger } from '@millrace/runtime';
import { type ISocketFactory, type ISocketFactoryArgs, type LogEntry, type logCreator, logLevel } from 'kafkajs';
import Connection from 'kafkajs/src/network/connection.js';
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';

/**
 * Sockets of one kafkajs client that can be torn down from outside.
 *
 * Reason: kafkajs 2.2.4 keeps using a connection whose requests time out, so behind a broker that is gone without a word
 * (pulled cable, frozen machine) it would wait for TCP to give up, a quarter of an hour.
 * Relies on: the setting `socketFactory`, which is public; on `network.request_timeout` naming the broker by the host and port
 * a socket was asked for; and on kafkajs reconnecting after a socket's error.
 * Witness: tracked-sockets.kafka.test.ts, and with whole logs event-log.faults.kafka.test.ts.
 * May go: when the client gives up a connection that does not answer.
 */
interface TrackedSockets {
  socketFactory: ISocketFactory;
  /** Breaks all connections, or those to one `host:port`. kafkajs sees a connection error and reconnects. */
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

/**
 * Reason: when a connection is cut in the middle of an answer, kafkajs 2.2.4 keeps what had arrived of it and takes the first
 * bytes of the next connection for the rest. From there on it reads sizes where there are none: requests go unanswered, or a
 * `RangeError` is thrown in the listener of a socket, where nobody can catch it and the process ends.
 * Relies on: `connect` of a connection, which is called for each new socket, and its `chunks`, `bytesBuffered` and
 * `bytesNeeded`, which say what has arrived and how much is waited for.
 * Witness: fresh-connection.kafka.test.ts. If kafkajs changes, `beginConnectionsAfresh` throws at start.
 * May go: when kafkajs forgets it by itself (https://github.com/tulios/kafkajs/issues/715).
 */

/** Bytes that say how long an answer is. */
const sizeBytes = 4;
let isCorrected = false;

/** @throws Error when kafkajs is not the one this was written for. */
export function beginConnectionsAfresh(): void {
  if (isCorrected) return;
  const { prototype } = Connection;
  const connect = prototype?.connect;
  if (typeof connect !== 'function' || typeof prototype.processData !== 'function') {
    throw new Error('kafkajs changed how it opens connections. Review connection.ts.');
  }
  prototype.connect = function connectAfresh(this: Connection) {
    if (!this.isConnected()) Object.assign(this, { chunks: [], bytesBuffered: 0, bytesNeeded: sizeBytes });
    return connect.call(this);
  };
  isCorrected = true;
}

/**
 * Reason: once a connection has had its first response, kafkajs 2.2.4 keeps a timer going on it that finds nothing to do and
 * sets itself again, with a negative delay, that is every millisecond: a process with a few idle connections spends
 * several percent of a core on it (and newer Nodes warn about the delay). The timer is only needed while requests wait
 * to be sent, or for the end of a throttling; this says so to the class, once per process.
 * Relies on: the request queue's `pending` and `scheduleCheckPendingRequests`.
 * Witness: request-queue-timer.test.ts. If kafkajs changes, `stopIdleRequestQueueTimer` throws at start.
 * May go: when kafkajs fixes it (https://github.com/tulios/kafkajs/issues/1751).
 */

let isTimerCorrected = false;

/** @throws Error when kafkajs is not the one this was written for. */
export function stopIdleRequestQueueTimer(): void {
  if (isTimerCorrected) return;
  const { prototype } = RequestQueue;
  const schedule = prototype?.scheduleCheckPendingRequests;
  if (typeof schedule !== 'function') {
    throw new Error('kafkajs changed its request queue. Review the queue timer in connection.ts.');
  }
  prototype.scheduleCheckPendingRequests = function scheduleWhenNeeded(this: RequestQueue) {
    if (this.pending.length > 0) schedule.call(this);
  };
  isTimerCorrected = true;
}

/**
 * Reason: kafkajs reports every retry, rebalance and first coordinator look-up as an error. What matters to an operator is said
 * by this package itself (unreachable, recovered, crashed for good), so nothing of kafkajs's own goes above `debug`,
 * except the one thing we would otherwise not notice: that a listener of ours failed.
 * Relies on: the text with which kafkajs tells of that, and the fields of its log entries that may hold records.
 * Witness: kafka-logging.test.ts.
 * May go: when the client throws errors of listeners where they are seen.
 */
export function kafkaLogCreator(logger: Logger): logCreator {
  return () =>
    ({ namespace, level, log }: LogEntry) => {
      const { message, timestamp: _timestamp, logger: _logger, stack: _stack, ...details } = log;
      const isOurFault = message.startsWith('Failed to execute listener');
      if (isOurFault) logger.error('a kafkajs listener failed', { namespace, detail: message });
      else if (level <= logLevel.INFO && logger.isDebugEnabled()) {
        logger.debug(message, { namespace, ...withoutBuffers(details) });
      }
    };
}

function withoutBuffers(details: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(details).filter(([name]) => name !== 'payload' && name !== 'data'));
}
