import { setTimeout as sleep } from 'node:timers/promises';
import { consumerGroup, lanes, topicNames } from '@millrace/contracts';
import type { FaultProxy, KafkaFaultProxy } from '@millrace/testing';
import type { ChaosServer } from './chaos-server.ts';
import { topicPrefix } from './chaos-services.ts';
import type { ChaosSystem } from './chaos-system.ts';
import type { ConsumerPool } from './consumer-pool.ts';
import { produceAgain } from './produce-again.ts';
import { attackByPublicKey } from './public-key-attack.ts';
import { recreateTopics } from './recreate-topics.ts';

export interface ConsumerFault {
  name: string;
  /** Breaks something, for `ms` where it has a length; resolves when everything is repaired, or must be borne. */
  strike(ms: number): Promise<void>;
  /** Ends what was to be borne. */
  end?(): void;
}

export interface ConsumerFaultsDeps {
  system: ChaosSystem;
  pool: ConsumerPool;
  /** What the consumers reach their servers through. */
  postgresProxy: FaultProxy;
  kafkaProxy: KafkaFaultProxy;
  random: () => number;
  gatewayUrl: string;
  /** Stops sending, and resolves when all that was sent has taken effect. */
  rest(): Promise<void>;
  /** Sends again. */
  goOn(): void;
  /** Has the gateway, and consumers that start from now on, use this log; the gateway is started again. */
  useLog(kind: 'kafka' | 'postgres'): Promise<void>;
}

const poolSize = 4;
const cutPauseMs = 700;
const repeatedRecords = 3000;
/** A stopped consumer delays its partitions for fifteen seconds at most; the limit of a stall is the rest of it. */
const frozenBeforeMs = 5000;

export function consumerFaults(deps: ConsumerFaultsDeps): ConsumerFault[] {
  const { system, pool, postgresProxy, kafkaProxy, random, gatewayUrl } = deps;
  let round = 0;

  async function restarted(server: ChaosServer, gentle: NodeJS.Signals, ms: number): Promise<void> {
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
    { name: 'broker-restart', strike: (ms) => restarted(system.kafka, 'SIGTERM', ms) },
    { name: 'postgres-restart', strike: (ms) => restarted(system.postgres, 'SIGINT', ms) },
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
      // The one before goes on when the next one stops. Under load nearly every moment is one inside a transaction.
      async strike() {
        pool.thaw();
        pool.freeze(Math.floor(random() * pool.size()));
        await sleep(frozenBeforeMs);
      },
      end: () => pool.thaw(),
    },
    {
      name: 'public-key-attack',
      strike: () => attackByPublicKey(gatewayUrl, system.stranger.projectApiKey),
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
    {
      name: 'duplicate-produce',
      strike: () => produceAgain(system.kafka.address, topicNames(topicPrefix).live, repeatedRecords),
    },
    {
      name: 'topic-replay',
      async strike() {
        await pool.dismiss(poolSize);
        await system.database.query('DELETE FROM consumer_position WHERE "group" = ANY($1)', [
          lanes.map((lane) => consumerGroup(lane, topicPrefix)),
        ]);
        await pool.add(poolSize);
      },
    },
    {
      name: 'topic-recreated',
      async strike() {
        // What is in a topic goes with it, so all of it has to be read; the consumers are not told of anything.
        await deps.rest();
        await recreateTopics(system.kafka.address, Object.values(topicNames(topicPrefix)));
        deps.goOn();
      },
    },
    {
      name: 'log-exchanged',
      async strike(ms) {
        // What is left in Kafka cannot be read from PostgreSQL, and would come after what is later.
        await deps.rest();
        await pool.dismiss(poolSize);
        await deps.useLog('postgres');
        deps.goOn();
        await pool.add(poolSize);
        await sleep(ms / 2);
        // A backlog stays in PostgreSQL, which is read before Kafka.
        await pool.kill([...Array(pool.size()).keys()]);
        await sleep(ms / 4);
        await deps.useLog('kafka');
        await pool.add(poolSize);
      },
    },
  ];
}
