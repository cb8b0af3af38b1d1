import { randomUUID } from 'node:crypto';
import { isObject } from '@millrace/contracts';
import { AppError } from '@millrace/errors';
import { jsonExcess } from '@millrace/http';
import type { Request, Response, Router } from 'express';
import { readBody } from '../bytes/read-body.ts';
import { parseCaptureQuery } from '../head/capture-query.ts';
import { parseJson } from '../json/parse-json.ts';
import type { AnswerDependencies } from './answer-dependencies.ts';
import { settingsOrNull } from './config-route.ts';
import { noFlags } from './flag-answer.ts';
import { onlyMethods } from './only-methods-route.ts';
import { clientConfig } from './remote-config.ts';
import { requireKnownToken } from './require-known-token.ts';

/** A question is small, whoever asks: it is parsed whole, beside the events of everybody else. */
const maxQuestionBytes = 1024 * 1024;

/** Feature flags, of which there are none (docs/wire-rules.md#config-and-flags). */
export function flagRoutes(router: Router, given: AnswerDependencies): void {
  const { maxBodyBytes, maxDecompressedBytes } = given.limits;
  const limits = {
    ...given.limits,
    maxBodyBytes: Math.min(maxBodyBytes, maxQuestionBytes),
    maxDecompressedBytes: Math.min(maxDecompressedBytes, maxQuestionBytes),
  };
  const deps = { ...given, limits };
  for (const path of ['flags', 'decide'] as const) {
    const answer = async (request: Request, response: Response) => {
      const query = new URL(request.url, 'http://host').searchParams;
      const { key, distinctId } = await readQuestion(request, query, deps);
      const token = await requireKnownToken(key, deps.projectKeys);
      if (distinctId === undefined || distinctId === null || distinctId === '') throw missingDistinctId();
      const flags = noFlags(path, query.get('v'), randomUUID());
      if (path === 'flags' && query.get('config') !== 'true') return void response.json(flags);
      const settings = await settingsOrNull(token, deps.settings);
      response.json({ ...flags, ...clientConfig(settings), hasFeatureFlags: false });
    };
    router
      .route(`/${path}`)
      .get(async (request, response) => {
        // Not to be cached: it is about one person.
        response.set('cache-control', 'no-store');
        await answer(request, response);
      })
      .post(answer)
      .all(onlyMethods('GET', 'HEAD', 'POST', 'OPTIONS'));
  }
}

async function readQuestion(
  request: Request,
  search: URLSearchParams,
  { limits, budget }: AnswerDependencies,
): Promise<{ key: unknown; distinctId: unknown }> {
  const lease = budget.lease();
  try {
    const query = parseCaptureQuery(search.toString());
    const isPlainGet = request.method !== 'POST' && query.data === null;
    if (isPlainGet) return { key: query.apiKey, distinctId: search.get('distinct_id') };
    const body = await readBody(request, query, { limits, lease, onReceived: () => {} });
    const excess = jsonExcess(body.json);
    if (excess !== null) {
      throw new AppError('invalid', `The body has ${excess}.`, { code: 'invalid_payload' });
    }
    const question = parseJson(body.json.toString('utf8'));
    if (!isObject(question)) {
      throw new AppError('invalid', 'The body must be a JSON object.', { code: 'invalid_payload' });
    }
    const { token, api_key, $token, distinct_id, $distinct_id } = question;
    return {
      key: token ?? api_key ?? $token ?? body.apiKey ?? query.apiKey,
      distinctId: distinct_id ?? $distinct_id,
    };
  } finally {
    lease.releaseAll();
  }
}

function missingDistinctId(): AppError {
  return new AppError('invalid', 'The field `distinct_id` is required.', {
    code: 'missing_distinct_id',
    attr: 'distinct_id',
  });
}
