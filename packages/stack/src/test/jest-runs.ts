import { join } from 'node:path';
import { readBaseLock } from '../image/base-lock.ts';
import { npmPackage } from '../image/npm-package.ts';
import { ownPlatform } from '../image/platform.ts';

/** One run of jest over some or all tests. */
export interface JestRun {
  /** Shown before it; empty for the first. */
  title: string;
  /** The path of the Node that runs it. */
  node: string;
  jestArguments: readonly string[];
}

/**
 * What is quick, and what looks into the insides of Node or of libraries, where a new version of Node is noticed first. The
 * programs themselves run on the image's Node in test-e2e/image.
 */
export const testsForImageNode = [
  ...['contracts', 'db/src/pg-internals', 'errors', 'event-log/src/kafka/kafkajs-internals', 'flags', 'http'],
  ...['runtime', 'schedule'],
]
  .map((room) => `packages/${room}/`)
  .concat(
    ['answer', 'bytes', 'event', 'head', 'json', 'memory', 'node-http-internals', 'request', 'scan', 'time'].map(
      (room) => `services/ingest-gateway/src/${room}/`,
    ),
    ['identity', 'intake', 'values'].map((room) => `services/event-consumer/src/${room}/`),
  );

/**
 * What was asked for, on the Node that runs this; in CI, when that is everything, a part of it once more on the Node of the
 * image.
 */
export async function jestRuns(root: string, jestArguments: readonly string[], isCi: boolean): Promise<JestRun[]> {
  const first = { title: '', node: process.execPath, jestArguments };
  if (!isCi || jestArguments.length > 0 || process.platform !== 'linux') return [first];
  const { node } = (await readBaseLock(root))[ownPlatform().architecture];
  if (node.version === process.versions.node) return [first];
  return [
    first,
    {
      title: `What is quick, once more, on Node ${node.version}, which the image has`,
      node: join(await npmPackage(node), 'bin/node'),
      jestArguments: testsForImageNode,
    },
  ];
}
