import { serve } from './serve.ts';

// Were the kept-alive connection waited for, this would run into jest's limit long before the drain time.
test('stopping lets a request in progress finish, takes no new one and waits for nothing else', async () => {
  let release = () => {};
  let arrived = () => {};
  const hasArrived = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const server = await serve(
    (_request, response) => {
      release = () => response.end('done');
      arrived();
    },
    { port: 0, host: '127.0.0.1', drainTimeoutMs: 600_000 },
  );
  const url = `http://127.0.0.1:${server.port}/`;
  const answer = fetch(url).then((response) => response.text());
  await hasArrived;
  const stopped = server.stop();
  await expect(fetch(url)).rejects.toThrow();
  release();
  expect(await answer).toBe('done');
  await stopped;
  await server.stop();
});

test('a request that does not end is cut after the drain time', async () => {
  const server = await serve(() => {}, { port: 0, host: '127.0.0.1', drainTimeoutMs: 50 });
  const answer = fetch(`http://127.0.0.1:${server.port}/`).then(
    () => 'answered',
    () => 'cut',
  );
  // The connection is up before stopping begins.
  await new Promise((resolve) => setTimeout(resolve, 100));
  await server.stop();
  expect(await answer).toBe('cut');
});

test('a port that is taken is an error at start', async () => {
  const options = { host: '127.0.0.1', drainTimeoutMs: 0 };
  const first = await serve(() => {}, { ...options, port: 0 });
  await expect(serve(() => {}, { ...options, port: first.port })).rejects.toThrow('EADDRINUSE');
  await first.stop();
});
