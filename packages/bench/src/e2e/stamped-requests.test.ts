import { buildStampedRequests, stampRequest } from './stamped-requests.ts';

const bodyOf = (request: Buffer) => JSON.parse(request.subarray(request.indexOf('\r\n\r\n') + 4).toString('utf8'));

test('builds as many requests as are due, with one marker event for every 50 ms', () => {
  const { requests, markers } = buildStampedRequests({
    projectApiKey: 'phc_x',
    seed: 1,
    requestsPerSecond: 100,
    durationMs: 200,
    markerEveryMs: 50,
  });
  expect(requests).toHaveLength(20);
  expect(markers.map(({ dueAfterMs }) => dueAfterMs)).toEqual([0, 50, 100, 150]);
  for (const { uuid, dueAfterMs } of markers) {
    const { batch } = bodyOf(requests[dueAfterMs / 10] ?? Buffer.alloc(0));
    expect(batch.map((event: { uuid: string }) => event.uuid)).toContain(uuid);
  }
});

test('marks each event at most once, even at a low rate', () => {
  const { markers } = buildStampedRequests({
    projectApiKey: 'phc_x',
    seed: 1,
    requestsPerSecond: 4,
    durationMs: 1000,
    markerEveryMs: 50,
  });
  expect(markers.map(({ dueAfterMs }) => dueAfterMs)).toEqual([0, 250, 500, 750]);
});

test("can replace the time in every event of a request repeatedly, without changing the request's length", () => {
  const { requests } = buildStampedRequests({
    projectApiKey: 'phc_x',
    seed: 1,
    requestsPerSecond: 10,
    durationMs: 100,
    markerEveryMs: 50,
  });
  const request = requests[0] ?? Buffer.alloc(0);
  const { length } = request;
  for (const time of ['2026-05-06T07:08:09.123Z', '2027-01-01T00:00:00.000Z']) {
    stampRequest(request, Date.parse(time));
    expect(request).toHaveLength(length);
    const { batch } = bodyOf(request);
    expect(batch).toHaveLength(50);
    expect(new Set(batch.map((event: { timestamp: string }) => event.timestamp))).toEqual(new Set([time]));
  }
});
