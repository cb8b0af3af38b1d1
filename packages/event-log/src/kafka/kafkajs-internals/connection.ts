import net from 'node:net';
import tls from 'node:tls';
import type { Logger } from '@millrace/runtime';
import { type ISocketFactory, type ISocketFactoryArgs, type LogEntry, type logCreator, logLevel } from 'kafkajs';
import Connection from 'kafkajs/src/network/connection.js';
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';

/**
 * Sockets of one kafkajs client that can be closed from outside.
 *
 * Reason for this workaround: kafkajs 2.2.4 keeps using a connection whose requests time out. When a broker disappears
 * without closing it (pulled cable, frozen machine), kafkajs would wait about 15 minutes for TCP to give up. Relies on:
 * the public setting `socketFactory`; on `network.request_timeout` naming the broker by the host and port that the
 * socket was requested for; and on kafkajs reconnecting after a socket error. Test: tracked-sockets.kafka.test.ts, and
 * with complete logs event-log.faults.kafka.test.ts. Remove this workaround when the client closes connections that do
 * not respond.
 */
interface TrackedSockets {
  socketFactory: ISocketFactory;
  /**
   * Closes all connections, or only the connections to one broker (`host:port`). kafkajs treats this as a connection
   * error and reconnects.
   */
  destroy(reason: string, broker?: string): void;
  /** Closes all connections and prevents new ones, so that retries in kafkajs fail. */
  retire(reason: string): void;
}

/**
 * Creates a socket factory that tracks the sockets of one client.
 * @param lost a function that is called whenever an established connection is lost, except after `retire`
 */
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
  // Wait until kafkajs has attached its listeners.
  setImmediate(() => socket.destroy(new Error(reason)));
  return socket;
}

/** The types of kafkajs declare that `ssl` is always present, but it may also be null or a boolean. */
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
 * Reason for this workaround: when a connection is cut in the middle of a response, kafkajs 2.2.4 keeps the received
 * bytes and treats the first bytes of the next connection as the rest of the response. From then on, it reads sizes at
 * wrong positions. Requests get no response, or a `RangeError` is thrown in a socket listener, where it cannot be
 * caught and ends the process. Relies on: `connect` of a connection, which is called for each new socket, and its
 * fields `chunks`, `bytesBuffered` and `bytesNeeded`, which describe the received and the expected bytes. Test:
 * connection-buffers.kafka.test.ts. If kafkajs changes, `resetConnectionBuffers` throws at start. Remove this
 * workaround when kafkajs discards these bytes (https://github.com/tulios/kafkajs/issues/715).
 */

/** The size of a response's length field in bytes. */
const sizeBytes = 4;
let isCorrected = false;

/**
 * Makes kafkajs discard the bytes of an incomplete response when it reconnects. Applies to the whole process, and has
 * an effect only once.
 * @throws Error if the version of kafkajs is not supported
 */
export function resetConnectionBuffers(): void {
  if (isCorrected) return;
  const { prototype } = Connection;
  const connect = prototype?.connect;
  if (typeof connect !== 'function' || typeof prototype.processData !== 'function') {
    throw new Error('kafkajs changed how it opens connections. Review connection.ts.');
  }
  prototype.connect = function connectWithEmptyBuffers(this: Connection) {
    if (!this.isConnected()) Object.assign(this, { chunks: [], bytesBuffered: 0, bytesNeeded: sizeBytes });
    return connect.call(this);
  };
  isCorrected = true;
}

/**
 * Reason for this workaround: after the first response on a connection, kafkajs 2.2.4 keeps a timer running that has
 * nothing to do. Its delay is negative, so it runs every millisecond. A process with a few idle connections spends
 * several percent of a core on these timers, and newer Node.js versions warn about the delay. The timer is needed only
 * while requests wait to be sent, or until throttling ends. This function patches the class accordingly, once per
 * process. Relies on: the request queue's `pending` and `scheduleCheckPendingRequests`. Test:
 * request-queue-timer.test.ts. If kafkajs changes, `stopIdleRequestQueueTimer` throws at start. Remove this workaround
 * when kafkajs fixes the timer (https://github.com/tulios/kafkajs/issues/1751).
 */

let isTimerCorrected = false;

/** Patches the request queue's timer, once per process. @throws Error if the version of kafkajs is not supported */
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
 * Reason for this workaround: kafkajs logs every retry, rebalance and first coordinator lookup as an error. This
 * package already logs what matters to an operator (unreachable, recovered, crashed permanently). Messages from kafkajs
 * are therefore logged at `debug`, with one exception: a failure of one of our listeners, which would otherwise go
 * unnoticed. Relies on: the text of the message about a failed listener, and the names of log fields that may contain
 * records. Test: kafka-logging.test.ts. Remove this workaround when the client throws the errors of listeners where
 * callers can see them.
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
