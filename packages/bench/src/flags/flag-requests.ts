// Builds the flag requests of the benchmark.

import { seededRandom } from '@millrace/testing/seeded-random';
import { formatHttpRequest } from '../workload/gateway-workloads.ts';

export interface Client {
  distinctId: string;
  properties: Record<string, string>;
}

const plans = ['free', 'pro', 'enterprise'];
const countries = ['DE', 'FR', 'US', 'GB', 'IE', 'JP', 'BR', 'IN'];

/**
 * Creates clients, which are the same in every run. All property values are strings, so that both evaluators can use
 * the same request.
 */
export function createClients(count: number): Client[] {
  const random = seededRandom(15);
  const below = (limit: number) => Math.floor(random() * limit);
  const oneOf = (values: readonly string[]) => values[below(values.length)] ?? '';
  return Array.from({ length: count }, (_, index) => ({
    distinctId: `client-${index}`,
    properties: {
      plan: oneOf(plans),
      country: oneOf(countries),
      age: String(18 + below(60)),
      email: `client-${index}@${oneOf(['example.com', 'example.org'])}`,
      app_version: `${1 + below(3)}.${below(4)}.${below(10)}`,
      signed_up_at: `20${23 + below(4)}-0${1 + below(9)}-1${below(10)}T08:00:00Z`,
    },
  }));
}

/** Returns a `/flags` request with all properties that conditions use, so that the gateway need not read the person. */
export function buildFlagRequestWithProperties(projectApiKey: string, { distinctId, properties }: Client): string {
  const body = { api_key: projectApiKey, distinct_id: distinctId, person_properties: properties, groups: {} };
  return formatHttpRequest('POST /flags/?v=2', {}, body);
}

/** Returns a `/flags` request with only the distinct ID, so that the gateway reads the person. */
export function buildFlagRequestById(projectApiKey: string, { distinctId }: Client): string {
  return formatHttpRequest('POST /flags/?v=2', {}, { api_key: projectApiKey, distinct_id: distinctId, groups: {} });
}

/** Returns a request for flag definitions. `etag` is the ETag of the client's cached definitions. */
export function buildDefinitionRequest(
  keys: { projectApiKey: string; secretKey: string },
  etag: string | null,
): string {
  const headers = { Authorization: `Bearer ${keys.secretKey}`, 'Accept-Encoding': 'gzip' };
  const all = etag === null ? headers : { ...headers, 'If-None-Match': etag };
  return formatHttpRequest(`GET /flags/definitions?token=${keys.projectApiKey}&send_cohorts`, all);
}
