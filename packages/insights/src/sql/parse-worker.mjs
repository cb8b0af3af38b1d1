// The worker thread that runs the WebAssembly parser. The parser runs to its end once it has started, so only terminating the thread
// stops it.
import { parentPort } from 'node:worker_threads';
import createParser from '@posthog/hogql-parser';

const parser = createParser();
parentPort?.on('message', async ({ id, text, isExpression }) => {
  const { parseExpr, parseSelect } = await parser;
  parentPort?.postMessage({ id, json: isExpression ? parseExpr(text) : parseSelect(text) });
});
