import type { KafkaMessage } from 'kafkajs';
import Encoder from 'kafkajs/src/protocol/encoder.js';
import type { MetadataRequest } from 'kafkajs/src/protocol/requests/metadata/index.js';
import metadata from 'kafkajs/src/protocol/requests/metadata/index.js';

/**
 * Reason for this workaround: kafkajs 2.2.4 requests metadata in versions up to 6, and topic IDs have existed since
 * version 10 (Kafka 2.8). A topic that was deleted and created again can only be recognized by its ID. This code
 * therefore adds version 10, which kafkajs then uses with brokers that support it. Older brokers get the same requests
 * as before. Relies on: kafkajs choosing the newest version in an exported list that the broker supports, looking up
 * its encoder in a plain exported object, and returning partitions as they were decoded. Test:
 * metadata-protocol.kafka.test.ts. If kafkajs changes, `installMetadataWithTopicIds` throws at start. Remove this
 * workaround when the client provides topic IDs and leader epochs.
 */
const ownVersion = 10;
const newestOfKafkajs = 6;
const metadataKey = 3;
let isInstalled = false;

/** Fields that version 10 of the metadata response adds to a partition. */
interface TopicIdentity {
  clusterId: string | null;
  /** The topic ID as 32 hexadecimal digits. */
  topicId: string;
  leaderEpoch: number;
}

/**
 * Adds version 10 of metadata requests to kafkajs, once per process.
 * @throws Error if the version of kafkajs is not supported
 */
export function installMetadataWithTopicIds(): void {
  if (isInstalled) return;
  if (typeof metadata?.protocol !== 'function' || metadata.versions?.at(-1) !== String(newestOfKafkajs)) {
    throw new Error('kafkajs changed its metadata request. Review metadata.ts.');
  }
  const original = metadata.protocol;
  metadata.versions.push(String(ownVersion));
  metadata.protocol = ({ version }) => {
    if (version < ownVersion) return original({ version: Math.min(version, newestOfKafkajs) });
    return (requested) => ({
      request: {
        apiKey: metadataKey,
        apiVersion: ownVersion,
        apiName: 'Metadata',
        encode: async () => new Encoder().writeBuffer(encodeRequest(requested)),
      },
      response: {
        decode: async (raw) => decodeMetadata(raw),
        // Use kafkajs's own parser, which throws the errors of topics and partitions.
        parse: original({ version: newestOfKafkajs })(requested).response.parse,
      },
    });
  };
  isInstalled = true;
}

/** Returns the topic identity from a partition's metadata, or null for brokers older than Kafka 2.8. */
export function findTopicIdentity(partition: object | undefined): TopicIdentity | null {
  return partition !== undefined && 'topicId' in partition ? (partition as TopicIdentity) : null;
}

/**
 * Encodes a metadata request (https://kafka.apache.org/protocol#The_Messages_Metadata), starting with the tags of its
 * header.
 */
function encodeRequest({ topics, allowAutoTopicCreation = true }: MetadataRequest): Buffer {
  const noTags = Buffer.of(0);
  const named = topics.flatMap((topic) => [Buffer.alloc(16), encodeCompactString(topic), noTags]);
  // In kafkajs, an empty list means all topics.
  const count = encodeUnsignedVarint(topics.length === 0 ? 0 : topics.length + 1);
  const flags = Buffer.of(allowAutoTopicCreation ? 1 : 0, 0, 0);
  return Buffer.concat([noTags, count, ...named, flags, noTags]);
}

/**
 * Decodes a metadata response.
 * @returns the same shape as kafkajs's own versions, with a `TopicIdentity` in each partition
 */
function decodeMetadata(raw: Buffer) {
  const reader = createFlexibleReader(raw);
  reader.skipTags();
  const throttleTime = reader.int32();
  const brokers = reader.array(() => ({
    nodeId: reader.int32(),
    host: reader.text() ?? '',
    port: reader.int32(),
    rack: reader.text(),
  }));
  const clusterId = reader.text();
  const controllerId = reader.int32();
  const topicMetadata = reader.array(() => readTopic(reader, clusterId));
  return { throttleTime: 0, clientSideThrottleTime: throttleTime, brokers, clusterId, controllerId, topicMetadata };
}

