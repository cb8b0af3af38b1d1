// Declares the routes of live events (docs/api/live-events.md). Routes under a project require a key or session. Routes
// at the root require a token.

import type { Sql } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { environmentBasePaths } from '../../access/addressed-project.ts';
import type { Caller } from '../../access/caller.ts';
import { defineRoute, defineRoutes } from '../../access/define-route.ts';
import { checkStreamAccess, findTokenAccess, requireStreamAccess, type StreamAccess } from './access.ts';
import { streamQuery } from './filters.ts';
import type { Live } from './live.ts';

interface LiveRoutesDeps {
  sql: Sql;
  live: Live;
  tokenSecrets: () => readonly string[];
  /** Origins whose pages can read live events with a token. Defaults to none. */
  liveOrigins?: readonly string[] | undefined;
}

const tags: [string] = ['live events'];
const messages = {
  mediaType: 'text/event-stream',
  example: [
    'event: hello',
    'data: {"stored":true,"dropped":true,"why":null,"lag_seconds":0.2}',
    '',
    'data: {"uuid":"0193f0c5-7a4e-7000-8000-00000000beef","timestamp":"2026-11-20T08:15:00.250Z","distinct_id":"ada",' +
      '"person_id":"0193f0c5-7a4e-5000-8000-00000000beef","event":"checkout","properties":{},"outcome":"stored",' +
      '"captured_at":"2026-11-20T08:15:00.300Z","stored_at":"2026-11-20T08:15:00.700Z"}',
    '',
    ': lag 0.2s',
    '',
    '',
  ].join('\n'),
};
const streamed = {
  200: { description: 'Live events, sent as they are stored, each as one line of JSON.', stream: messages },
};
const counted = { 200: { description: 'The number of active users.', schema: liveStats() } };
const byTokenOnly = { 401: { description: 'The token is missing, invalid or expired, or its owner has lost access.' } };
const statsExample = { users_on_product: 12, active_recordings: 0, window_seconds: 60, lag_seconds: 0.2 };

export function liveRoutes({ sql, live, tokenSecrets, liveOrigins = [] }: LiveRoutesDeps) {
  const rightOf = async ({ request }: { request: { header(name: string): string | undefined } }) => {
    const access = findTokenAccess(request.header('authorization'), tokenSecrets());
    return { access, granted: await requireStreamAccess(sql, access) };
  };
  const query = Type.Object({
    ...streamQuery.properties,
    teamId: Type.Optional(
      Type.String({
        description: 'Ignored, because the token determines the environment. Older clients send this parameter.',
      }),
    ),
  });
  return [
    ...defineRoutes({
      method: 'GET',
      isUnsafe: true,
      below: environmentBasePaths(sql),
      path: '/live/events',
      operationId: 'live_events_stream',
      summary: 'Stream live events',
      description:
        'Streams events as they are stored, starting now. Events that were dropped or changed are included, with the ' +
        'reason. The stream ends after 30 minutes, or when you lose access.',
      tags,
      scope: 'event:read',
      query: streamQuery,
      responses: streamed,
      handler: async ({ caller, target, query }) => {
        const access = accessOfCaller(caller, target.environmentId);
        const granted = await checkStreamAccess(sql, access);
        if (typeof granted === 'string') throw new AppError('forbidden', granted);
        return live.openStream({ access, granted, query, isPlain: false });
      },
    }),
    ...defineRoutes({
      method: 'GET',
      below: environmentBasePaths(sql),
      path: '/live/stats',
      operationId: 'live_stats_retrieve',
      summary: 'Count active users',
      description: 'Returns the number of distinct IDs with events received in the last `window_seconds` seconds.',
      tags,
      scope: 'event:read',
      responses: counted,
      examples: { response: statsExample },
      handler: ({ target }) => live.stats(target.environmentId),
    }),
    defineRoute({
      method: 'GET',
      isUnsafe: true,
      path: '/events',
      origins: liveOrigins,
      operationId: 'live_events_by_token',
      summary: 'Stream live events with a token',
      description:
        'Streams events as they are stored. Send `live_events_token` as a Bearer token. Messages about the stream itself ' +
        'are sent as comments.',
      tags,
      scope: 'public',
      query,
      responses: { ...streamed, ...byTokenOnly },
      target: rightOf,
      handler: ({ target, query: { teamId: _ignored, ...query } }) =>
        live.openStream({ ...target, query, isPlain: true }),
    }),
    defineRoute({
      method: 'GET',
      path: '/stats',
      origins: liveOrigins,
      operationId: 'live_stats_by_token',
      summary: 'Count active users with a token',
      description:
        'Returns the same counts as `/live/stats` for a project. Send `live_events_token` as a Bearer token.',
      tags,
      scope: 'public',
      query: Type.Object({ teamId: query.properties.teamId }),
      responses: { ...counted, ...byTokenOnly },
      examples: { response: statsExample },
      target: rightOf,
      handler: ({ target }) => live.stats(target.access.environmentId),
    }),
  ];
}

function accessOfCaller({ userId, credential }: Caller, environmentId: number): StreamAccess {
  return { environmentId, userId, credential, since: new Date() };
}

function liveStats() {
  return Type.Object(
    {
      users_on_product: Type.Integer({
        description: 'Number of distinct IDs with events received within the time window.',
      }),
      active_recordings: Type.Integer({ description: 'Always 0: Millrace does not include session recordings.' }),
      window_seconds: Type.Integer({ description: 'Length of the time window in seconds.' }),
      lag_seconds: Type.Number({
        description: 'Ingestion lag in seconds: the delay between accepting an event and storing it.',
      }),
    },
    { title: 'LiveStats' },
  );
}
