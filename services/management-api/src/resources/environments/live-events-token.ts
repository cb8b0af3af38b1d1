import { createHmac } from 'node:crypto';

const lifetimeSeconds = 7 * 24 * 3600;

/**
 * A JSON Web Token (HS256) that lets its holder read an environment's live events for seven days
 * (docs/api-rules.md#environments).
 */
export function liveEventsToken(
  { environmentId, apiToken }: { environmentId: number; apiToken: string },
  { secret, now }: { secret: string; now: Date },
): string {
  const claims = {
    team_id: environmentId,
    api_token: apiToken,
    exp: Math.floor(now.getTime() / 1000) + lifetimeSeconds,
    aud: 'posthog:livestream',
  };
  const content = `${encode({ typ: 'JWT', alg: 'HS256' })}.${encode(claims)}`;
  return `${content}.${createHmac('sha256', secret).update(content).digest('base64url')}`;
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