function readTopic(reader: FlexibleReader, clusterId: string | null) {
  const topicErrorCode = reader.int16();
  const topic = reader.text() ?? '';
  const topicId = reader.bytes(16).toString('hex');
  const isInternal = reader.int8() !== 0;
  const partitionMetadata = reader.array(() => readPartition(reader, { clusterId, topicId }));
  reader.int32(); // operations this client is authorized for
  return { topicErrorCode, topic, isInternal, partitionMetadata };
}

function readPartition(reader: FlexibleReader, ofTopic: Omit<TopicIdentity, 'leaderEpoch'>) {
  return {
    ...ofTopic,
    partitionErrorCode: reader.int16(),
    partitionId: reader.int32(),
    leader: reader.int32(),
    leaderEpoch: reader.int32(),
    replicas: reader.int32s(),
    isr: reader.int32s(),
    offlineReplicas: reader.int32s(),
  };
}

/**
 * Reads Kafka's flexible message format, in which a length is written as a varint of the length plus one, and every
 * structure can end with tagged fields. See https://cwiki.apache.org/confluence/display/KAFKA/KIP-482. Only metadata.ts
 * and log-directories.ts need this reader, and it can be deleted together with them.
 */
export interface FlexibleReader {
  int8(): number;
  int16(): number;
  int32(): number;
  /** Reads an integer. The result is exact up to 2 ** 53. */
  int64(): number;
  bytes(length: number): Buffer;
  text(): string | null;
  int32s(): number[];
  /** Reads an array, and skips the tagged fields after each element. */
  array<T>(read: () => T): T[];
  skipTags(): void;
}

/**
 * Creates a reader of the flexible message format.
 * @throws RangeError if the buffer is too short for a length in it
 */
export function createFlexibleReader(buffer: Buffer): FlexibleReader {
  let at = 0;

  function varint(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = buffer.readUInt8(at++);
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new RangeError('a varint is longer than five bytes');
  }

  function bytes(length: number): Buffer {
    if (at + length > buffer.length) throw new RangeError('a response ends too early');
    at += length;
    return buffer.subarray(at - length, at);
  }

  function int32(): number {
    at += 4;
    return buffer.readInt32BE(at - 4);
  }

  function skipTags(): void {
    for (let remaining = varint(); remaining > 0; remaining -= 1) {
      varint();
      bytes(varint());
    }
  }

  function times<T>(read: () => T): T[] {
    const elements: T[] = [];
    for (let remaining = varint() - 1; remaining > 0; remaining -= 1) elements.push(read());
    return elements;
  }

  return {
    int8: () => buffer.readInt8(at++),
    int16() {
      at += 2;
      return buffer.readInt16BE(at - 2);
    },
    int32,
    int64() {
      at += 8;
      return Number(buffer.readBigInt64BE(at - 8));
    },
    bytes,
    text() {
      const length = varint() - 1;
      return length < 0 ? null : bytes(length).toString('utf8');
    },
    int32s: () => times(int32),
    array: (read) =>
      times(() => {
        const element = read();
        skipTags();
        return element;
      }),
    skipTags,
  };
}

export function encodeUnsignedVarint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) + 0x80);
  bytes.push(rest);
  return Buffer.from(bytes);
}

export function encodeCompactString(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  return Buffer.concat([encodeUnsignedVarint(bytes.length + 1), bytes]);
}

/**
 * Reason for this workaround: a new leader may lack records that the former leader had. A higher leader epoch reveals
 * this, but kafkajs does not check it. Relies on: `batchContext.partitionLeaderEpoch` of fetched messages, which
 * kafkajs 2.2.4 sets without declaring it. Test: leader-epoch.test.ts. Remove this workaround when the client provides
 * the epoch of records, or detects truncated logs (KIP-320).
 */

/**
 * Returns the highest leader epoch of the messages, or null for messages in the format before Kafka 0.11, which have no
 * epochs.
 */
export function findNewestLeaderEpoch(messages: readonly KafkaMessage[]): number | null {
  // Epochs never decrease within a log, so the last message has the highest epoch.
  const { batchContext } = (messages.at(-1) ?? {}) as { batchContext?: { partitionLeaderEpoch?: number } };
  return batchContext?.partitionLeaderEpoch ?? null;
}
