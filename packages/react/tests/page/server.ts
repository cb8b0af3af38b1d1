import { renderToString } from 'react-dom/server';
import { setDefaultPostHogInstance } from '../../src/context.ts';
import { createRecordingClient, type GivenFlags } from './recording-client.ts';
import { serverTree } from './server-tree.ts';

/** The input of the server program, which is built once for each React version. */
export interface ServerCase {
  client: GivenFlags;
  bootstrap?: NonNullable<GivenFlags['bootstrap']>;
}

export interface ServerResult {
  html: string;
  calls: unknown[][];
}

const cases = JSON.parse(process.argv[2] ?? '[]') as ServerCase[];
const results = cases.map(({ client: given, bootstrap }): ServerResult => {
  const client = createRecordingClient(given);
  setDefaultPostHogInstance(client);
  const html = renderToString(serverTree(bootstrap));
  return { html, calls: client.calls.filter(([name]) => ['init', 'capture'].includes(String(name))) };
});
process.stdout.write(JSON.stringify(results));
