import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { consumerGroup, lanes, topicNames } from '@millrace/contracts';
import type { FaultProxy, KafkaFaultProxy } from '@millrace/testing';
import { Kafka, logLevel } from 'kafkajs';
import { type ChaosServer, type ChaosSystem, topicPrefix } from './chaos-system.ts';
import type { ConsumerPool } from './consumer-pool.ts';

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
      // The one before continues when the next one stops. Under load nearly every moment is one inside a transaction.
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

/** Appends the last records of each partition a second time, as they are: what a producer does that missed the answer. */
async function produceAgain(broker: string, topic: string, count: number): Promise<void> {
  const kafka = new Kafka({ brokers: [broker], logLevel: logLevel.NOTHING });
  const [admin, producer] = [kafka.admin(), kafka.producer()];
  const consumer = kafka.consumer({ groupId: `chaos-${randomUUID()}`, maxWaitTimeInMs: 200 });
  await Promise.all([admin.connect(), producer.connect(), consumer.connect()]);
  try {
    const ends = await admin.fetchTopicOffsets(topic);
    const share = Math.ceil(count / ends.length);
    const left = new Map(ends.map(({ partition, high }) => [partition, Number(high)] as const));
    await consumer.subscribe({ topic, fromBeginning: true });
    let done: () => void = () => {};
    const finished = new Promise<void>((resolve) => {
      done = resolve;
    });
    await consumer.run({
      autoCommit: false,
      async eachBatch({ batch: { partition, messages } }) {
        const end = left.get(partition) ?? 0;
        const own = messages.filter(({ offset }) => Number(offset) < end);
        if (own.length > 0) {
          await producer.send({
            topic,
            acks: -1,
            messages: own.map(({ key, value, headers }) => ({ key, value, headers: headers ?? {}, partition })),
          });
        }
        if (Number(messages.at(-1)?.offset) >= end - 1) left.delete(partition);
        if (left.size === 0) done();
      },
    });
    for (const { partition, high } of ends) {
      const from = Math.max(0, Number(high) - share);
      if (from === Number(high)) left.delete(partition);
      consumer.seek({ topic, partition, offset: String(from) });
    }
    if (left.size > 0) await finished;
  } finally {
    await consumer.disconnect();
    await Promise.all([admin.disconnect(), producer.disconnect()]);
    const cleaner = kafka.admin();
    await cleaner.connect();
    await cleaner.disconnect();
  }
}

/** As many as made a partition stand still for minutes once; each is nearly as large as a record may be. */
const groupUpdates = 40;
const groupUpdateBytes = 833_000;
const personBytes = 450_000;
const personParts = 10;
const personUpdates = 500;
const retryPauseMs = 200;

/**
 * What anybody with a project's public key can send: large updates of one group, and many small ones of one large person.
 * All of it is acknowledged when this resolves.
 */
async function attackByPublicKey(url: string, projectApiKey: string): Promise<void> {
  const strike = randomUUID();

  async function send(batch: readonly object[]): Promise<void> {
    const body = JSON.stringify({ api_key: projectApiKey, batch });
    for (;;) {
      const response = await fetch(`${url}/batch/`, {
        ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body },
        signal: AbortSignal.timeout(30_000),
      }).catch(() => null);
      await response?.arrayBuffer();
      if (response?.status === 200) return;
      await sleep(retryPauseMs);
    }
  }

  const person = (set: object) => ({ event: '$set', distinct_id: strike, properties: { $set: set } });
  for (let part = 0; part < personParts; part += 1) await send([person(smallProperties(part))]);
  for (let update = 0; update < groupUpdates; update += 1) {
    const group = { $group_type: 'attacked', $group_key: strike };
    const properties = { ...group, $group_set: { [`k${update}`]: 'x'.repeat(groupUpdateBytes) } };
    await send([{ event: '$groupidentify', distinct_id: strike, properties }]);
  }
  await send(Array.from({ length: personUpdates }, (_, n) => person({ [`n${n % 7}`]: n })));
}

/** Many of them cost more, wherever they are copied, than a few large ones. */
function smallProperties(part: number): object {
  const bytesEach = 16;
  const count = Math.floor(personBytes / personParts / bytesEach);
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${part}${String(n).padStart(5, '0')}`, 1000]));
}

const pauseMs = 100;

/** Deletes topics and makes them again at once, with as many partitions as they had. */
async function recreateTopics(broker: string, names: readonly string[]): Promise<void> {
  const admin = new Kafka({ brokers: [broker], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    const { topics } = await admin.fetchTopicMetadata({ topics: [...names] });
    await admin.deleteTopics({ topics: topics.map(({ name }) => name) });
    // A broker may still be busy deleting when it is asked for the same name again.
    for (let isMade = false; !isMade; ) {
      isMade = await admin
        .createTopics({
          topics: topics.map(({ name, partitions }) => ({ topic: name, numPartitions: partitions.length })),
        })
        .then(
          () => true,
          () => sleep(pauseMs, false),
        );
    }
  } finally {
    await admin.disconnect();
  }
}
