// The faults that the chaos test of the event consumers causes.

import { setTimeout as sleep } from 'node:timers/promises';
import { consumerGroup, eventTopics, topicNames } from '@millrace/contracts';
import { type BreakableServer, eventually, type FaultProxy, type KafkaFaultProxy } from '@millrace/testing';
import { Kafka, logLevel } from 'kafkajs';
import type { ChaosRun, Fault } from './chaos-run.ts';
import { type ChaosSystem, topicPrefix } from './chaos-system.ts';
import type { ConsumerPool } from './consumer-pool.ts';

export interface ConsumerFaultsDeps {
  system: ChaosSystem;
  pool: ConsumerPool;
  poolSize: number;
  postgresProxy: FaultProxy;
  kafkaProxy: KafkaFaultProxy;
  random: () => number;
  run(): ChaosRun;
  /** Restarts the gateway with the given event log, and uses this log for consumers that start later. */
  useLog(kind: 'kafka' | 'postgres'): Promise<void>;
}

const cutPauseMs = 700;
const repeatedEvents = 500;
/**
 * How many milliseconds a consumer is frozen before the fault counts as over. A frozen consumer may keep its partitions
 * for 15 seconds. After the fault, this leaves 10 seconds, the limit for a stall.
 */
const frozenBeforeMs = 5000;

export function createConsumerFaults(deps: ConsumerFaultsDeps): Fault[] {
  const { system, pool, poolSize, postgresProxy, kafkaProxy, random } = deps;
  let round = 0;

  async function restart(server: BreakableServer, gentle: NodeJS.Signals, ms: number): Promise<void> {
    await (round++ % 2 === 0 ? server.kill() : server.kill(gentle));
    await sleep(ms / 2);
    await server.restart();
  }

  return [
    {
      name: 'consumer-kill',
      async strike(ms) {
        const indexes = [...Array(pool.size()).keys()].sort(() => random() - 0.5);
        const count = 1 + Math.floor(random() * pool.size());
        await pool.kill(indexes.slice(0, count));
        await sleep(ms / 4);
        await pool.add(count);
      },
    },
    { name: 'broker-restart', strike: (ms) => restart(system.kafka, 'SIGTERM', ms) },
    { name: 'postgres-restart', strike: (ms) => restart(system.postgres, 'SIGINT', ms) },
    {
      name: 'connection-cut',
      async strike(ms) {
        for (const endsAt = performance.now() + ms / 2; performance.now() < endsAt; ) {
          postgresProxy.cut();
          await kafkaProxy.cut();
          await sleep(cutPauseMs);
        }
        await (round++ % 2 === 0 ? kafkaProxy : postgresProxy).blackHole();
        await sleep(ms / 2);
        await Promise.all([kafkaProxy.pass(), postgresProxy.pass()]);
      },
    },
    {
      name: 'consumer-freeze',
      // Resume the frozen consumer, and freeze another one. Under load, a consumer is nearly always in a transaction.
      async strike() {
        pool.thaw();
        pool.freeze(Math.floor(random() * pool.size()));
        await sleep(frozenBeforeMs);
      },
      end: () => pool.thaw(),
    },
    {
      name: 'rebalance-storm',
      async strike(ms) {
        for (let wave = 0; wave < 2; wave += 1) {
          await pool.dismiss(poolSize - 1);
          await sleep(ms / 4);
          await pool.add(poolSize - 1);
          await sleep(ms / 4);
        }
      },
    },
    // Repeat requests as clients do that did not receive the response.
    { name: 'repeated-requests', strike: () => deps.run().load.sendAgain(repeatedEvents) },
    {
      name: 'topic-replay',
      async strike() {
        await pool.dismiss(poolSize);
        const groups = eventTopics.map((topic) => consumerGroup(topic, topicPrefix));
        await system.database.query('DELETE FROM consumer_offset WHERE "group" = ANY($1)', [groups]);
        await pool.add(poolSize);
      },
    },
    {
      name: 'topic-recreated',
      async strike() {
        // Deleting the topic deletes its records, so consumers must read all of them first. The consumers are not
        // restarted.
        await deps.run().settle();
        await recreateTopics(system.kafka.address, Object.values(topicNames(topicPrefix)));
        deps.run().load.resume();
      },
    },
    {
      name: 'log-exchanged',
      async strike(ms) {
        // Wait for the consumers. Otherwise, the unread records in Kafka would be processed after newer events from
        // PostgreSQL.
        await deps.run().settle();
        await pool.dismiss(poolSize);
        await deps.useLog('postgres');
        deps.run().load.resume();
        await pool.add(poolSize);
        await sleep(ms / 2);
        // Stop all consumers, so that PostgreSQL accumulates a backlog, which consumers then read before Kafka.
        await pool.kill([...Array(pool.size()).keys()]);
        await sleep(ms / 4);
        await deps.useLog('kafka');
        await pool.add(poolSize);
      },
    },
  ];
}

async function recreateTopics(broker: string, names: readonly string[]): Promise<void> {
  const admin = new Kafka({ brokers: [broker], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    const { topics } = await admin.fetchTopicMetadata({ topics: [...names] });
    await admin.deleteTopics({ topics: [...names] });
    const recreated = topics.map(({ name, partitions }) => ({ topic: name, numPartitions: partitions.length }));
    // The broker may still be deleting the previous topic.
    await eventually(() => admin.createTopics({ topics: recreated }), { what: 'The topics' });
  } finally {
    await admin.disconnect();
  }
}
