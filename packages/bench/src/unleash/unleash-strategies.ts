import type { MixedFlag } from '../flags/mixed-flags.ts';

/** The same flag in the words of Unleash: a strategy for each condition, any of which is enough. */
export function strategiesOf({ key, conditions, variants }: MixedFlag): object[] {
  const share = Math.floor(1000 / variants.length);
  return conditions.map(({ filters, rolloutPercentage }) => ({
    name: 'flexibleRollout',
    parameters: { rollout: String(rolloutPercentage), stickiness: 'userId', groupId: key },
    constraints: filters.map(({ constraint }) => constraint),
    variants: variants.map((name) => ({ name, weight: share, weightType: 'variable', stickiness: 'userId' })),
  }));
}
