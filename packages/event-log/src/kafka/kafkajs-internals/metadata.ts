import type { KafkaMessage } from 'kafkajs';
import Encoder from 'kafkajs/src/protocol/encoder.js';
import type { MetadataRequest } from 'kafkajs/src/protocol/requests/metadata/index.js';
import metadata from 'kafkajs/src/protocol/requests/metadata/index.js';

/**
 * Reason: kafkajs 2.2.4 asks for metadata in versions up to 6, and topics have had ids since version 10 (Kafka 2.8). A topic
 * that was deleted and created again is told by its id alone. So a version of our own is put beside kafkajs's; it is used
 * wherever the broker knows it, and older brokers are asked as before.
 * Relies on: kafkajs choosing the newest version in an exported list that the broker knows, looking its encoder up by it in
 * a plain exported object, and handing out the partitions of the answer as they were decoded.
 * Witness: metadata-protocol.kafka.test.ts. If kafkajs changes, `useTopicIds` throws at start.
 * May go: when the client tells the ids of topics and the epochs of leaders.
 */
const ownVersion = 10;
const newestOfKafkajs = 6;
const metadataKey = 3;
let isInstalled = false;

/** What our version adds to what kafkajs tells of a partition. */
interface TopicIdentity {
  clusterId: string | null;
  /** 32 hexadecimal digits. */
  topicId: string;
  /** Grows by one whenever the partition gets a leader. */
  leaderEpoch: number;
}

/** Puts our version in place, once per process. @throws Error when kafkajs is not the one this was written for. */
export function useTopicIds(): void {
  if (isInstalled) return;
  if (typeof metadata?.protocol !== 'function' || metadata.versions?.at(-1) !== String(newestOfKafkajs)) {
    throw new Error('kafkajs changed its metadata request. Review metadata.ts.');
  }
  const original = metadata.protocol;
  metadata.versions.push(String(ownVersion));
  metadata.protocol = ({ version }) => {
    if (version < ownVersion) return original({ version: Math.min(version, newestOfKafkajs) });
    return (asked) => ({
      request: {
        apiKey: metadataKey,
        apiVersion: ownVersion,
        apiName: 'Metadata',
        encode: async () => new Encoder().writeBuffer(encodeRequest(asked)),
      },
      response: {
        decode: async (raw) => decodeMetadata(raw),
        // Errors of topics and partitions are thrown as kafkajs does.
        parse: original({ version: newestOfKafkajs })(asked).response.parse,
      },
    });
  };
  isInstalled = true;
}

/** The identity that came with the metadata of a partition; null from brokers before Kafka 2.8. */
export function topicIdentityOf(partition: object | undefined): TopicIdentity | null {
  return partition !== undefined && 'topicId' in partition ? (partition as TopicIdentity) : null;
}

/** https://kafka.apache.org/protocol#The_Messages_Metadata, behind the tags that end the head of such a request. */
function encodeRequest({ topics, allowAutoTopicCreation = true }: MetadataRequest): Buffer {
  const noTags = Buffer.of(0);
  const named = topics.flatMap((topic) => [Buffer.alloc(16), compactText(topic), noTags]);
  // No topics at all stands for all of them, as kafkajs means it.
  const count = unsignedVarint(topics.length === 0 ? 0 : topics.length + 1);
  const flags = Buffer.of(allowAutoTopicCreation ? 1 : 0, 0, 0);
  return Buffer.concat([noTags, count, ...named, flags, noTags]);
}

/** @returns what kafkajs makes of its own versions, with a `TopicIdentity` in each partition. */
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
  reader.int32(); // operations this client may use
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
 * Kafka's newer way to write requests and answers: lengths are varints, one more than they are, and everything may end
 * with tagged fields. https://cwiki.apache.org/confluence/display/KAFKA/KIP-482
 * Only kafka/kafkajs-internals/metadata.ts and log-directories.ts need it, and it goes with them.
 */
export interface FlexibleReader {
  int8(): number;
  int16(): number;
  int32(): number;
  /** Exact up to 2 ** 53. */
  int64(): number;
  bytes(length: number): Buffer;
  /** Null where there is none. */
  text(): string | null;
  int32s(): number[];
  /** Elements with tagged fields behind each, which are skipped. */
  array<T>(read: () => T): T[];
  skipTags(): void;
}

/** @throws RangeError when the answer is shorter than it says. */
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
    for (let left = varint(); left > 0; left -= 1) {
      varint();
      bytes(varint());
    }
  }

  function times<T>(read: () => T): T[] {
    const elements: T[] = [];
    for (let left = varint() - 1; left > 0; left -= 1) elements.push(read());
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

export function unsignedVarint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) + 0x80);
  bytes.push(rest);
  return Buffer.from(bytes);
}

export function compactText(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  return Buffer.concat([unsignedVarint(bytes.length + 1), bytes]);
}

/**
 * Reason: a new leader may have lost what the former one had; a higher epoch tells of it, and kafkajs checks nothing by it.
 * Relies on: `batchContext.partitionLeaderEpoch` of fetched messages, which kafkajs 2.2.4 leaves on them without declaring it.
 * Witness: leader-epoch.test.ts.
 * May go: when the client tells the epoch of records, or finds truncated logs by itself (KIP-320).
 */

/** The highest epoch of the leaders that wrote the messages; null where they carry none (the format before Kafka 0.11). */
export function newestLeaderEpoch(messages: readonly KafkaMessage[]): number | null {
  // Epochs never fall within a log, so that of the last message is the highest.
  const { batchContext } = (messages.at(-1) ?? {}) as { batchContext?: { partitionLeaderEpoch?: number } };
  return batchContext?.partitionLeaderEpoch ?? null;
}
