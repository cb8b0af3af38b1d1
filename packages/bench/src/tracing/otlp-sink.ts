import { startServer, type TestServer } from '@millrace/testing';

export interface OtlpSink extends TestServer {
  /** That have arrived so far. */
  spans(): number;
}

/** A collector of traces that counts them and keeps none. */
export async function startOtlpSink(): Promise<OtlpSink> {
  let spans = 0;
  const server = await startServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    // Each span has one; parsing would take the processor from what is measured.
    spans += Buffer.concat(chunks).toString('latin1').split('"startTimeUnixNano"').length - 1;
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  return { ...server, spans: () => spans };
}
