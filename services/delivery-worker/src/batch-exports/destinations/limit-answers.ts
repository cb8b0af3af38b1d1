import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { S3Client } from '@aws-sdk/client-s3';

/** Answers to what is asked here are a few kilobytes. */
const maxAnswerBytes = 1024 * 1024;

/** The SDK keeps an answer in memory to its end: without a limit one storage could end the worker of all. */
export function limitAnswers(client: S3Client): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const answer = result.response as { body?: unknown };
      if (answer.body instanceof Readable) answer.body = limited(answer.body);
      return result;
    },
    { step: 'deserialize', priority: 'low', name: 'limitAnswers' },
  );
}

function limited(body: Readable): Readable {
  let bytes = 0;
  const limit = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes <= maxAnswerBytes) done(null, chunk);
      else done(Object.assign(new Error('The answer is too long.'), { code: 'EANSWERTOOLONG' }));
    },
  });
  // Whoever reads hears of an error of either.
  pipeline(body, limit).catch(() => {});
  return limit;
}
