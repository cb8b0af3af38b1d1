import { createResponseReader } from './send-requests.ts';

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{"status":"Ok"}';
const unavailable = 'HTTP/1.1 503 Service Unavailable\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n';
const noContent = 'HTTP/1.1 204 No Content\r\nDate: x\r\n\r\n';

function read(chunks: string[]): number[] {
  const statuses: number[] = [];
  const reader = createResponseReader((status) => statuses.push(status));
  for (const chunk of chunks) reader.push(Buffer.from(chunk, 'latin1'));
  return statuses;
}

test('reads consecutive responses with a content length, with a chunked body, and without a body', () => {
  expect(read([ok + unavailable + noContent + ok])).toEqual([200, 503, 204, 200]);
});

test('reads the same statuses regardless of where the bytes are split', () => {
  const bytes = ok + unavailable;
  for (let cut = 1; cut < bytes.length; cut++) {
    expect(read([bytes.slice(0, cut), bytes.slice(cut)])).toEqual([200, 503]);
  }
});

test('reports a status only after the body is complete', () => {
  expect(read([ok.slice(0, -1)])).toEqual([]);
});

test('throws for bytes that are not HTTP', () => {
  expect(() => read(['SSH-2.0-x\r\n\r\n'])).toThrow('did not respond in HTTP/1.1');
});
