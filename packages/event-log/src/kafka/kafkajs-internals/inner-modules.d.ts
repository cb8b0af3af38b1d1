/**
 * Declares types for the files inside kafkajs 2.2.4 that this folder patches (produce.ts, metadata.ts, connection.ts).
 * They are imported by name and not with `require`, so that a bundler includes the same copy that kafkajs itself uses.
 */
declare module 'kafkajs/src/protocol/requests/produce/index.js' {
  import type { Message } from 'kafkajs';

  interface ProduceRequest {
    acks: number;
    timeout: number;
    topicData: { topic: string; partitions: { partition: number; messages: Message[] }[] }[];
  }

  const produce: {
    versions: string[];
    protocol(options: { version: number }): (request: ProduceRequest) => {
      request: { apiKey: number; apiVersion: number; apiName: string; expectResponse(): boolean; encode(): unknown };
      response: { decode(raw: unknown): Promise<unknown>; parse(data: unknown): Promise<unknown> };
    };
  };
  // biome-ignore lint/style/noDefaultExport: TypeScript sees the exports of a CommonJS module as its default export
  export default produce;
  export type { ProduceRequest };
}

declare module 'kafkajs/src/protocol/requests/metadata/index.js' {
  interface MetadataRequest {
    topics: string[];
    allowAutoTopicCreation?: boolean;
  }

  const metadata: {
    versions: string[];
    protocol(options: { version: number }): (request: MetadataRequest) => {
      request: { apiKey: number; apiVersion: number; apiName: string; encode(): Promise<unknown> };
      response: { decode(raw: Buffer): Promise<unknown>; parse(data: unknown): Promise<unknown> };
    };
  };
  // biome-ignore lint/style/noDefaultExport: TypeScript sees the exports of a CommonJS module as its default export
  export default metadata;
  export type { MetadataRequest };
}

declare module 'kafkajs/src/network/requestQueue/index.js' {
  class RequestQueue {
    pending: unknown[];
    scheduleCheckPendingRequests(): void;
  }
  // biome-ignore lint/style/noDefaultExport: TypeScript sees the exports of a CommonJS module as its default export
  export default RequestQueue;
}

declare module 'kafkajs/src/network/connection.js' {
  class Connection {
    isConnected(): boolean;
    connect(): Promise<boolean>;
    processData(rawData: Buffer): void;
  }
  // biome-ignore lint/style/noDefaultExport: TypeScript sees the exports of a CommonJS module as its default export
  export default Connection;
}

declare module 'kafkajs/src/protocol/encoder.js' {
  class Encoder {
    buf: Buffer;
    offset: number;
    writeEncoder(value: object): Encoder;
    writeBuffer(value: Buffer): Encoder;
  }
  // biome-ignore lint/style/noDefaultExport: TypeScript sees the exports of a CommonJS module as its default export
  export default Encoder;
}
