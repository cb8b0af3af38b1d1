/** The query parameters that have a meaning (docs/wire-rules.md#query-parameters); everything else is ignored. */
export interface CaptureQuery {
  data: string | null;
  compression: string | null;
  /** When the client sent the request, Unix milliseconds as text. */
  sentAt: string | null;
  isBeacon: boolean;
  apiKey: string | null;
}

const emptyQuery: CaptureQuery = Object.freeze({
  data: null,
  compression: null,
  sentAt: null,
  isBeacon: false,
  apiKey: null,
});

/** @param query the text after `?`; empty when there is none. */
export function parseCaptureQuery(query: string): CaptureQuery {
  if (query === '') return emptyQuery;
  const values = new URLSearchParams(query);
  return {
    data: values.get('data') || null,
    compression: values.get('compression'),
    sentAt: values.get('_') ?? values.get('sent_at'),
    isBeacon: values.get('beacon') === '1',
    apiKey: values.get('api_key') ?? values.get('token'),
  };
}
