/** The load generator's process: takes jobs as messages, so that its own work does not stand in the server's numbers. */
import type { GetLoadMessage, LoadAnswer, LoadMessage, LoadResult, RequestsLoadMessage } from './load-job.ts';
import { repeatRequests, runLoad } from './run-load.ts';

const answer = (message: LoadAnswer) => process.send?.(message);

process.on('message', (message: LoadMessage | GetLoadMessage | RequestsLoadMessage | { type: 'usage' }) => {
  if (message.type === 'usage') return;
  run(message).then(
    (result) => answer({ type: 'load-result', result }),
    (error: Error) => answer({ type: 'load-failed', message: error.message }),
  );
});
process.send?.({ type: 'listening', port: 0 });

function run(message: LoadMessage | GetLoadMessage | RequestsLoadMessage): Promise<LoadResult> {
  if (message.type === 'load') return runLoad(message);
  if (message.type === 'get-load') return runGetLoad(message);
  const requests = message.requests.map((request) => Buffer.from(request, 'utf8'));
  return repeatRequests({ ...message, requests, eventsPerRequest: 0 });
}

function runGetLoad({ path, headers, ...load }: GetLoadMessage) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const request = Buffer.from(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${lines.join('')}\r\n`, 'latin1');
  return repeatRequests({ ...load, requests: [request], eventsPerRequest: 0 });
}
