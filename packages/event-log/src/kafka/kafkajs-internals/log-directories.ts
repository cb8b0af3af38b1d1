import type { Kafka } from 'kafkajs';
import Encoder from 'kafkajs/src/protocol/encoder.js';
import { createFlexibleReader, type FlexibleReader, unsignedVarint } from './metadata.ts';

/**
 * Reason: kafkajs 2.2.4 cannot ask brokers for their log directories, and how full their disks are is what stops most of them.
 * Relies on: a client's method that makes a cluster, known by what its symbol says; a cluster that connects and finds its
 * brokers; a broker that chooses among versions of a request and has the connections to send it by.
 * Witness: log-directories.kafka.test.ts. If kafkajs changes, `readLogDirectories` rejects, and nothing else is touched.
 * May go: when the client can ask it.
 */
export interface LogDirectory {
  /** Id of its broker. */
  broker: number;
  path: string;
  /** The broker has given it up: what is in it can be neither read nor written. */
  isOffline: boolean;
  /** Space of its disk, including what others keep there; null when the broker cannot tell. */
  space: { totalBytes: number; freeBytes: number } | null;
}

/** Versions from 4 on (Kafka 3.3) tell the size of disks. https://cwiki.apache.org/confluence/x/ABZDD */
const ownVersion = 4;
const apiKey = 35;
const notAllowed = 31;

/** Each of all brokers is asked. @returns null when they are too old to tell, or do not tell this client. */
export async function readLogDirectories(kafka: Kafka): Promise<LogDirectory[] | null> {
  const cluster = makeCluster(kafka);
  try {
    await cluster.connect();
    await cluster.refreshMetadata();
    const answers = await Promise.all(
      cluster.getNodeIds().map(async (nodeId) => askBroker(await cluster.findBroker({ nodeId }), Number(nodeId))),
    );
    return answers.includes(null) ? null : answers.flatMap((directories) => directories ?? []);
  } finally {
    await cluster.disconnect();
  }
}

/** kafkajs's, as far as it is used here. */
interface Cluster {
  connect(): Promise<void>;
  refreshMetadata(): Promise<void>;
  getNodeIds(): (number | string)[];
  findBroker(options: { nodeId: number | string }): Promise<Broker>;
  disconnect(): Promise<void>;
}

interface Broker {
  versions: Record<number, { maxVersion: number } | undefined>;
  connectionPool: { send(request: object): Promise<unknown> };
}

function makeCluster(kafka: Kafka): Cluster {
  const symbols = Object.getOwnPropertySymbols(kafka);
  const symbol = symbols.find(({ description }) => description === 'private:Kafka:createCluster');
  const make = symbol && (kafka as unknown as Record<symbol, (options: object) => Cluster>)[symbol];
  if (make === undefined) throw new Error('kafkajs changed how it creates clusters. Review log-directories.ts.');
  return make({ metadataMaxAge: 0, allowAutoTopicCreation: false });
}

async function askBroker({ versions, connectionPool }: Broker, broker: number): Promise<LogDirectory[] | null> {
  if ((versions[apiKey]?.maxVersion ?? 0) < ownVersion) return null;
  const answer = await connectionPool.send({
    request: {
      ...{ apiKey, apiVersion: ownVersion, apiName: 'DescribeLogDirs' },
      encode: async () => new Encoder().writeBuffer(encodedRequest),
    },
    response: {
      decode: async (raw: Buffer) => ({ directories: decodeResponse(raw, broker) }),
      parse: async (decoded: object) => decoded,
    },
  });
  return (answer as { directories: LogDirectory[] | null }).directories;
}

/** https://kafka.apache.org/protocol#The_Messages_DescribeLogDirs: the tags that end the head, of no topics, no tags. */
const encodedRequest = Buffer.concat([Buffer.of(0), unsignedVarint(1), Buffer.of(0)]);

function decodeResponse(raw: Buffer, broker: number): LogDirectory[] | null {
  const reader = createFlexibleReader(raw);
  reader.skipTags();
  reader.int32(); // throttled for so long
  const error = reader.int16();
  if (error === notAllowed) return null;
  if (error !== 0)
    throw new Error(`broker ${broker} rejected the request for its log directories with Kafka error code ${error}`);
  return reader.array(() => readDirectory(reader, broker));
}

function readDirectory(reader: FlexibleReader, broker: number): LogDirectory {
  const error = reader.int16();
  const path = reader.text() ?? '';
  reader.array(() => {
    throw new Error('a broker described topics that were not requested');
  });
  const [totalBytes, freeBytes] = [reader.int64(), reader.int64()];
  // -1 where Java cannot tell.
  const isKnown = totalBytes >= 0 && freeBytes >= 0;
  return { broker, path, isOffline: error !== 0, space: isKnown ? { totalBytes, freeBytes } : null };
}
