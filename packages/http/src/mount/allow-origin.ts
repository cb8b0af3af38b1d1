import type { IncomingMessage, ServerResponse } from 'node:http';

/** Allows pages from the listed origins to read the response (CORS), and responds to their preflight requests. */
export function allowOrigin(request: IncomingMessage, response: ServerResponse, origins: readonly string[]): void {
  response.setHeader('Vary', 'Origin');
  const { origin } = request.headers;
  if (origin === undefined || !origins.includes(origin)) return;
  response.setHeader('Access-Control-Allow-Origin', origin);
  if (request.method !== 'OPTIONS') return;
  response.setHeader('Access-Control-Allow-Methods', 'GET');
  response.setHeader('Access-Control-Allow-Headers', 'Authorization');
  response.setHeader('Access-Control-Max-Age', '600');
}
