import type { Asker } from './askers.ts';

/** Whole HTTP requests as text, made before the clock runs. Browsers and servers ask alike: a POST with a body of JSON. */

/** Who asks says all that conditions look at: nothing stored is needed. */
export function questionWithProperties(projectApiKey: string, { distinctId, properties }: Asker): string {
  return question({ api_key: projectApiKey, distinct_id: distinctId, person_properties: properties, groups: {} });
}

/** Only the id: the person is read. */
export function questionById(projectApiKey: string, { distinctId }: Asker): string {
  return question({ api_key: projectApiKey, distinct_id: distinctId, groups: {} });
}

function question(body: object): string {
  return requestText('POST /flags/?v=2', {}, body);
}

/** The same question to the front-end API of Unleash. */
export function unleashQuestion(token: string, asker: Asker): string {
  return requestText('POST /api/frontend', { Authorization: token }, { context: unleashContext(asker) });
}

export function unleashContext({ distinctId, properties }: Asker): object {
  const signedUpAt = String(Date.parse(properties.signed_up_at));
  return { userId: distinctId, properties: { ...properties, signed_up_at: signedUpAt } };
}

/** For the definitions, as an SDK asks that has them already (`etag`) or not. */
export function definitionRequest(keys: { projectApiKey: string; secretKey: string }, etag: string | null): string {
  return requestText(`GET /flags/definitions?token=${keys.projectApiKey}&send_cohorts`, {
    Authorization: `Bearer ${keys.secretKey}`,
    'Accept-Encoding': 'gzip',
    ...(etag === null ? {} : { 'If-None-Match': etag }),
  });
}

function requestText(line: string, headers: Record<string, string>, body?: object): string {
  const text = body === undefined ? '' : JSON.stringify(body);
  const all: Record<string, string> = {
    Host: '127.0.0.1',
    ...headers,
    ...(body === undefined
      ? {}
      : { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(text)) }),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${line} HTTP/1.1\r\n${lines.join('')}\r\n${text}`;
}
