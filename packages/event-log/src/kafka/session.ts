// Opens kafkajs's producer and admin client, and replaces both when their connections seem broken.

import { withDeadline } from '@millrace/runtime';
import { type Admin, Kafka, type KafkaConfig, type Producer } from 'kafkajs';
import type { Reachability } from '../reachability.ts';
import type { KafkaLogOptions } from './config.ts';
import { createTrackedSockets, kafkaLogCreator } from './kafkajs-internals/connection.ts';
import { presetPartitioner } from './kafkajs-internals/produce.ts';

/**
 * Connection time limits in milliseconds. With kafkajs's defaults, detecting an unresponsive broker would take more
 * than 25 s.
 */
const connectionLimits = { connectionTimeout: 1000, authenticationTimeout: 1500 } as const;

export interface KafkaSession {
  kafka: Kafka;
  producer: Producer;
  admin: Admin;
}

interface OpenSession extends KafkaSession {
  close(): Promise<void>;
  retire(reason: string): void;
}

/**
 * Manages one producer and one admin client. When their connections seem broken, both clients are discarded, and
 * new ones are created on the next use. kafkajs can get into broken states, and nothing else recovers from them reliably.
 */
export function createKafkaSessions(options: KafkaLogOptions, requestTimeoutMs: number) {
  let current: Promise<OpenSession> | undefined;
  let opened = 0;
  let reachability: Reachability | undefined;

  /** Runs `work` on the current session for at most `timeoutMs`, which includes the time to connect. */
  async function use<T>(work: (session: KafkaSession) => Promise<T>, timeoutMs: number, what: string): Promise<T> {
    current ??= open(options, rotate(options.brokers, opened++), requestTimeoutMs);
    const ownSession = current;
    try {
      const result = await withDeadline(
        ownSession.then((session) => work(session)),
        timeoutMs,
        what,
      );
      reachability?.succeeded();
      return result;
    } catch (error) {
      if (isConnectionFailure(error)) {
        reachability?.failed(error);
        drop(ownSession, what);
      }
      throw error;
    }
  }

  function drop(session: Promise<OpenSession>, reason: string): void {
    if (current === session) current = undefined;
    session.then(
      ({ retire }) => retire(`gave up: ${reason}`),
      () => {},
    );
  }

  return {
    use,
    reportTo(target: Reachability): void {
      reachability = target;
    },
    renew(reason: string): void {
      if (current !== undefined) drop(current, reason);
    },
    async close(timeoutMs: number): Promise<void> {
      const last = current;
      current = undefined;
      if (last === undefined) return;
      try {
        await withDeadline(
          last.then(({ close }) => close()),
          timeoutMs,
          'closing',
        );
      } catch {
        drop(last, 'closing');
      }
    },
  };
}

export type KafkaSessions = ReturnType<typeof createKafkaSessions>;

async function open(options: KafkaLogOptions, brokers: string[], requestTimeoutMs: number): Promise<OpenSession> {
  const sockets = createTrackedSockets(options.socketFactory);
  const kafka = new Kafka({
    ...clientConfig(options, brokers),
    requestTimeout: requestTimeoutMs,
    retry: { retries: brokers.length, initialRetryTime: 50, maxRetryTime: 250, factor: 0.2, multiplier: 2 },
    socketFactory: sockets.socketFactory,
  });
  const producer = kafka.producer({ createPartitioner: presetPartitioner, allowAutoTopicCreation: false });
  const admin = kafka.admin();
  producer.on('producer.network.request_timeout', ({ payload }) =>
    sockets.destroy('request timed out', payload.broker),
  );
  admin.on('admin.network.request_timeout', ({ payload }) => sockets.destroy('request timed out', payload.broker));
  const close = async () => {
    await Promise.allSettled([producer.disconnect(), admin.disconnect()]);
  };
  const retire = (reason: string) => {
    sockets.retire(reason);
    void close();
  };
  try {
    await withDeadline(Promise.all([producer.connect(), admin.connect()]), requestTimeoutMs, 'connecting');
  } catch (error) {
    retire('could not connect');
    throw error;
  }
  return { kafka, producer, admin, close, retire };
}

export function clientConfig(options: KafkaLogOptions, brokers: string[]): KafkaConfig {
  return {
    brokers,
    clientId: options.clientId,
    ...connectionLimits,
    ...(options.ssl === undefined ? {} : { ssl: options.ssl }),
    ...(options.sasl === undefined ? {} : { sasl: options.sasl }),
    logCreator: kafkaLogCreator(options.logger),
  };
}

/**
 * Rotates the list of brokers, so that each session starts with a different broker. kafkajs always tries the list's
 * first broker first, even if that broker is down.
 */
function rotate(brokers: string[], by: number): string[] {
  const start = by % brokers.length;
  return [...brokers.slice(start), ...brokers.slice(0, start)];
}

/**
 * Returns whether an error means that the connection failed. An error that the broker returned proves that the
 * connection works.
 */
function isConnectionFailure(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause.name === 'KafkaJSProtocolError' || cause.name === 'KafkaJSAggregateError') return false;
    if (cause.name === 'KafkaJSCreateTopicError' || cause instanceof TypeError) return false;
  }
  return true;
}
