import { gzipSync } from 'node:zlib';
import { isObject } from '@millrace/contracts';

/**
 * How an SDK reacts to a response. `split` means that it sends the batch again in halves, and `dropped` that it loses
 * the batch.
 */
export type Reaction = 'ok' | 'retried' | 'split' | 'dropped';

export interface SdkResponse {
  status: number;
  retryAfter: string | null;
  json: unknown;
}

/** How an SDK sends requests and reacts to responses (docs/wire-rules.md#how-sdks-react-to-responses). */
export interface SdkRow {
  row: number;
  sdk: string;
  path: string;
  headers: Record<string, string>;
  encode(json: string): string | Uint8Array;
  react(response: SdkResponse): Reaction;
}

const plain = (json: string) => json;
const gzip = (json: string) => new Uint8Array(gzipSync(json));
const json = 'application/json';

/**
 * Returns the reaction of most SDKs.
 * @param is.again the statuses after which the SDK sends events again, in addition to server errors
 */
function reactions(is: {
  ok(response: SdkResponse): boolean;
  again: number[];
  serverErrors?: number[];
  split?: boolean;
}): (response: SdkResponse) => Reaction {
  return (response) => {
    const { status } = response;
    if (is.ok(response)) return 'ok';
    if (status === 413 && is.split === true) return 'split';
    const isRetriedError = status >= 500 && (is.serverErrors === undefined || is.serverErrors.includes(status));
    return isRetriedError || is.again.includes(status) ? 'retried' : 'dropped';
  };
}

const isSuccess = ({ status }: SdkResponse) => status >= 200 && status < 300;
const is200 = ({ status }: SdkResponse) => status === 200;
const fourErrors = [500, 502, 503, 504];
const asNode = reactions({ ok: isSuccess, again: [408, 429], split: true });
const asMobile = reactions({ ok: isSuccess, again: [408, 429], serverErrors: fourErrors, split: true });
const serverSdk = (name: string) => ({ 'user-agent': `${name}/1.0.0`, 'content-type': json });

export const sdkRows: SdkRow[] = [
  {
    row: 1,
    sdk: 'js web',
    path: '/e/',
    headers: { 'user-agent': 'Mozilla/5.0', 'content-type': 'text/plain', origin: 'https://app.example' },
    encode: gzip,
    react: ({ status }) => (status === 200 ? 'ok' : status >= 400 && status < 500 ? 'dropped' : 'retried'),
  },
  {
    row: 2,
    sdk: 'node v0',
    path: '/batch/',
    headers: { ...serverSdk('posthog-node'), 'content-encoding': 'gzip' },
    encode: gzip,
    react: asNode,
  },
  {
    row: 3,
    sdk: 'RN, lite (core)',
    path: '/batch/',
    headers: { ...serverSdk('posthog-react-native'), 'content-encoding': 'gzip' },
    encode: gzip,
    react: asNode,
  },
  {
    row: 4,
    sdk: 'python 7',
    path: '/batch/',
    headers: serverSdk('posthog-python'),
    encode: plain,
    react: reactions({ ok: is200, again: [201, 204, 408, 429] }),
  },
  {
    row: 5,
    sdk: 'go',
    path: '/batch/?compression=gzip',
    headers: { ...serverSdk('posthog-go'), 'content-encoding': 'gzip' },
    encode: gzip,
    react: reactions({ ok: isSuccess, again: [408, 429] }),
  },
  {
    row: 6,
    sdk: 'ruby',
    path: '/batch/',
    headers: { ...serverSdk('posthog-ruby'), 'content-encoding': 'gzip' },
    encode: gzip,
    react: reactions({ ok: (response) => is200(response) && isObject(response.json), again: [200, 204, 408, 429] }),
  },
  {
    row: 7,
    sdk: 'php',
    path: '/batch/',
    headers: serverSdk('posthog-php'),
    encode: plain,
    react: reactions({ ok: is200, again: [408, 429] }),
  },
  {
    row: 8,
    sdk: 'rust',
    path: '/batch/',
    headers: serverSdk('posthog-rs'),
    encode: plain,
    react: (response) =>
      response.status === 429 && response.retryAfter === null
        ? 'dropped'
        : reactions({ ok: isSuccess, again: [408, 429], serverErrors: fourErrors })(response),
  },
  {
    row: 9,
    sdk: 'elixir',
    path: '/batch',
    headers: { ...serverSdk('posthog-elixir'), 'content-encoding': 'gzip' },
    encode: gzip,
    react: reactions({ ok: isSuccess, again: [408, 429], serverErrors: fourErrors }),
  },
  {
    row: 10,
    sdk: '.NET',
    path: '/batch',
    headers: { ...serverSdk('posthog-dotnet'), 'content-encoding': 'gzip' },
    encode: gzip,
    // If the body is not an object, this SDK throws an error while parsing it and loses the events.
    react: reactions({ ok: (response) => isSuccess(response) && isObject(response.json), again: [408, 429] }),
  },
  {
    row: 11,
    sdk: 'ios',
    path: '/batch',
    headers: { ...serverSdk('posthog-ios'), 'content-encoding': 'gzip' },
    encode: gzip,
    react: asMobile,
  },
  {
    row: 12,
    sdk: 'android, JVM server',
    path: '/batch',
    headers: { ...serverSdk('posthog-android'), 'content-encoding': 'gzip' },
    encode: gzip,
    react: asMobile,
  },
  {
    row: 13,
    sdk: 'legacy java',
    path: '/batch',
    headers: { 'user-agent': 'okhttp/4.9.3', 'content-type': json },
    encode: plain,
    react: reactions({ ok: isSuccess, again: [] }),
  },
];
