import { seededRandom } from '@millrace/testing/seeded-random';

/** Somebody who asks for flags. */
export interface Asker {
  distinctId: string;
  /** All that the conditions look at. */
  properties: Record<string, string> & { signed_up_at: string };
}

const plans = ['free', 'pro', 'enterprise'];
const countries = ['DE', 'FR', 'US', 'GB', 'IE', 'JP', 'BR', 'IN'];

/** So many of them, the same in every run. Texts only: the same request then suits everybody who evaluates. */
export function askers(count: number): Asker[] {
  const random = seededRandom(15);
  const below = (limit: number) => Math.floor(random() * limit);
  const oneOf = (values: readonly string[]) => values[below(values.length)] ?? '';
  return Array.from({ length: count }, (_, index) => ({
    distinctId: `asker-${index}`,
    properties: {
      plan: oneOf(plans),
      country: oneOf(countries),
      age: String(18 + below(60)),
      email: `asker-${index}@${oneOf(['example.com', 'example.org'])}`,
      app_version: `${1 + below(3)}.${below(4)}.${below(10)}`,
      signed_up_at: `20${23 + below(4)}-0${1 + below(9)}-1${below(10)}T08:00:00Z`,
    },
  }));
}
