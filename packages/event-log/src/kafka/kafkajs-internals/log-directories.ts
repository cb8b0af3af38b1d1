import type { Kafka } from 'kafkajs';
import Encoder from 'kafkajs/src/protocol/encoder.js';
import { createFlexibleReader, encodeUnsignedVarint, type FlexibleReader } from './metadata.ts';

/**
 * Reason for this workaround: kafkajs 2.2.4 cannot request log directories from brokers, and a full disk is the most
 * common reason for a broker to stop. Relies on: a client method that creates a cluster, found by the description of
 * its symbol; a cluster that connects and finds its brokers; a broker that selects a request version and sends the
 * request. Test: log-directories.kafka.test.ts. If kafkajs changes, `readLogDirectories` rejects, and nothing else is
 * affected. Remove this workaround when the client supports this request.
 */
export interface LogDirectory {
  broker: number;
  path: string;
  /** Whether the broker has taken the directory offline, so that its records can be neither read nor written. */
  isOffline: boolean;
  /**
   * The size and free space of the disk that contains the directory, or null if the broker cannot determine them. Other
   * programs may also use the disk.
   */
  space: { totalBytes: number; freeBytes: number } | null;
}

/**
 * DescribeLogDirs responses have included disk sizes since version 4 (Kafka 3.3). See
 * https://cwiki.apache.org/confluence/x/ABZDD.
 */
const ownVersion = 4;
const apiKey = 35;
const notAllowed = 31;

/**
 * Reads the log directories of all brokers.
 * @returns null if a broker is too old or denies access
 */
export async function readLogDirectories(kafka: Kafka): Promise<LogDirectory[] | null> {
  const cluster = makeCluster(kafka);
  try {
    await cluster.connect();
    await cluster.refreshMetadata();
    const responses = await Promise.all(
      cluster.getNodeIds().map(async (nodeId) => askBroker(await cluster.findBroker({ nodeId }), Number(nodeId))),
    );
    return responses.includes(null) ? null : responses.flatMap((directories) => directories ?? []);
  } finally {
    await cluster.disconnect();
  }
}

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
  const response = await connectionPool.send({
    request: {
      apiKey,
      apiVersion: ownVersion,
      apiName: 'DescribeLogDirs',
      encode: async () => new Encoder().writeBuffer(encodedRequest),
    },
    response: {
      decode: async (raw: Buffer) => ({ directories: decodeResponse(raw, broker) }),
      parse: async (decoded: object) => decoded,
    },
  });
  return (response as { directories: LogDirectory[] | null }).directories;
}

/**
 * The encoded body of a request (https://kafka.apache.org/protocol#The_Messages_DescribeLogDirs): the tags that end the
 * header, null for all topics, and no tags.
 */
const encodedRequest = Buffer.concat([Buffer.of(0), encodeUnsignedVarint(1), Buffer.of(0)]);

function decodeResponse(raw: Buffer, broker: number): LogDirectory[] | null {
  const reader = createFlexibleReader(raw);
  reader.skipTags();
  reader.int32(); // throttle time
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
  // The broker reports -1 for sizes that it cannot determine.
  const isKnown = totalBytes >= 0 && freeBytes >= 0;
  return { broker, path, isOffline: error !== 0, space: isKnown ? { totalBytes, freeBytes } : null };
}
