import { renderToString } from 'react-dom/server';
import { setDefaultPostHogInstance } from '../../src/context.ts';
import { createRecordingClient, type GivenFlags } from './recording-client.ts';
import { serverTree } from './server-tree.ts';

/** Input of the program that renders on the server. The program is built once per React version. */
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
